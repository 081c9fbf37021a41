/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the limits of surplus fall, and when they rise.
 */
#ifndef HTBS_CORE_JUDGE_H
#define HTBS_CORE_JUDGE_H

#include <linux/types.h>

#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

u64 htbs_pool_behind_by(const struct htbs_pool *pool, u64 now);
u64 htbs_flow_behind_by(const struct htbs_flow *flow, u64 now);
bool htbs_policy_limits_are_least(const struct htbs_policy *policy);
void htbs_policy_judge_pace(struct htbs_policy *policy, struct htbs_flow *flow, u64 now);
void htbs_policy_judge_reach(struct htbs_policy *policy, struct htbs_pool *pool);
void htbs_policy_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
			      const struct htbs_sent *sent);

#endif /* HTBS_CORE_JUDGE_H */
