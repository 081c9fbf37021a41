/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations: a second arrival curve of a flow, beside that of bytes or instead
 * of it.
 */
#ifndef HTBS_CORE_CURVES_H
#define HTBS_CORE_CURVES_H

#include <linux/types.h>

#include <htbs/core/curve.h>

struct htbs_flow;
struct htbs_policy;

/**
 * struct htbs_start_tags - a request's start tags by both curves
 * @bytes: by the curve of bytes, virtual ns
 * @ops: by the curve of operations, virtual ns; without one, the same as @bytes
 */
struct htbs_start_tags {
	u64 bytes;
	u64 ops;
};

/**
 * struct htbs_ops - the operations of a flow
 * @curve: their arrival curve, HTBS_COST_MIN bytes for each; if its bw is 0,
 *	operations are not reserved and the other fields mean nothing
 * @oldest: the stored tags of the oldest pending request
 * @full: requests with smaller stored tags arrived before the curve was last
 *	full
 */
struct htbs_ops {
	struct htbs_curve curve;
	struct htbs_start_tags oldest;
	struct htbs_start_tags full;
};

void htbs_flow_init_curves(struct htbs_flow *flow,
			   const struct htbs_params *params,
			   const struct htbs_clock *clock, u64 v);
u64 htbs_flow_arrive(const struct htbs_policy *policy, struct htbs_flow *flow,
		     u64 v, u32 cost, struct htbs_start_tags *tags);
void htbs_flow_charge_untagged(const struct htbs_policy *policy,
			       struct htbs_flow *flow, u64 v, u32 cost);
void htbs_flow_charge_merge(const struct htbs_policy *policy,
			    struct htbs_flow *flow, u64 v, u32 bytes);
bool htbs_flow_would_conform(const struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 v, u32 cost);
void htbs_flow_set_oldest(struct htbs_flow *flow,
			  const struct htbs_start_tags *kept);
void htbs_flow_refund(struct htbs_flow *flow, u32 cost);

#endif /* HTBS_CORE_CURVES_H */
