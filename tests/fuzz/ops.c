// SPDX-License-Identifier: GPL-2.0
/*
 * Both arrival curves of a flow, in exact arithmetic.
 */
#include "bench.h"

/* A reservation out of the fuzzer's bytes. */
struct htbs_params input_promise(const struct bench *bench, struct input *in)
{
	struct htbs_params params = input_params(in);
	u8 shape;

	if (!bench->operations)
		return params;
	shape = input_byte(in);
	if (shape & 1)
		params.iops = input_within(in, 1, HTBS_IOPS_MAX);
	if (params.iops && shape & 2)
		params.bw = 0;
	must(htbs_params_valid(&params));
	return params;
}

void exact_init(struct flow *flow, const struct htbs_params *params, u128 v)
{
	struct htbs_params ops = *params;

	ops.bw = (u64)params->iops * HTBS_COST_MIN;
	reference_init(&flow->exact, params, v);
	reference_init(&flow->operations, &ops, v);
}

/* Charge bytes that a merge added; no operation is charged. */
u128 exact_charge(struct flow *flow, u128 v, u32 bytes)
{
	if (!flow->exact.params.bw)
		return v;
	return reference_arrive(&flow->exact, v, bytes);
}

/* The start tag of a request: the later one of both curves. */
u128 exact_arrive(struct flow *flow, u128 v, u32 cost)
{
	u128 start = exact_charge(flow, v, cost), ops = v;

	if (flow->operations.params.bw)
		ops = reference_arrive(&flow->operations, v, HTBS_COST_MIN);
	return start > ops ? start : ops;
}

/* Charge a request without a tag, up to HTBS_UNTAGGED_DEBT ahead. */
static void charge_untagged(struct reference *curve, u128 v, u32 cost)
{
	u128 most = (v + HTBS_UNTAGGED_DEBT) * curve->params.bw;

	if (curve->ticks < v * curve->params.bw)
		curve->ticks = v * curve->params.bw;
	if (curve->ticks >= most)
		return;
	curve->ticks += (u128)cost * NSEC;
	if (curve->ticks > most)
		curve->ticks = most;
}

/* The same by both curves. */
void exact_charge_untagged(struct flow *flow, u128 v, u32 cost)
{
	charge_untagged(&flow->exact, v, cost);
	charge_untagged(&flow->operations, v, HTBS_COST_MIN);
}
