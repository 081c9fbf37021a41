/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relaxed flows on a device that does not seek: those with reservations that the device does not
 * keep.
 */
#ifndef HTBS_CORE_RELAX_H
#define HTBS_CORE_RELAX_H

#include <linux/types.h>

#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

void htbs_policy_relax(struct htbs_policy *policy, struct htbs_flow *flow, u64 now);

#endif /* HTBS_CORE_RELAX_H */
