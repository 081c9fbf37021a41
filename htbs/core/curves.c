// SPDX-License-Identifier: GPL-2.0
/*
 * Operations: both arrival curves of a flow.
 *
 * A reservation may promise operations, beside bytes or instead of them. They
 * have an arrival curve of their own, on which a request of any size is charged
 * HTBS_COST_MIN bytes, at a bandwidth of iops * HTBS_COST_MIN. So the burst is
 * burst / HTBS_COST_MIN operations. A request has a start tag by each curve,
 * and
 *
 *	S = max(S by bytes, S by operations)
 *
 * It conforms if both curves say so.
 *
 * A request is charged one operation when it is inserted. A bio that is merged
 * into it is charged its bytes only. If two pending requests are merged, both
 * were charged, and nothing is refunded, neither operations nor the bytes that
 * small requests are charged at least.
 *
 * Surplus that is dispatched (share.c) is refunded to both curves, and the
 * later tags by each move back. But nothing is refunded that was charged before
 * a curve was last full: while a request waits by one curve, the other may fill
 * up, and would have more than its burst.
 */
#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/**
 * htbs_flow_init_curves() - start both curves with a full burst
 * @flow: the flow
 * @params: the reservation; valid
 * @clock: the device's virtual clock
 * @v: virtual time
 */
void htbs_flow_init_curves(struct htbs_flow *flow,
			   const struct htbs_params *params,
			   const struct htbs_clock *clock, u64 v)
{
	struct htbs_params ops = *params;

	ops.bw = (u64)params->iops * HTBS_COST_MIN;
	htbs_curve_init(&flow->curve, params, clock, v);
	htbs_curve_init(&flow->ops.curve, &ops, clock, v);
	flow->ops.full.bytes = v + flow->share.refunded.bytes;
	flow->ops.full.ops = v + flow->share.refunded.ops;
}

/* Tag and charge a request by one curve, unless that reserves nothing. */
static u64 htbs_one_arrive(struct htbs_curve *curve,
			   const struct htbs_clock *clock, u64 v, u32 cost,
			   u64 refunded, u64 *full)
{
	if (!curve->params.bw)
		return v;
	if (htbs_curve_full(curve, clock, v))
		*full = v + refunded;
	return htbs_curve_arrive(curve, clock, v, cost);
}

/**
 * htbs_flow_arrive() - tag and charge a request
 * @policy: the policy
 * @flow: its flow
 * @v: virtual time by which tags are given
 * @cost: bytes charged
 * @tags: its start tags
 *
 * Return: S, virtual ns.
 */
u64 htbs_flow_arrive(const struct htbs_policy *policy, struct htbs_flow *flow,
		     u64 v, u32 cost, struct htbs_start_tags *tags)
{
	const struct htbs_start_tags *refunded = &flow->share.refunded;
	struct htbs_ops *ops = &flow->ops;

	if (!ops->curve.params.bw) {
		tags->bytes = htbs_curve_arrive(&flow->curve, &policy->clock, v,
						cost);
		tags->ops = tags->bytes;
		return tags->bytes;
	}
	tags->bytes = htbs_one_arrive(&flow->curve, &policy->clock, v, cost,
				      refunded->bytes, &ops->full.bytes);
	tags->ops = htbs_one_arrive(&ops->curve, &policy->clock, v,
				    HTBS_COST_MIN, refunded->ops,
				    &ops->full.ops);
	return htbs_before(tags->bytes, tags->ops) ? tags->ops : tags->bytes;
}

/**
 * htbs_flow_charge_merge() - charge what a merge added to a pending request
 * @policy: the policy
 * @flow: its flow
 * @v: virtual time by which tags are given
 * @bytes: bytes added
 */
void htbs_flow_charge_merge(const struct htbs_policy *policy,
			    struct htbs_flow *flow, u64 v, u32 bytes)
{
	htbs_one_arrive(&flow->curve, &policy->clock, v, bytes,
			flow->share.refunded.bytes, &flow->ops.full.bytes);
}

