/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of which flows conforming requests are expected.
 */
#ifndef HTBS_CORE_EXPECT_H
#define HTBS_CORE_EXPECT_H

#include <linux/types.h>

#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/**
 * htbs_pool_had_conforming() - whether a conforming request has arrived a moment ago
 * @pool: the pool of its flow
 * @now: real time, ns
 *
 * Then others are expected for most of the time for which they are after one, and whether
 * another one conforms need not be known.
 *
 * Return: true if it has.
 */
static inline bool htbs_pool_had_conforming(const struct htbs_pool *pool, u64 now)
{
	const struct htbs_flow *last = pool->expects;

	return last && htbs_before(now + last->expect_for / 16 * 15, last->expected_until);
}

void htbs_policy_expect_more(struct htbs_policy *policy, struct htbs_flow *flow,
			     u64 now);
void htbs_policy_expect_none(struct htbs_policy *policy,
			     struct htbs_flow *flow);
struct htbs_flow *htbs_policy_expected(struct htbs_policy *policy,
				       const struct htbs_flow *except, u64 now);

#endif /* HTBS_CORE_EXPECT_H */
