/* SPDX-License-Identifier: GPL-2.0 */
/*
 * More is reserved than the device can do.
 */
#ifndef HTBS_CORE_OVERLOAD_H
#define HTBS_CORE_OVERLOAD_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

bool htbs_policy_end_overload(struct htbs_policy *policy, u64 now);
bool htbs_policy_account_turn(struct htbs_policy *policy,
			      const struct htbs_flow *flow, u64 due, u64 now);

#endif /* HTBS_CORE_OVERLOAD_H */
