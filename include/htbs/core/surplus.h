/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much surplus a device may have in flight and in its write buffer.
 */
#ifndef HTBS_CORE_SURPLUS_H
#define HTBS_CORE_SURPLUS_H

#include <linux/types.h>

#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

bool htbs_policy_can_dispatch(struct htbs_policy *policy,
			      struct htbs_flow *flow, u64 now);
bool htbs_policy_limits_allow(struct htbs_policy *policy,
			      const struct htbs_flow *flow, u64 now);

#endif /* HTBS_CORE_SURPLUS_H */
