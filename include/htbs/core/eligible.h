/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Heads that are eligible, and heads that have expired.
 */
#ifndef HTBS_CORE_ELIGIBLE_H
#define HTBS_CORE_ELIGIBLE_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

/* A head that has been pending for this long is dispatched next: eligible.c. */
#define HTBS_EXPIRE		30000000000ULL	/* ns: 30 s */

void htbs_flow_advance_pace(struct htbs_flow *flow, u64 now, u32 cost);
void htbs_policy_update_eligible(struct htbs_flow *flow);
bool htbs_policy_eligible(const struct htbs_policy *policy,
			  const struct htbs_flow *flow, u64 now);
void htbs_policy_defer_background(struct htbs_policy *policy, u64 now);
bool htbs_policy_oldest_arrival(const struct htbs_policy *policy, u64 *arrived);
struct htbs_flow *htbs_policy_expired(struct htbs_policy *policy, u64 now);

#endif /* HTBS_CORE_ELIGIBLE_H */
