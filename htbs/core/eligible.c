// SPDX-License-Identifier: GPL-2.0
/*
 * Eligible heads, and expired ones: why no request waits for ever.
 *
 * Entitlement is judged when a choice is made.  The head of a flow is eligible,
 * that is reserved work, which no window holds back, from the earliest of
 *
 *  - the arrival of a request of the flow that conforms.  Start tags never fall
 *    in a flow, so the requests before that one are entitled with it;
 *  - the real time by which its start tag would have come without a jump of the
 *    virtual clock: its deadline less the latency;
 *  - the flow's pace.  Each dispatch of c bytes moves it on by c / bw (or by
 *    1 / iops, if that is longer), from no earlier than the latency ago and from
 *    no later than now.  So surplus that a flow has had delays its reservation
 *    by one request at most: a head is eligible c / bw after the dispatch before
 *    it, whatever others do.
 *
 * A head that has waited for HTBS_EXPIRE has expired.  The oldest of those goes
 * first, whatever runs, is waited for or is full.  After each, as much time
 * belongs to the rest: twice the longest time R that the device takes for a
 * request.  With N requests in the queue and the longest wait T_wait, none is
 * pending for longer than
 *
 *	HTBS_EXPIRE + N * (2 * R + T_wait)
 *
 * but for those that a cap holds up, which count from when it lets them go on.
 *
 * The background has a small part of the device's time: it is eligible, ends a
 * run and goes first, HTBS_BACKGROUND_PART times R after the request before.
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

/* What a request of so many bytes is of a reservation's time, ns. */
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
 * htbs_flow_advance_pace() - a request of a flow is dispatched
 * @flow: the flow
 * @now: real time, ns
 * @cost: what the request is charged, bytes
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

/* From when on the head of a flow is eligible. */
static u64 htbs_flow_eligible(const struct htbs_flow *flow)
{
	u64 entitled = flow->node.due - flow->curve.params.latency;

	if (flow->conforming)
		return flow->node.arrived;
	return htbs_before(flow->pace, entitled) ? flow->pace : entitled;
}

/**
 * htbs_policy_update_eligible() - the head, or what counts for it, has changed
 * @flow: a flow with requests pending
 */
void htbs_policy_update_eligible(struct htbs_flow *flow)
{
	flow->node.eligible = htbs_flow_eligible(flow);
	if (!RB_EMPTY_NODE(&flow->node.rb))
		htbs_tree_update(&flow->node);
}

/**
 * htbs_policy_eligible() - is the head of a flow reserved work
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
 * htbs_policy_defer_background() - the background has had its part for now
 * @policy: the policy
 * @now: real time, ns
 */
void htbs_policy_defer_background(struct htbs_policy *policy, u64 now)
{
	policy->background_due = now + HTBS_BACKGROUND_PART *
				       (policy->service.seek + 1);
}

/* The flow whose head arrived first, the background too. */
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
 * htbs_policy_oldest_arrival() - when the oldest pending head arrived
 * @policy: the policy
 * @arrived: real time, ns; of a flow that a cap held up, when it was let go
 *
 * Return: true if one is pending that no cap holds up.
 */
bool htbs_policy_oldest_arrival(const struct htbs_policy *policy, u64 *arrived)
{
	const struct htbs_flow *flow = htbs_policy_oldest(policy);

	if (flow)
		*arrived = flow->node.arrived;
	return flow;
}

/**
 * htbs_policy_expired() - has a head waited for too long
 * @policy: the policy
 * @now: real time, ns
 *
 * If there is one it has to be dispatched.
 *
 * Return: the flow of the oldest that has, or NULL if there is none or the time
 * after the one before belongs to the rest.
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
