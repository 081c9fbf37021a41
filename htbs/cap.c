// SPDX-License-Identifier: GPL-2.0
/*
 * Caps.  A pure room.
 *
 * A reservation with a cap is stopped as soon as it has been given more than that,
 * counted in real time from request to request (GCRA): in any time t no more is
 * dispatched of it than
 *
 *	max * (t + HTBS_CAP_AHEAD) + its largest request
 *
 * While it is stopped it isn't backlogged: nobody waits for it, it cuts no run
 * short, its start tags don't keep the virtual clock from jumping and it gains no
 * share of the rest.  What it has pending is due no earlier than if it had arrived
 * when the cap let it go on; so a cap is not taken for an overload, nor for the
 * device's failure.
 */
#include <linux/string.h>

#include <htbs/policy.h>

static bool htbs_cap_less(struct rb_node *a, const struct rb_node *b)
{
	return htbs_before(rb_entry(a, struct htbs_cap, rb)->curve.tat,
			   rb_entry(b, struct htbs_cap, rb)->curve.tat);
}

static struct htbs_flow *htbs_cap_first(const struct htbs_policy *policy)
{
	return rb_entry_safe(rb_first_cached(&policy->stopped),
			     struct htbs_flow, cap.rb);
}

/* When it may go on. */
static u64 htbs_cap_end(const struct htbs_flow *flow)
{
	return flow->cap.curve.tat - HTBS_CAP_AHEAD;
}

/**
 * htbs_cap_configure() - a reservation gets another cap
 * @policy: the policy
 * @flow: the reservation
 * @max: the cap, bytes/s; 0: none
 * @now: real time, ns
 */
void htbs_cap_configure(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 max, u64 now)
{
	htbs_cap_unlink(policy, flow);
	flow->cap.curve.params.bw = max;
	flow->cap.curve.tat = now;
	flow->cap.curve.rem = 0;
	flow->cap.stopped = false;
}

/**
 * htbs_cap_stops() - does its cap keep a reservation from going on
 * @flow: the reservation
 * @now: real time, ns
 *
 * Return: true if it does.
 */
bool htbs_cap_stops(const struct htbs_flow *flow, u64 now)
{
	return flow->cap.stopped && htbs_before(now, htbs_cap_end(flow));
}

/**
 * htbs_cap_link() - one that is stopped has requests pending
 * @policy: the policy
 * @flow: the reservation
 */
void htbs_cap_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	rb_add_cached(&flow->cap.rb, &policy->stopped, htbs_cap_less);
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
	rb_erase_cached(&flow->cap.rb, &policy->stopped);
	RB_CLEAR_NODE(&flow->cap.rb);
}

/**
 * htbs_cap_charge() - a request of it is dispatched
 * @flow: the reservation; not linked
 * @now: real time, ns
 * @cost: what it is charged, bytes
 */
void htbs_cap_charge(struct htbs_flow *flow, u64 now, u32 cost)
{
	struct htbs_curve *curve = &flow->cap.curve;

	if (!curve->params.bw)
		return;
	if (htbs_before(curve->tat, now)) {
		curve->tat = now;
		curve->rem = 0;
	}
	htbs_curve_charge(curve, cost);
	flow->cap.stopped = htbs_before(now, htbs_cap_end(flow));
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
	u64 least = htbs_cap_end(flow) + flow->curve.params.latency;

	if (flow->cap.curve.params.bw && htbs_before(due, least))
		return least;
	return due;
}

/**
 * htbs_policy_alarm() - when may one that is stopped go on
 * @policy: the policy
 * @at: real time, ns
 *
 * Return: true if there is one.
 */
bool htbs_policy_alarm(const struct htbs_policy *policy, u64 *at)
{
	const struct htbs_flow *flow = htbs_cap_first(policy);

	if (flow)
		*at = htbs_cap_end(flow);
	return flow;
}

/**
 * htbs_policy_release() - those who were stopped for long enough go on
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if there was one.
 */
bool htbs_policy_release(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow;
	bool released = false;

	while ((flow = htbs_cap_first(policy)) &&
	       !htbs_before(now, htbs_cap_end(flow))) {
		htbs_cap_unlink(policy, flow);
		flow->cap.stopped = false;
		htbs_policy_link(policy, flow);
		released = true;
	}
	if (released) {
		policy->held = false;
		htbs_policy_limit_wait(policy);
	}
	return released;
}
