/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Urgent requests: those that groups with a reservation may wait for.
 */
#ifndef HTBS_CORE_URGENT_H
#define HTBS_CORE_URGENT_H

#include <linux/types.h>

struct htbs_policy;

bool htbs_policy_admit_urgent(struct htbs_policy *policy, u64 now, u32 cost,
			      u64 *due);
bool htbs_policy_urgent_goes(struct htbs_policy *policy, u64 now, u32 cost,
			     u64 due);

#endif /* HTBS_CORE_URGENT_H */
