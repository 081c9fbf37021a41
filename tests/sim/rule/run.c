// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of the active flow, and waits for its next request.
 */
#include "flow.h"
#include "run.h"

#define SEC		1000000000ULL
/* A run of surplus, and each run in an overload, lasts as long as 16 positionings. */
#define RUN		16
/* A flow is waited for if four think times, the longest wait, take one of them. */
#define THINKS		4
/* The oldest request goes first that often in a run by position. */
#define SWEEP		16

/**
 * rule_sweeps() - whether the active flow is served by position
 * @policy: the policy; a flow is active
 * @now: real time, ns
 *
 * Return: true if its next request by position goes before its oldest.
 */
bool rule_sweeps(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;

	return policy->rotational && !policy->in_flight && flow->pending > 1 &&
	       policy->run % SWEEP &&
	       (policy->overload.now || !rule_owed(flow, now) ||
		htbs_before(now, rule_latest(policy, NULL, rule_load_with(policy, flow, 2),
					     now, true)));
}

/* Until when the active flow may keep the device. */
static u64 run_end(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;
	u64 run = policy->run_since + RUN * policy->service.position, start;
	struct htbs_load load = rule_load_with(policy, flow, rule_sequential(flow) ? 1 : 2);

	if (policy->overload.now)
		return run;
	start = flow->head.start;
	if (!flow->pending)
		start = htbs_pace_start(&flow->pace, now, flow->cost);
	return rule_latest(policy, flow, load, now, htbs_before(now, start));
}

/* It had its share: surplus of another goes first. */
static bool share_over(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;
	struct htbs_fair_node *first = htbs_fair_first(&policy->shares);

	if (rule_behind(flow, now) && policy->rotational)
		return false;
	if (!policy->surplus && !rule_gives_up(policy, flow) &&
	    !htbs_before(now, flow->head.start))
		return false;
	return first && htbs_before(first->tag, flow->share.tag) &&
	       !htbs_before(now, policy->run_since + RUN * policy->service.position);
}

static u64 max_wait(const struct rule_policy *policy,
		    const struct rule_flow *flow)
{
	u64 wait = htbs_later(THINKS * flow->think, policy->t_wait / 16);

	return wait < policy->t_wait ? wait : policy->t_wait;
}

static bool worth_waiting(const struct rule_policy *policy,
			  const struct rule_flow *flow)
{
	return flow->sync && policy->rotational &&
	       THINKS * flow->think < htbs_later(policy->service.position,
						 policy->t_wait / 4);
}

static bool begin_wait(struct rule_policy *policy, struct rule_flow *flow,
		       u64 end, u64 now)
{
	u64 most = flow->pace.params.latency;

	if (most > SEC)
		most = SEC;
	if (!worth_waiting(policy, flow))
		return false;
	if (flow->in_flight) {
		policy->waits = RULE_WAIT_SERVICE;
		policy->wait_until = now + most + policy->t_wait;
		return true;
	}
	if (htbs_before(flow->idle_since + max_wait(policy, flow), end))
		end = flow->idle_since + max_wait(policy, flow);
	if (!htbs_before(now, end))
		return false;
	policy->waits = RULE_WAIT_ARRIVAL;
	policy->wait_until = end;
	return true;
}

/**
 * rule_background_due() - whether a request of the background goes first
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if it does.
 */
bool rule_background_due(const struct rule_policy *policy, u64 now)
{
	return policy->background && policy->background->pending &&
	       !htbs_before(now, policy->background_due);
}

/**
 * rule_keep_active() - whether the active flow keeps the device
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if it does; it may have to be waited for.
 */
bool rule_keep_active(struct rule_policy *policy, u64 now)
{
	struct rule_flow *flow = policy->active;
	u64 end;

	if (!flow || rule_background_due(policy, now))
		return false;
	if (!(policy->rotational && (rule_sequential(flow) ||
				     (!policy->overload.now &&
				      rule_behind(flow, now)))) &&
	    !rule_sweeps(policy, now))
		return false;
	end = run_end(policy, now);
	if (!htbs_before(now, end) ||
	    (!policy->overload.now && share_over(policy, now)))
		return false;
	return flow->pending || begin_wait(policy, flow, end, now);
}

/**
 * rule_shorten_wait() - what has arrived may be due before the wait would end
 * @policy: the policy
 * @now: real time, ns
 */
void rule_shorten_wait(struct rule_policy *policy, u64 now)
{
	u64 end;

	if (!policy->waits || policy->overload.now)
		return;
	end = rule_latest(policy, policy->active, policy->load, now, true);
	if (policy->waits == RULE_WAIT_SERVICE)
		end += policy->load.mean;
	if (htbs_before(end, policy->wait_until))
		policy->wait_until = end;
}

/**
 * rule_wait_for_arrival() - the last request of the flow that is waited for completed
 * @policy: the policy
 * @now: real time, ns
 */
void rule_wait_for_arrival(struct rule_policy *policy, u64 now)
{
	u64 end = run_end(policy, now);

	policy->waits = RULE_WAIT_ARRIVAL;
	policy->wait_until = now + max_wait(policy, policy->active);
	if (htbs_before(end, policy->wait_until))
		policy->wait_until = htbs_later(now, end);
}

/**
 * rule_timer() - when to choose again, if nothing happens before
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: real time, ns; 0: only after an event.
 */
u64 rule_timer(const struct rule_policy *policy, u64 now)
{
	u64 wait = SEC;
	u32 i;

	if (policy->waits)
		return policy->wait_until;
	if (!policy->held || policy->rotational)
		return 0;
	for (i = 0; i < 2; i++)
		if (policy->quota[i].full &&
		    htbs_quota_wait(&policy->quota[i]) < wait)
			wait = htbs_quota_wait(&policy->quota[i]);
	return now + wait;
}

/**
 * rule_timeout() - the timer expired
 * @policy: the policy
 * @now: real time, ns
 */
void rule_timeout(struct rule_policy *policy, u64 now)
{
	if (!policy->waits) {
		policy->held = false;
	} else if (!htbs_before(now, policy->wait_until)) {
		policy->waits = RULE_NO_WAIT;
		policy->active = NULL;
		policy->held = false;
	}
}
