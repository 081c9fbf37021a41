// SPDX-License-Identifier: GPL-2.0
/*
 * The backlogged flows, and what they are owed.
 *
 * A flow with requests pending is backlogged: in the tree of shares and, unless
 * it has given up its deadlines, with its head in the tree of what is owed; or
 * it is throttled, and in the tree of throttled flows. The background is
 * backlogged and in no tree.
 */
#include <linux/string.h>

#include <htbs/core/backlog.h>
#include <htbs/core/flow.h>
#include <htbs/core/owed.h>
#include <htbs/core/policy.h>

static bool htbs_cap_less(struct rb_node *a, const struct rb_node *b)
{
	return htbs_before(rb_entry(a, struct htbs_cap, rb)->tag,
			   rb_entry(b, struct htbs_cap, rb)->tag);
}

/**
 * htbs_policy_throttles() - whether a flow has to stay throttled
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it has.
 */
bool htbs_policy_throttles(const struct htbs_policy *policy,
			   const struct htbs_flow *flow, u64 now)
{
	return flow->cap.throttled && !policy->drains &&
	       htbs_before(now, htbs_cap_end(&flow->cap));
}

static u64 htbs_head_deadline(const struct htbs_flow *flow)
{
	/* A pace that cannot be kept would make all that others are owed late. */
	if (flow->impossible)
		return flow->start + flow->pace.params.latency;
	return htbs_pace_deadline(&flow->pace, flow->arrived, flow->cost);
}

/* On a device that seeks a sequential flow needs fewer positionings the later it is. */
static bool htbs_waits_for_deadline(const struct htbs_policy *policy,
				    const struct htbs_flow *flow)
{
	return policy->rotational && htbs_flow_sequential(flow);
}

/* What the device takes for the head, and for those that are due with it. */
static void htbs_set_head_load(const struct htbs_policy *policy,
			       struct htbs_flow *flow)
{
	struct htbs_owed_head *head = &flow->head;
	u32 together = htbs_pace_due_together(&flow->pace, head->deadline,
					      flow->cost, flow->pending);

	head->load = (struct htbs_load){ };
	htbs_load_add(&head->load, &flow->service,
		      htbs_waits_for_deadline(policy, flow) ? 2 : 2 * together,
		      (u64)together * flow->cost);
}

/**
 * htbs_policy_update_head() - the head, its pace, or what is pending has changed
 * @policy: the policy
 * @flow: the flow
 */
void htbs_policy_update_head(struct htbs_policy *policy, struct htbs_flow *flow)
{
	struct htbs_owed_head *head = &flow->head;

	if (htbs_owed_contains(head))
		htbs_owed_remove(&policy->owed, head);
	htbs_ready_remove(&policy->ready, &flow->ready);
	if (list_empty(&flow->backlogged))
		return;
	flow->start = htbs_pace_start(&flow->pace, flow->arrived, flow->cost);
	if (flow->background)
		return;
	head->deadline = htbs_head_deadline(flow);
	htbs_set_head_load(policy, flow);
	flow->surplus_only = flow->impossible && htbs_flow_greedy(flow);
	if (flow->surplus_only)
		return;
	htbs_owed_insert(&policy->owed, head);
	if (htbs_waits_for_deadline(policy, flow))
		return;
	flow->ready.key = policy->rotational ? flow->pos : head->deadline;
	flow->ready.start = flow->start;
	htbs_ready_insert(&policy->ready, &flow->ready);
}

/**
 * htbs_policy_link() - a flow becomes backlogged, or throttled
 * @policy: the policy
 * @flow: the flow, with its oldest request; neither backlogged nor throttled
 */
void htbs_policy_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (flow->cap.throttled) {
		rb_add_cached(&flow->cap.rb, &policy->throttled, htbs_cap_less);
		return;
	}
	list_add_tail(&flow->backlogged, &policy->backlogged);
	htbs_policy_update_head(policy, flow);
	if (flow->background)
		return;
	htbs_fair_insert(&policy->shares, &flow->share);
	if (policy->overload.now)
		htbs_fair_insert(&policy->proportions, &flow->proportion);
}

/**
 * htbs_policy_unlink() - a flow is neither backlogged nor throttled any more
 * @policy: the policy
 * @flow: the flow
 *
 * Return: true if it was.
 */
bool htbs_policy_unlink(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (!RB_EMPTY_NODE(&flow->cap.rb)) {
		rb_erase_cached(&flow->cap.rb, &policy->throttled);
		RB_CLEAR_NODE(&flow->cap.rb);
		return true;
	}
	if (list_empty(&flow->backlogged))
		return false;
	list_del_init(&flow->backlogged);
	htbs_policy_update_head(policy, flow);
	if (flow->background)
		return true;
	htbs_fair_remove(&policy->shares, &flow->share);
	if (policy->overload.now)
		htbs_fair_remove(&policy->proportions, &flow->proportion);
	return true;
}

/**
 * htbs_policy_load_with() - what the device has, and the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @halves: the positioning for it, in halves
 *
 * Return: the load.
 */
struct htbs_load htbs_policy_load_with(const struct htbs_policy *policy,
				       const struct htbs_flow *flow, u32 halves)
{
	struct htbs_load load = policy->load;

	htbs_load_add(&load, &flow->service, halves, flow->cost);
	return load;
}

/**
 * htbs_policy_latest() - latest(Q): when the device has to begin with what is owed
 * @policy: the policy
 * @except: a flow that is left out, or NULL
 * @before: what the device serves before
 * @now: real time, ns
 * @at_worst: with the margin; else in the mean
 *
 * Return: real time, ns; at most HTBS_HORIZON from now.
 */
u64 htbs_policy_latest(const struct htbs_policy *policy,
		       const struct htbs_flow *except,
		       const struct htbs_load *before, u64 now, bool at_worst)
{
	u64 most = now + HTBS_HORIZON, end = most;

	htbs_owed_latest(&policy->owed, except ? &except->head : NULL, before,
			 at_worst, &end);
	return htbs_before(end, most) ? end : most;
}

/**
 * htbs_policy_has_slack() - whether all that is owed can be in time
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if latest(Q) is yet to come.
 */
bool htbs_policy_has_slack(const struct htbs_policy *policy, u64 now)
{
	return htbs_before(now, htbs_policy_latest(policy, NULL, &policy->load,
						   now, true));
}
