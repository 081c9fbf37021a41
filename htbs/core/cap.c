// SPDX-License-Identifier: GPL-2.0
/*
 * Caps.
 *
 * A flow with a cap is throttled as soon as it is ahead of the cap, counted in
 * real time from request to request (GCRA). In any time t it dispatches no more
 * than
 *
 *	max * (t + HTBS_CAP_AHEAD) + its largest request
 *
 * A throttled flow is not backlogged: the device is not idled for it, it ends
 * no run, its start tags do not keep the virtual clock from jumping, and it
 * gains no share of surplus. Its pending requests are due no earlier than if
 * they had arrived when the flow was unthrottled, so a cap is not mistaken for
 * an overload or a slow device.
 *
 * Requests that cannot be throttled are charged to the cap all the same, and
 * the flow's later requests wait for longer: requests that bypass the policy,
 * and all requests while the queue has to be emptied.
 *
 * Real time, unlike virtual time, passes no era while a machine runs (curve.c),
 * and HTBS_CAP_DEBT bounds how far a tag is ahead of it.
 */
#include <htbs/core/cap.h>
#include <htbs/core/curve.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

static bool htbs_cap_less(struct rb_node *a, const struct rb_node *b)
{
	return htbs_before(rb_entry(a, struct htbs_cap, rb)->curve.tat,
			   rb_entry(b, struct htbs_cap, rb)->curve.tat);
}

/**
 * htbs_cap_first() - the throttled flow to be unthrottled first
 * @policy: the policy
 *
 * Return: the flow, or NULL if no flow with requests pending is throttled.
 */
struct htbs_flow *htbs_cap_first(const struct htbs_policy *policy)
{
	return rb_entry_safe(rb_first_cached(&policy->throttled),
			     struct htbs_flow, cap.rb);
}

/**
 * htbs_cap_throttles() - whether a flow has to stay throttled
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it has.
 */
bool htbs_cap_throttles(const struct htbs_policy *policy,
			const struct htbs_flow *flow, u64 now)
{
	return flow->cap.throttled && !policy->drains &&
	       htbs_before(now, htbs_cap_end(&flow->cap));
}

/**
 * htbs_cap_link() - a throttled flow has requests pending
 * @policy: the policy
 * @flow: the flow
 */
void htbs_cap_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	rb_add_cached(&flow->cap.rb, &policy->throttled, htbs_cap_less);
}

/**
 * htbs_cap_unlink() - a flow has no requests pending, or is unthrottled
 * @policy: the policy
 * @flow: the flow
 */
void htbs_cap_unlink(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (RB_EMPTY_NODE(&flow->cap.rb))
		return;
	rb_erase_cached(&flow->cap.rb, &policy->throttled);
	RB_CLEAR_NODE(&flow->cap.rb);
}

/**
 * htbs_cap_charge() - charge a dispatched request to the cap
 * @policy: the policy
 * @flow: the flow; not linked
 * @now: real time, ns
 * @cost: bytes charged
 */
void htbs_cap_charge(const struct htbs_policy *policy, struct htbs_flow *flow,
		     u64 now, u32 cost)
{
	struct htbs_curve *curve = &flow->cap.curve;

	if (!curve->params.bw)
		return;
	if (htbs_before(curve->tat, now)) {
		curve->tat = now;
		curve->rem = 0;
	}
	htbs_curve_charge(curve, cost);
	if (htbs_before(now + HTBS_CAP_DEBT, curve->tat)) {
		curve->tat = now + HTBS_CAP_DEBT;
		curve->rem = 0;
	}
	flow->cap.throttled = true;
	flow->cap.throttled = htbs_cap_throttles(policy, flow, now);
}

/**
 * htbs_flow_due() - when a request is due, given the flow's cap
 * @flow: the flow
 * @due: when it would be due without a cap, real ns
 *
 * Return: real ns.
 */
u64 htbs_flow_due(const struct htbs_flow *flow, u64 due)
{
	u64 least;

	if (!flow->cap.curve.params.bw)
		return due;
	least = htbs_cap_end(&flow->cap) + flow->curve.params.latency;
	return htbs_before(due, least) ? least : due;
}

/**
 * htbs_flow_waits_since() - since when a request waits, less the time throttled
 * @flow: the flow
 * @arrived: when it arrived, real ns
 *
 * Return: real ns.
 */
u64 htbs_flow_waits_since(const struct htbs_flow *flow, u64 arrived)
{
	u64 least = htbs_cap_end(&flow->cap);

	if (!flow->cap.curve.params.bw || htbs_before(least, arrived))
		return arrived;
	return least;
}
