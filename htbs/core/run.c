// SPDX-License-Identifier: GPL-2.0
/*
 * Runs and waits: how long the active flow keeps the device.
 *
 * The paper trades latency for throughput by one number, B_max.  With policy=slack
 * (slack.c) the active flow also gives way, or is waited for no longer, when another
 * flow's deadline calls for it or its run has lasted HTBS_RUN_MAX, so that B_max may
 * be large.  It is waited for as long as its think time makes sense of, at most
 * T_wait.
 *
 * Where more conform than can be in time at worst there is no slack: a turn then
 * lasts as long as has proved bearable (slack.c), counted from the completion of its
 * first request, as it is not known before how long that takes.
 *
 * In an overload, where turns come late anyway, that rule would end every run at
 * once and thrash.  Then a run lasts as long as some seeks, whatever the deadlines;
 * less if its flow is some way ahead of the next one.  A flow with a small part of
 * the device would else have its turn seldom, for more than it can use, and its
 * requests would wait for the time between.
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

/* In an overload, or by weights, a run lasts as long as so many seeks. */
#define HTBS_SHORT_RUN		8

/* In an overload one may be ahead of the next by so much, virtual ns. */
#define HTBS_LEAD		500000000ULL

/*
 * A flow that is waited for thinks no longer than this part of the longest seek, or
 * this part of T_wait if that is longer.
 */
#define HTBS_THINK_PART		8
#define HTBS_THINK_LEAST	16

/**
 * htbs_policy_update_crowded() - a turn begins: do more conform than can be in time
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
 * @flow: its reservation
 * @sent: the request
 *
 * On a device that seeks it comes too late if there isn't even half of the longest
 * seek left.  A reservation that never leaves as much hurts itself only.
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
 * htbs_policy_extend_turn() - a request of a reservation is done
 * @policy: the policy
 * @flow: the reservation
 * @now: real time, ns
 */
void htbs_policy_extend_turn(struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 now)
{
	u64 until = now + policy->service.turn;

	if (flow == policy->active && htbs_before(until, policy->turn_until))
		policy->turn_until = until;
}

/* Until when can the others wait? */
static u64 htbs_policy_slack(const struct htbs_policy *policy, u64 end)
{
	const struct htbs_node *active = NULL;

	if (policy->active)
		active = &policy->active->node;
	return htbs_slack_end(&policy->service, &policy->tree, active,
			      policy->in_flight, end);
}

/**
 * htbs_policy_in_time() - can all that is pending, and all the device has, be in time
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if it can.
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
 * How long a run is at most.  In an overload as long as some seeks; by weights,
 * too, as a flow with a small share would make up for a long one for minutes.
 */
static u64 htbs_policy_max_run(const struct htbs_policy *policy)
{
	if (htbs_policy_overloaded(policy) || htbs_policy_weighted(policy))
		return HTBS_SHORT_RUN * policy->service.seek;
	return HTBS_RUN_MAX;
}

/* Before when the active reservation's next request has to be dispatched. */
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
 * htbs_policy_limit_wait() - a wait is no longer than the others can bear
 * @policy: the policy
 *
 * Return: true if it ends earlier than was thought.
 */
bool htbs_policy_limit_wait(struct htbs_policy *policy)
{
	u64 leave;

	if (policy->rule == HTBS_RULE_PAPER || policy->wait == HTBS_WAIT_NONE)
		return false;
	/* In a crowd the turn begins when its first request is done. */
	if (policy->wait == HTBS_WAIT_SERVICE && policy->crowded)
		return false;
	leave = htbs_policy_run_deadline(policy);
	/* What the device has is under way: no time has to be left for it, too. */
	if (policy->wait == HTBS_WAIT_SERVICE)
		leave += (policy->in_flight + 1) * policy->service.seek;
	if (!htbs_before(leave, policy->wait_until))
		return false;
	policy->wait_until = leave;
	return true;
}

/**
 * htbs_policy_begin_wait() - keep the idle device for the active reservation
 * @policy: the policy
 * @flow: that reservation
 */
void htbs_policy_begin_wait(struct htbs_policy *policy, struct htbs_flow *flow)
{
	policy->wait = HTBS_WAIT_ARRIVAL;
	policy->wait_until = flow->idle_since +
			     htbs_policy_max_wait(policy, flow);
	htbs_policy_limit_wait(policy);
}

/* Does the device seek, and slack bound what it does? */
static bool htbs_policy_slack_seeks(const struct htbs_policy *policy)
{
	return policy->rule == HTBS_RULE_SLACK && policy->rotational;
}

/*
 * A flow that thinks so long is not waited for.  By the paper that is T_wait.  On a device
 * that seeks, four think times, the longest wait, are to be no more than a seek takes
 * on the average, half of the longest: or it is cheaper to go and come back.
 */
static u64 htbs_policy_max_think(const struct htbs_policy *policy)
{
	u64 least = policy->t_wait / HTBS_THINK_LEAST;
	u64 most = policy->service.seek / HTBS_THINK_PART;

	if (!htbs_policy_slack_seeks(policy) || most > policy->t_wait)
		return policy->t_wait;
	return most > least ? most : least;
}

/* Nothing of the active reservation is pending: keep the device idle for it? */
static bool htbs_policy_should_wait(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = policy->active;
	u64 most;

	/*
	 * The paper's disk had one request at a time.  One that takes many goes
	 * elsewhere if it is given others', however many it has of this run.
	 */
	if (!htbs_flow_anticipates(flow, htbs_policy_max_think(policy),
				   htbs_policy_slack_seeks(policy)))
		return false;

	if (flow->in_flight) {
		/* A lost request must not take the device with it. */
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

/* Has the active reservation had as long a run as it may have, whatever others do? */
static bool htbs_policy_run_over(const struct htbs_policy *policy, u64 now)
{
	return policy->run >= policy->b_max ||
	       (policy->rule == HTBS_RULE_SLACK &&
		!htbs_before(now,
			     policy->run_since + htbs_policy_max_run(policy)));
}

/*
 * Is the active reservation too far ahead?  By finish tags, or the turn that another
 * doesn't get would be its own again.
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
 * htbs_policy_keep_active() - may the active reservation keep the device
 * @policy: the policy; its time is up to date
 * @now: real time, ns
 *
 * If it may and has nothing pending, policy->wait says what is waited for.
 *
 * Return: true if there is one, and it may.
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
 * htbs_policy_cancel_wait() - wait no longer
 * @policy: the policy
 *
 * Return: true if a wait ended.
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
 * htbs_policy_timeout() - has the wait lasted long enough
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
