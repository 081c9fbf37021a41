/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Throttling flows by their caps, and unthrottling them.
 */
#ifndef HTBS_CORE_THROTTLE_H
#define HTBS_CORE_THROTTLE_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

void htbs_policy_charge_cap(struct htbs_policy *policy, struct htbs_flow *flow,
			    u64 now, u32 cost);
void htbs_policy_set_cap(struct htbs_policy *policy, struct htbs_flow *flow,
			 u64 max, u64 now);
bool htbs_policy_next_unthrottle(const struct htbs_policy *policy, u64 *at);
struct htbs_flow *htbs_policy_unthrottle(struct htbs_policy *policy, u64 now);
bool htbs_policy_drain(struct htbs_policy *policy, bool drains);

#endif /* HTBS_CORE_THROTTLE_H */
