/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags: by which time they are given, and what is charged without one.
 */
#ifndef HTBS_CORE_TAGGING_H
#define HTBS_CORE_TAGGING_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_params;
struct htbs_policy;
struct htbs_start_tags;

void htbs_flow_init(struct htbs_flow *flow, struct htbs_policy *policy,
		    const struct htbs_params *params, u64 now);
u64 htbs_policy_advance_clock(struct htbs_policy *policy, u64 now);
u64 htbs_policy_due(struct htbs_policy *policy,
		    const struct htbs_flow *flow, u64 now, u64 start);
void htbs_policy_charge(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 now, u32 bytes);
void htbs_policy_charge_bypass(struct htbs_policy *policy,
			       struct htbs_flow *flow, u64 now, u32 cost);
void htbs_policy_configure(struct htbs_policy *policy, struct htbs_flow *flow,
			   const struct htbs_params *params, u64 now);
void htbs_policy_retag(struct htbs_policy *policy, struct htbs_flow *flow,
		       u64 now, u32 cost, struct htbs_start_tags *kept,
		       u64 *due);

#endif /* HTBS_CORE_TAGGING_H */
