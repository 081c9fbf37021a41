/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow's share of the device's time, in an overload.
 */
#ifndef HTBS_CORE_DEVICE_SHARE_H
#define HTBS_CORE_DEVICE_SHARE_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

void htbs_device_share_wake(struct htbs_flow *flow, u64 v);
u64 htbs_device_share_start(struct htbs_flow *flow, u64 v, u64 start);
void htbs_device_share_charge(struct htbs_policy *policy,
			      struct htbs_flow *flow, u64 took);

#endif /* HTBS_CORE_DEVICE_SHARE_H */
