// SPDX-License-Identifier: GPL-2.0
/*
 * The flows from which conforming requests are expected.
 *
 * A flow that had a conforming request recently may submit the next one at any time, and a device
 * that is full of other requests cannot serve it in time. So as long as one is expected, room is
 * left for it (inflight.c) and surplus is limited (surplus.c).
 */
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

static bool htbs_less_latency(struct rb_node *a, const struct rb_node *b)
{
	return htbs_flow_latency(rb_entry(a, struct htbs_flow, expected)) <
	       htbs_flow_latency(rb_entry(b, struct htbs_flow, expected));
}

/*
 * Return for how long another conforming request is expected after one: for twice the longest
 * recent interval between two of them, at least HTBS_HORIZON and at most HTBS_MEMORY. For flows
 * that share a reservation it is always HTBS_HORIZON.
 */
static u64 htbs_expect_for(const struct htbs_flow *flow, u64 now)
{
	u64 since = flow->expected_until - flow->expect_for, most = 2 * (now - since);

	if (!flow->expect_for || htbs_flow_pooled(flow))
		return HTBS_HORIZON;
	if (most < flow->expect_for)
		return flow->expect_for - (flow->expect_for - HTBS_HORIZON) / HTBS_FADE;
	return most < HTBS_MEMORY ? most : HTBS_MEMORY;
}

/**
 * htbs_policy_expect_more() - a conforming request has arrived, so others may follow
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 *
 * Within a pool, more are expected only from the flow that had a conforming request last, because
 * the reservation is owed to the pool as a whole.
 */
void htbs_policy_expect_more(struct htbs_policy *policy, struct htbs_flow *flow,
			     u64 now)
{
	struct htbs_pool *pool = flow->pool;

	flow->expect_for = htbs_expect_for(flow, now);
	flow->expected_until = now + flow->expect_for;
	if (pool->expects == flow)
		return;
	if (pool->expects)
		htbs_policy_expect_none(policy, pool->expects);
	pool->expects = flow;
	rb_add_cached(&flow->expected, &policy->expected, htbs_less_latency);
}

/**
 * htbs_policy_expect_none() - expect no more conforming requests from a flow
 * @policy: the policy
 * @flow: the flow
 */
void htbs_policy_expect_none(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (RB_EMPTY_NODE(&flow->expected))
		return;
	rb_erase_cached(&flow->expected, &policy->expected);
	RB_CLEAR_NODE(&flow->expected);
	flow->pool->expects = NULL;
}

/*
 * Return true if a conforming request is expected from a flow. While a flow with a reservation of
 * its own is busy and not stuck, one is expected in any case: the flow may wait for a request to
 * complete before it submits the next one, and that may take long. This does not hold for a relaxed
 * flow, which always has requests, but none that conforms. On a device that does not seek it does
 * hold for a relaxed flow, because without limits surplus would go to the flow with the most
 * requests in flight.
 */
static bool htbs_flow_expected(const struct htbs_policy *policy, const struct htbs_flow *flow,
			       u64 now)
{
	return htbs_before(now, flow->expected_until) ||
	       (htbs_pool_busy(&flow->own) && !htbs_flow_stuck(flow, now) &&
		!(policy->seeks && flow->own.relaxed));
}

/**
 * htbs_policy_expected() - find a flow from which a conforming request is expected
 * @policy: the policy
 * @except: a flow that is left out together with its pool, or NULL
 * @now: real time, ns
 *
 * Return: the one with the shortest latency, or NULL.
 */
struct htbs_flow *htbs_policy_expected(struct htbs_policy *policy,
				       const struct htbs_flow *except, u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected);
	struct htbs_flow *flow;

	while (rb) {
		flow = rb_entry(rb, struct htbs_flow, expected);
		rb = rb_next(rb);
		if (!htbs_flow_expected(policy, flow, now))
			htbs_policy_expect_none(policy, flow);
		else if (!except || flow->pool != except->pool)
			return flow;
	}
	return NULL;
}
