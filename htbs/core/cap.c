// SPDX-License-Identifier: GPL-2.0
/*
 * Caps.
 *
 * A reservation with a cap is throttled as soon as it has been given more than that,
 * counted in real time from request to request (GCRA): in any time t no more is
 * dispatched of it than
 *
 *	max * (t + HTBS_CAP_AHEAD) + its largest request
 *
 * While it is throttled it isn't backlogged: the device isn't idled for it, it cuts no run
 * short, its start tags don't keep the virtual clock from jumping and it gains no
 * share of the rest.  What it has pending is due no earlier than if it had arrived
 * when the cap let it go on; so a cap is not taken for an overload, nor for the
 * device's failure.
 *
 * What can't be throttled counts all the same and keeps those behind it waiting:
 * requests that go past the policy, and all while the queue has to be emptied.
 *
 * Real time, unlike virtual time, passes no era while a machine runs (curve.c), and
 * HTBS_CAP_DEBT keeps a tag from running away from it.
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
 * htbs_cap_first() - the throttled flow that may go on first
 * @policy: the policy
 *
 * Return: the flow, or NULL if none with requests pending is throttled.
 */
struct htbs_flow *htbs_cap_first(const struct htbs_policy *policy)
{
	return rb_entry_safe(rb_first_cached(&policy->throttled),
			     struct htbs_flow, cap.rb);
}

/**
 * htbs_cap_throttles() - does its cap keep a reservation from going on
 * @policy: the policy
 * @flow: the reservation
 * @now: real time, ns
 *
 * Return: true if it does.
 */
bool htbs_cap_throttles(const struct htbs_policy *policy,
			const struct htbs_flow *flow, u64 now)
{
	return flow->cap.throttled && !policy->drains &&
	       htbs_before(now, htbs_cap_end(&flow->cap));
}

/**
 * htbs_cap_link() - one that is throttled has requests pending
 * @policy: the policy
 * @flow: the reservation
 */
void htbs_cap_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	rb_add_cached(&flow->cap.rb, &policy->throttled, htbs_cap_less);
}

/**
 * htbs_cap_unlink() - it has none any more, or may go on
 * @policy: the policy
 * @flow: the reservation
 */
void htbs_cap_unlink(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (RB_EMPTY_NODE(&flow->cap.rb))
		return;
	rb_erase_cached(&flow->cap.rb, &policy->throttled);
	RB_CLEAR_NODE(&flow->cap.rb);
}

/**
 * htbs_cap_charge() - a request of it is dispatched
 * @policy: the policy
 * @flow: the reservation; not linked
 * @now: real time, ns
 * @cost: what it is charged, bytes
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
 * htbs_flow_due() - when a request is due, given that the cap held it up
 * @flow: its reservation
 * @due: when it would be due without, real ns
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
 * htbs_flow_waits_since() - since when a request waits, but for its cap
 * @flow: its reservation
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
