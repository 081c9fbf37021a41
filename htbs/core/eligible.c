// SPDX-License-Identifier: GPL-2.0
/*
 * Eligible heads, and expired ones: why no request waits for ever.
 *
 * Entitlement is judged when a choice is made. The head of a flow is eligible,
 * that is reserved work, which no window holds back, from the earliest of
 *
 *  - the arrival of a conforming request of the flow. Start tags never fall in
 *    a flow, so the requests before that one are entitled with it;
 *  - the real time at which its start tag would have come without a jump of the
 *    virtual clock: its deadline less the latency;
 *  - the flow's pace. Each dispatch of c bytes advances the pace by c / bw (or
 *    by 1 / iops, if that is longer), from no earlier than the latency ago and
 *    from no later than now. So surplus that the flow had delays its reserved
 *    work by one request at most: a head is eligible c / bw after the dispatch
 *    before it, whatever other flows do.
 *
 * A head that has been pending for HTBS_EXPIRE has expired. The oldest expired
 * head is dispatched next, whichever flow is active or idled for, and whatever
 * windows say. Then no expired head is chosen for twice the longest time R that
 * the device takes for a request. With N requests in the queue and the longest
 * wait T_wait, no request is pending for longer than
 *
 *	HTBS_EXPIRE + N * (2 * R + T_wait)
 *
 * Time throttled by a cap does not count.
 *
 * The background has a small part of the device's time: its next request is
 * eligible, ends a run and goes first HTBS_BACKGROUND_PART times R after the
 * one before.
 */
#include <linux/math64.h>

#include <htbs/core/curve.h>
#include <htbs/core/eligible.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/tree.h>

#define HTBS_NSEC_PER_SEC	1000000000ULL

/* The inverse of the background's part of the device's time. */
#define HTBS_BACKGROUND_PART	16

/* The time for which a request uses up its flow's reservation, ns. */
static u64 htbs_flow_step(const struct htbs_flow *flow, u32 cost)
{
	u64 bw = flow->curve.params.bw, ops = flow->ops.curve.params.bw;
	u64 step = 0, other = 0;

	if (bw)
		step = div64_u64(cost * HTBS_NSEC_PER_SEC, bw);
	if (ops)
		other = div64_u64(HTBS_COST_MIN * HTBS_NSEC_PER_SEC, ops);
	return step > other ? step : other;
}

/**
 * htbs_flow_advance_pace() - advance a flow's pace by a dispatched request
 * @flow: the flow
 * @now: real time, ns
 * @cost: bytes charged
 */
void htbs_flow_advance_pace(struct htbs_flow *flow, u64 now, u32 cost)
{
	u64 least = now - flow->curve.params.latency;

	if (htbs_before(flow->pace, least))
		flow->pace = least;
	if (htbs_before(now, flow->pace))
		flow->pace = now;
	flow->pace += htbs_flow_step(flow, cost);
}

/* When the head of a flow becomes eligible. */
static u64 htbs_flow_eligible(const struct htbs_flow *flow)
{
	u64 entitled = flow->node.due - flow->curve.params.latency;

	if (flow->conforming)
		return flow->node.arrived;
	return htbs_before(flow->pace, entitled) ? flow->pace : entitled;
}

/**
 * htbs_policy_update_eligible() - bring up to date when a head is eligible
 * @flow: a flow with requests pending
 *
 * To be called when the head, the pace or the number of conforming requests has
 * changed.
 */
void htbs_policy_update_eligible(struct htbs_flow *flow)
{
	flow->node.eligible = htbs_flow_eligible(flow);
	if (!RB_EMPTY_NODE(&flow->node.rb))
		htbs_tree_update(&flow->node);
}

/**
 * htbs_policy_eligible() - whether the head of a flow is reserved work
 * @policy: the policy
 * @flow: a flow with requests pending, or the background
 * @now: real time, ns
 *
 * Return: true if it is.
 */
bool htbs_policy_eligible(const struct htbs_policy *policy,
			  const struct htbs_flow *flow, u64 now)
{
	if (flow == policy->background)
		return !htbs_before(now, policy->background_due);
	return flow->node.conforms || !htbs_before(now, flow->node.eligible);
}

/**
 * htbs_policy_defer_background() - set when the background is eligible next
 * @policy: the policy
 * @now: real time, ns
 */
void htbs_policy_defer_background(struct htbs_policy *policy, u64 now)
{
	policy->background_due = now + HTBS_BACKGROUND_PART *
				       (policy->service.seek + 1);
}

/* The flow, or the background, with the head that arrived first. */
static struct htbs_flow *htbs_policy_oldest(const struct htbs_policy *policy)
{
	struct htbs_node *node = htbs_tree_oldest(&policy->tree);
	struct htbs_flow *background = policy->background;

	if (background->pending &&
	    (!node || htbs_before(background->node.arrived, node->arrived)))
		return background;
	return node ? rb_entry(node, struct htbs_flow, node) : NULL;
}

/**
 * htbs_policy_oldest_arrival() - when the oldest pending request arrived
 * @policy: the policy
 * @arrived: real ns; for a flow that was throttled, when it was unthrottled
 *
 * Return: true if a request is pending that is not throttled.
 */
bool htbs_policy_oldest_arrival(const struct htbs_policy *policy, u64 *arrived)
{
	const struct htbs_flow *flow = htbs_policy_oldest(policy);

	if (flow)
		*arrived = flow->node.arrived;
	return flow;
}

/**
 * htbs_policy_expired() - find the oldest expired head
 * @policy: the policy
 * @now: real time, ns
 *
 * The caller has to dispatch it.
 *
 * Return: its flow, or NULL if no head has expired, or it is too soon after the
 * last one.
 */
struct htbs_flow *htbs_policy_expired(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = htbs_policy_oldest(policy);
	u64 rest = 2 * policy->service.seek;

	if (!flow || htbs_before(now, flow->node.arrived + HTBS_EXPIRE) ||
	    (policy->expired && now - policy->expired_at < rest))
		return NULL;
	policy->expired = true;
	policy->expired_at = now;
	return flow;
}
