// SPDX-License-Identifier: GPL-2.0
/*
 * Operations: both arrival curves of a reservation.
 *
 * A reservation may promise operations, beside bytes or instead of them.  They have
 * an arrival curve of their own, where a request costs one, whatever its size: so
 * much is HTBS_COST_MIN of a curve of bytes that promises iops times as many each
 * second.  So its burst is as many operations as it holds such pieces.
 * A request has a start tag by each curve, and
 *
 *	S = max(S by bytes, S by operations)
 *
 * It conforms if both curves say so.
 *
 * A request that enters is one operation.  What is merged into it counts for its
 * bytes only, unless it had entered as a request of its own: then it counted, and
 * nothing is given back, as nothing is of the bytes that small requests count for.
 *
 * What is served from the rest (share.c) is given back to both curves, and the later
 * tags of each move back by its own part.  But nothing is given back that a curve
 * has forgotten: while a request waits by the one curve, the other may be full
 * again, and would then have more than its burst.
 */
#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/**
 * htbs_flow_init_curves() - both curves start with a full burst
 * @flow: the reservation
 * @params: what it promises; valid
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

/* The start tag by one curve, if that counts. */
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
 * htbs_flow_arrive() - the start tags of a request
 * @policy: the policy
 * @flow: its reservation
 * @v: virtual time by which tags are given
 * @cost: what it is charged, bytes
 * @tags: its tags
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
 * htbs_flow_charge_merge() - a pending request has grown
 * @policy: the policy
 * @flow: its reservation
 * @v: virtual time by which tags are given
 * @bytes: what a merge added
 */
void htbs_flow_charge_merge(const struct htbs_policy *policy,
			    struct htbs_flow *flow, u64 v, u32 bytes)
{
	htbs_one_arrive(&flow->curve, &policy->clock, v, bytes,
			flow->share.refunded.bytes, &flow->ops.full.bytes);
}

/* The same of what has no tag. */
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
 * htbs_flow_charge_untagged() - a request goes past the policy
 * @policy: the policy
 * @flow: its reservation
 * @v: virtual time by which tags are given
 * @cost: what it is charged, bytes
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
 * htbs_flow_would_conform() - would a request conform
 * @policy: the policy
 * @flow: its reservation
 * @v: virtual time by which tags are given
 * @cost: what it would be charged, bytes
 *
 * Return: true if both curves allow it, and its tag by time.
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
 * htbs_flow_set_oldest() - the tags of a reservation's oldest pending request
 * @flow: the reservation
 * @kept: its tags as they are kept
 */
void htbs_flow_set_oldest(struct htbs_flow *flow,
			  const struct htbs_start_tags *kept)
{
	struct htbs_ops *ops = &flow->ops;

	if (!ops->curve.params.bw)
		return;
	ops->oldest = *kept;
	/* Requests before it are gone: stay within reach of a clock that wraps. */
	if (htbs_before(ops->full.bytes, kept->bytes))
		ops->full.bytes = kept->bytes;
	if (htbs_before(ops->full.ops, kept->ops))
		ops->full.ops = kept->ops;
}

/**
 * htbs_flow_refund() - the oldest request is served from the rest
 * @flow: its reservation
 * @cost: what it was charged, bytes
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
