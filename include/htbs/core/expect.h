/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flows from which conforming requests are expected.
 */
#ifndef HTBS_CORE_EXPECT_H
#define HTBS_CORE_EXPECT_H

#include <linux/types.h>

#include <htbs/core/expire.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/**
 * htbs_pool_had_conforming() - whether a conforming request of a pool arrived a moment ago
 * @pool: the pool
 * @now: real time, ns
 *
 * Then further ones are expected for nearly as long as after a new conforming request. So it need
 * not be known whether the next request conforms.
 *
 * Return: true if one did.
 */
static inline bool htbs_pool_had_conforming(const struct htbs_pool *pool, u64 now)
{
	const struct htbs_flow *last = pool->expects;

	return last && htbs_before(now + last->expect_for / 16 * 15, last->expected_until);
}

/**
 * htbs_flow_stuck() - whether the requests that a flow has in flight may never complete
 * @flow: the flow, busy
 * @now: real time, ns
 *
 * A task need not poll for its polled requests, and a device may lose a request. Surplus is not
 * limited for the sake of such requests. HTBS_EXPIRE is also the time that drivers allow for a
 * request by default.
 *
 * Return: true if the flow has no request pending, and no request of its pool was dispatched or
 * completed for longer than HTBS_EXPIRE and its latency.
 */
static inline bool htbs_flow_stuck(const struct htbs_flow *flow, u64 now)
{
	u64 last = htbs_later(flow->pool->served, flow->pool->idle_since);

	return !flow->pending && htbs_before(last + htbs_flow_latency(flow) + HTBS_EXPIRE, now);
}

void htbs_policy_expect_more(struct htbs_policy *policy, struct htbs_flow *flow,
			     u64 now);
void htbs_policy_expect_none(struct htbs_policy *policy,
			     struct htbs_flow *flow);
struct htbs_flow *htbs_policy_expected(struct htbs_policy *policy,
				       const struct htbs_flow *except, u64 now);

#endif /* HTBS_CORE_EXPECT_H */
