// SPDX-License-Identifier: GPL-2.0
/*
 * Runs and waits: how long the active flow keeps the device.
 *
 * The paper trades latency for throughput by one number, B_max. With
 * policy=slack (slack.c) a run or a wait also ends when another flow's deadline
 * needs the device, or the run has lasted HTBS_RUN_MAX, so B_max may be large.
 * A wait is as long as the think time of the flow makes sense of, at most
 * T_wait.
 *
 * If more requests conform than can be in time at worst there is no slack. A
 * turn then lasts as long as has proved not to make requests late (slack.c),
 * counted from the completion of its first request, as it is not known before
 * how long that takes.
 *
 * In an overload, where turns begin late anyway, that rule would end every run
 * at once and thrash. Then a run lasts for some seeks, whatever the deadlines,
 * and ends earlier if its flow is some way ahead of the next flow. Otherwise a
 * flow with a small part of the device would have its turns seldom, each for
 * more than it can use, and its requests would wait in between.
 */
#include <htbs/core/cap.h>
#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/eligible.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/share.h>
#include <htbs/core/slack.h>
#include <htbs/core/sweep.h>
#include <htbs/core/tree.h>
#include <htbs/core/window.h>

/* In an overload, or with weights, a run lasts for this many seeks. */
#define HTBS_SHORT_RUN		8

/* In an overload a flow may be ahead of the next by this much, virtual ns. */
#define HTBS_LEAD		500000000ULL

/*
 * The longest think time to wait for: this part of the longest seek, or this
 * part of T_wait if that is longer.
 */
#define HTBS_THINK_PART		8
#define HTBS_THINK_LEAST	16

/**
 * htbs_policy_update_crowded() - a turn begins: tell whether there is a crowd
 * @policy: the policy
 * @now: real time, ns
 */
void htbs_policy_update_crowded(struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->active;
	struct htbs_service *service = &policy->service;
	u64 left = 0;

	policy->crowded = policy->rule == HTBS_RULE_SLACK &&
			  policy->rotational && flow && flow->node.conforms &&
			  htbs_slack_crowded(service, &policy->tree,
					     policy->inflight_deadlines.count);
	if (!policy->crowded)
		return;
	if (htbs_before(now, flow->node.due))
		left = flow->node.due - now;
	htbs_service_begin_turn(service, left);
	policy->turn_until = now + service->seek + service->turn;
}

/**
 * htbs_policy_account_lateness() - the first request of a turn is dispatched
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 *
 * On a device that seeks the request is late if less than half of the longest
 * seek is left. A flow with a latency below a seek never leaves as much, and is
 * late only after its deadline.
 *
 * Return: true if an overload began.
 */
bool htbs_policy_account_lateness(struct htbs_policy *policy,
				  const struct htbs_flow *flow,
				  const struct htbs_sent *sent)
{
	u64 seek = policy->service.seek, by = sent->at;

	if (policy->rotational && flow->curve.params.latency > seek)
		by += seek / 2;
	return htbs_overload_account(&policy->overload,
				     htbs_before(sent->due, by));
}

/**
 * htbs_policy_extend_turn() - a request completed: its turn in a crowd goes on
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 */
void htbs_policy_extend_turn(struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 now)
{
	u64 until = now + policy->service.turn;

	if (flow == policy->active && htbs_before(until, policy->turn_until))
		policy->turn_until = until;
}

/* The time before which the active flow's next request has to be dispatched. */
static u64 htbs_policy_slack(const struct htbs_policy *policy, u64 end)
{
	const struct htbs_node *active = NULL;

	if (policy->active)
		active = &policy->active->node;
	return htbs_slack_end(&policy->service, &policy->tree, active,
			      policy->in_flight, end);
}

/**
 * htbs_policy_in_time() - whether all requests can complete in time
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if all that are pending and in flight can.
 */
bool htbs_policy_in_time(const struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->active;

	if (flow && flow->pending && htbs_before(flow->node.due, now))
		return false;
	if (htbs_deadlines_before(&policy->inflight_deadlines, now))
		return false;
	return htbs_before(now, htbs_policy_slack(policy, now + HTBS_RUN_MAX));
}

/*
 * The longest run. In an overload it lasts for some seeks; with weights, too,
 * as a flow with a small share would make up for a long run for minutes.
 */
static u64 htbs_policy_max_run(const struct htbs_policy *policy)
{
	if (htbs_policy_overloaded(policy) || htbs_policy_weighted(policy))
		return HTBS_SHORT_RUN * policy->service.seek;
	return HTBS_RUN_MAX;
}

/*
 * When a run ends: the active flow's next request has to be dispatched before.
 */
static u64 htbs_policy_run_deadline(const struct htbs_policy *policy)
{
	const struct htbs_flow *flow = policy->active;
	u64 end = policy->run_since + htbs_policy_max_run(policy);

	if (htbs_policy_overloaded(policy))
		return end;
	if (policy->crowded && (!flow->pending || flow->node.conforms))
		return policy->turn_until;
	return htbs_policy_slack(policy, end);
}

static u64 htbs_policy_max_wait(const struct htbs_policy *policy,
				const struct htbs_flow *flow)
{
	if (policy->rule == HTBS_RULE_PAPER)
		return policy->t_wait;
	return htbs_flow_max_wait(flow, policy->t_wait);
}

/**
 * htbs_policy_limit_wait() - end a wait before it makes other flows late
 * @policy: the policy
 *
 * Return: true if the wait ends earlier now.
 */
