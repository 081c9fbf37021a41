/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many deviations the worst case is away from the mean.
 */
#ifndef HTBS_CORE_MARGIN_H
#define HTBS_CORE_MARGIN_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

void htbs_policy_init_margin(struct htbs_policy *policy);
void htbs_policy_judge_margin(struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now, u64 due);

#endif /* HTBS_CORE_MARGIN_H */
