// SPDX-License-Identifier: GPL-2.0
/*
 * The rule of the paper: earliest deadline first over arrival curves (pClock), in
 * runs and with anticipation (BFQ). A baseline, in place of htbs/core/choose.c and
 * run.c in an elevator that is the same otherwise.
 *
 * The active flow stays active until
 *
 *  - b_max requests of it were dispatched in a row,
 *  - T_wait has passed since its last request completed, without a new one, or
 *  - its pattern is not sequential,
 *
 * and then the flow with the smallest finish tag becomes active. With b_max 1 and
 * T_wait 0 this is pClock.
 *
 * Tags are by a virtual clock. When no head is entitled it jumps to the first start
 * tag, so surplus is not charged to the future. The tag of a flow that is idle is
 * raised to now: what the flow lost while it waited for the device is lost.
 *
 * How far the clock has jumped is kept in policy->background_due, and how much of
 * that a flow's tags have followed in flow->sweep: this rule has no use for either. The
 * tags of the pool are those of many flows; what they have followed is kept in the sweep
 * of the background.
 */
#ifdef __KERNEL__
#include <linux/module.h>
#endif
#include <linux/string.h>

#include <htbs/core/backlog.h>
#include <htbs/core/choose.h>
#include <htbs/core/expire.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/wait.h>

#ifdef __KERNEL__
static unsigned int b_max = 20;
module_param(b_max, uint, 0444);
MODULE_PARM_DESC(b_max, "longest run, requests");
#else
extern unsigned int b_max;
unsigned int b_max = 20;
#endif

static void paper_follow(struct htbs_pace_curve *curve, u64 jump, u64 least)
{
	curve->tag = htbs_later(curve->tag - jump, least);
}

/* The flow follows the virtual clock, and has no debt. */
static void paper_update_tags(struct htbs_policy *policy, struct htbs_flow *flow)
{
	struct htbs_flow *keeper = htbs_flow_pooled(flow) ? policy->background : flow;
	struct htbs_pace *pace = &flow->pool->pace;
	u64 jump = policy->background_due - keeper->sweep;

	if (htbs_pool_first(flow->pool) != flow)
		return;
	keeper->sweep = policy->background_due;
	paper_follow(&pace->bytes, jump, flow->head.arrived);
	paper_follow(&pace->ops, jump, flow->head.arrived);
	htbs_policy_update_head(policy, flow);
}

static u64 paper_first_start(const struct htbs_policy *policy, u64 now)
{
	u64 first = now + HTBS_LATENCY_MAX * HTBS_COST_MIN;
	const struct htbs_flow *flow;

	list_for_each_entry(flow, &policy->backlogged, backlogged)
		if (!flow->background && htbs_before(htbs_flow_start(flow), first))
			first = htbs_flow_start(flow);
	return first;
}

static bool paper_only_background(const struct htbs_policy *policy)
{
	return list_is_singular(&policy->backlogged) &&
	       policy->background->pending;
}

/* Bring all tags up to date, and let the clock jump if no head is entitled. */
static void paper_advance_clock(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow;
	u64 first;

	if (paper_only_background(policy))
		return;
	list_for_each_entry(flow, &policy->backlogged, backlogged)
		paper_update_tags(policy, flow);
	first = paper_first_start(policy, now);
	if (!htbs_before(now, first))
		return;
	policy->background_due += first - now;
	list_for_each_entry(flow, &policy->backlogged, backlogged)
		paper_update_tags(policy, flow);
}

static u64 paper_finish(const struct htbs_flow *flow)
{
	return htbs_flow_start(flow) + htbs_flow_latency(flow);
}

static struct htbs_flow *paper_first(struct htbs_policy *policy)
{
	struct htbs_flow *flow, *first = policy->background;

	list_for_each_entry(flow, &policy->backlogged, backlogged)
		if (!flow->background &&
		    (first->background ||
		     htbs_before(paper_finish(flow), paper_finish(first))))
			first = flow;
	return first;
}

static bool paper_wait(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	if (flow->think >= policy->t_wait || !flow->sync || flow->in_flight > 1)
		return false;
	if (flow->in_flight) {
		/* A lost request must not idle the device for ever. */
		policy->wait = HTBS_WAIT_SERVICE;
		policy->wait_until = now + HTBS_HORIZON;
		return true;
	}
	if (!htbs_before(now, flow->idle_since + policy->t_wait))
		return false;
	htbs_policy_wait_for_arrival(policy, flow->idle_since);
	return true;
}

static bool paper_stays(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = policy->active;

	if (!flow || policy->run >= b_max || !htbs_flow_sequential(flow) ||
	    htbs_policy_throttles(policy, flow, now))
		return false;
	return flow->pending || paper_wait(policy, flow, now);
}

/**
 * htbs_policy_choose_only() - what to dispatch, if one flow alone is backlogged
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: NULL: this rule has no shorter way.
 */
struct htbs_flow *htbs_policy_choose_only(struct htbs_policy *policy, u64 now)
{
	return NULL;
}

/**
 * htbs_policy_has_no_choice() - whether an arriving request is the only candidate
 * @policy: the policy
 * @flow: its flow
 *
 * Return: false: this rule has no shorter way.
 */
bool htbs_policy_has_no_choice(const struct htbs_policy *policy,
			       const struct htbs_flow *flow)
{
	return false;
}

/**
 * htbs_policy_choose_arriving() - choose an arriving request
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 *
 * Return: false.
 */
bool htbs_policy_choose_arriving(struct htbs_policy *policy, struct htbs_flow *flow,
				 u64 now)
{
	return false;
}

/**
 * htbs_policy_choose() - what to dispatch
 * @policy: the policy
 * @now: real time, ns
 * @choice: the decision
 */
void htbs_policy_choose(struct htbs_policy *policy, u64 now,
			struct htbs_choice *choice)
{
	struct htbs_flow *next;
	bool stays = false;

	memset(choice, 0, sizeof(*choice));
	choice->timed_out = htbs_policy_timeout(policy, now);
	if (!htbs_policy_has_work(policy))
		return;

	paper_advance_clock(policy, now);
	next = htbs_policy_expired(policy, now);
	if (!next) {
		stays = paper_stays(policy, now);
		choice->wait_began = policy->wait != HTBS_WAIT_NONE;
		if (choice->wait_began)
			return;
		next = stays ? policy->active : paper_first(policy);
	}
	choice->flow = next;
	choice->order = HTBS_ORDER_OLDEST;
	policy->order = choice->order;
	/* A dispatch charges what is entitled, and this rule all else as well. */
	if (!next->background && !htbs_flow_owed(next, now))
		htbs_pace_charge(&next->pool->pace, next->head.arrived,
				 next->head.cost);
	if (stays)
		return;
	choice->switched = policy->active != next;
	policy->active = next->background ? NULL : next;
	policy->run = 0;
	policy->run_since = now;
}

/**
 * htbs_policy_shorten_wait() - no deadline shortens a wait
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: false.
 */
bool htbs_policy_shorten_wait(struct htbs_policy *policy, u64 now)
{
	return false;
}

/**
 * htbs_policy_wait_for_arrival() - idle the device for the next request
 * @policy: the policy
 * @now: real time, ns
 */
void htbs_policy_wait_for_arrival(struct htbs_policy *policy, u64 now)
{
	policy->wait = HTBS_WAIT_ARRIVAL;
	policy->wait_until = now + policy->t_wait;
}