bool htbs_policy_limit_wait(struct htbs_policy *policy)
{
	u64 leave;

	if (policy->rule == HTBS_RULE_PAPER || policy->wait == HTBS_WAIT_NONE)
		return false;
	/* In a crowd a turn counts from the completion of its first request. */
	if (policy->wait == HTBS_WAIT_SERVICE && policy->crowded)
		return false;
	leave = htbs_policy_run_deadline(policy);
	/* The requests in flight complete while the device waits for them. */
	if (policy->wait == HTBS_WAIT_SERVICE)
		leave += (policy->in_flight + 1) * policy->service.seek;
	if (!htbs_before(leave, policy->wait_until))
		return false;
	policy->wait_until = leave;
	return true;
}

/**
 * htbs_policy_begin_wait() - idle the device for the active flow
 * @policy: the policy
 * @flow: the active flow
 */
void htbs_policy_begin_wait(struct htbs_policy *policy, struct htbs_flow *flow)
{
	policy->wait = HTBS_WAIT_ARRIVAL;
	policy->wait_until = flow->idle_since +
			     htbs_policy_max_wait(policy, flow);
	htbs_policy_limit_wait(policy);
}

/* Whether the device seeks, with the rule of slack. */
static bool htbs_policy_slack_seeks(const struct htbs_policy *policy)
{
	return policy->rule == HTBS_RULE_SLACK && policy->rotational;
}

/*
 * The mean think time from which on a flow is not waited for. By the paper that
 * is T_wait. On a device that seeks four think times, the longest wait, are to
 * be no more than a mean seek, half of the longest: otherwise seeking away and
 * back is cheaper.
 */
static u64 htbs_policy_max_think(const struct htbs_policy *policy)
{
	u64 least = policy->t_wait / HTBS_THINK_LEAST;
	u64 most = policy->service.seek / HTBS_THINK_PART;

	if (!htbs_policy_slack_seeks(policy) || most > policy->t_wait)
		return policy->t_wait;
	return most > least ? most : least;
}

/* The active flow has nothing pending: whether to idle the device for it. */
static bool htbs_policy_should_wait(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = policy->active;
	u64 most;

	/*
	 * The paper's disk had one request at a time. A disk that takes many
	 * seeks away if it is given another flow's request, however many it has
	 * of this run.
	 */
	if (!htbs_flow_anticipates(flow, htbs_policy_max_think(policy),
				   htbs_policy_slack_seeks(policy)))
		return false;

	if (flow->in_flight) {
		/* A lost request must not idle the device for ever. */
		most = flow->curve.params.latency;
		if (most > HTBS_RUN_MAX)
			most = HTBS_RUN_MAX;
		policy->wait = HTBS_WAIT_SERVICE;
		policy->wait_until = now + most + policy->t_wait;
		htbs_policy_limit_wait(policy);
		return true;
	}

	if (!htbs_before(now, flow->idle_since +
			      htbs_policy_max_wait(policy, flow)))
		return false;
	htbs_policy_begin_wait(policy, flow);
	return true;
}

/* Whether the run of the active flow is as long as it may be in any case. */
static bool htbs_policy_run_over(const struct htbs_policy *policy, u64 now)
{
	return policy->run >= policy->b_max ||
	       (policy->rule == HTBS_RULE_SLACK &&
		!htbs_before(now,
			     policy->run_since + htbs_policy_max_run(policy)));
}

/*
 * Whether the active flow is too far ahead of the next. It is judged by finish
 * tags, as the next turn would be the active flow's again otherwise.
 */
static bool htbs_policy_is_ahead(const struct htbs_policy *policy,
				 const struct htbs_flow *flow)
{
	const struct htbs_node *next = htbs_tree_first(&policy->tree);
	u64 most;

	if (!next || !htbs_policy_overloaded(policy))
		return false;
	most = next->finish + HTBS_LEAD;
	if (flow->pending)
		return htbs_before(most, flow->node.finish);
	most -= flow->curve.params.latency;
	return !htbs_flow_would_conform(policy, flow, most, flow->cost);
}

/**
 * htbs_policy_keep_active() - whether the active flow keeps the device
 * @policy: the policy; its time is up to date
 * @now: real time, ns
 *
 * If it does and has nothing pending, the device is idled as policy->wait says.
 *
 * Return: true if a flow is active, and keeps the device.
 */
bool htbs_policy_keep_active(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = policy->active;

	if (!flow || htbs_cap_throttles(policy, flow, now))
		return false;
	if (policy->background->pending &&
	    htbs_policy_eligible(policy, policy->background, now))
		return false;
	if (htbs_policy_run_over(policy, now)) {
		if (!htbs_policy_renews_run(policy, flow))
			return false;
		policy->run = 0;
		policy->run_since = now;
	}
	if (policy->rule == HTBS_RULE_SLACK &&
	    !htbs_before(now, htbs_policy_run_deadline(policy)))
		return false;
	if (htbs_policy_is_ahead(policy, flow))
		return false;
	if (!htbs_flow_sequential(flow) && !htbs_policy_sweeps(policy, now))
		return false;
	if (!htbs_policy_run_in_share(policy, flow))
		return false;
	return flow->pending || htbs_policy_should_wait(policy, now);
}

/**
 * htbs_policy_cancel_wait() - end a wait
 * @policy: the policy
 *
 * Return: true if the device was idled; no flow is active then.
 */
bool htbs_policy_cancel_wait(struct htbs_policy *policy)
{
	policy->held = false;
	if (policy->wait == HTBS_WAIT_NONE)
		return false;

	policy->wait = HTBS_WAIT_NONE;
	policy->active = NULL;
	return true;
}

/**
 * htbs_policy_timeout() - end a wait when its time is over
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if a wait ended; no flow is active then.
 */
bool htbs_policy_timeout(struct htbs_policy *policy, u64 now)
{
	if (policy->wait == HTBS_WAIT_NONE ||
	    htbs_before(now, policy->wait_until))
		return false;
	return htbs_policy_cancel_wait(policy);
}