/* Charge a request without a tag by one curve, unless that reserves nothing. */
static void htbs_one_charge_untagged(struct htbs_curve *curve,
				     const struct htbs_clock *clock, u64 v,
				     u32 cost, u64 refunded, u64 *full)
{
	if (!curve->params.bw)
		return;
	if (htbs_curve_full(curve, clock, v))
		*full = v + refunded;
	htbs_curve_charge_untagged(curve, clock, v, cost);
}

/**
 * htbs_flow_charge_untagged() - charge a request that bypasses the policy
 * @policy: the policy
 * @flow: its flow
 * @v: virtual time by which tags are given
 * @cost: bytes charged
 */
void htbs_flow_charge_untagged(const struct htbs_policy *policy,
			       struct htbs_flow *flow, u64 v, u32 cost)
{
	const struct htbs_start_tags *refunded = &flow->share.refunded;
	struct htbs_ops *ops = &flow->ops;

	htbs_one_charge_untagged(&flow->curve, &policy->clock, v, cost,
				 refunded->bytes, &ops->full.bytes);
	htbs_one_charge_untagged(&ops->curve, &policy->clock, v, HTBS_COST_MIN,
				 refunded->ops, &ops->full.ops);
}

static bool htbs_one_would_conform(const struct htbs_curve *curve,
				   const struct htbs_clock *clock, u64 v,
				   u32 cost)
{
	return !curve->params.bw ||
	       htbs_curve_would_conform(curve, clock, v, cost);
}

/**
 * htbs_flow_would_conform() - whether a request would conform
 * @policy: the policy
 * @flow: its flow
 * @v: virtual time by which tags are given
 * @cost: bytes that it would be charged
 *
 * Return: true if it would by both curves, and by the device's time.
 */
bool htbs_flow_would_conform(const struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 v, u32 cost)
{
	if (flow->device_tagged && htbs_before(v, flow->device_tag))
		return false;
	return htbs_one_would_conform(&flow->curve, &policy->clock, v, cost) &&
	       htbs_one_would_conform(&flow->ops.curve, &policy->clock, v,
				      HTBS_COST_MIN);
}

/**
 * htbs_flow_set_oldest() - note the tags of a flow's oldest pending request
 * @flow: the flow
 * @kept: the tags, as stored
 */
void htbs_flow_set_oldest(struct htbs_flow *flow,
			  const struct htbs_start_tags *kept)
{
	struct htbs_ops *ops = &flow->ops;

	if (!ops->curve.params.bw)
		return;
	ops->oldest = *kept;
	/*
	 * No older request is left. Keep @full within reach of a clock that
	 * wraps.
	 */
	if (htbs_before(ops->full.bytes, kept->bytes))
		ops->full.bytes = kept->bytes;
	if (htbs_before(ops->full.ops, kept->ops))
		ops->full.ops = kept->ops;
}

/**
 * htbs_flow_refund() - refund the oldest request, dispatched as surplus
 * @flow: its flow
 * @cost: bytes charged
 */
void htbs_flow_refund(struct htbs_flow *flow, u32 cost)
{
	struct htbs_start_tags *refunded = &flow->share.refunded;
	struct htbs_ops *ops = &flow->ops;
	u64 step;

	if (!ops->curve.params.bw) {
		step = htbs_curve_refund(&flow->curve, cost);
		refunded->bytes += step;
		refunded->ops += step;
		return;
	}
	if (flow->curve.params.bw &&
	    !htbs_before(ops->oldest.bytes, ops->full.bytes))
		refunded->bytes += htbs_curve_refund(&flow->curve, cost);
	if (!htbs_before(ops->oldest.ops, ops->full.ops))
		refunded->ops += htbs_curve_refund(&ops->curve, HTBS_COST_MIN);
}
