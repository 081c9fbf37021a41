// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival curves and the virtual clock.
 *
 * With v the virtual time of arrival, c the cost in bytes, sigma the burst and
 * rho the bandwidth:
 *
 *	tau = max(0, sigma - c) / rho
 *	S   = max(v, tat - tau)			the start tag
 *	tat = max(v, tat) + c / rho
 *
 * and F = S + delta is the deadline. A request conforms when S == v at its
 * arrival. The same curve is a token bucket of depth sigma filled at rho.
 *
 * c / rho is carried with its remainder, so the error of a tag stays below one
 * nanosecond however many requests went before it. The ranges in curve.h make
 * (2^32 * NSEC_PER_SEC + 2^40) fit 64 bits.
 */
#include <linux/math64.h>

#include <htbs/core/curve.h>

#define HTBS_NSEC_PER_SEC	1000000000ULL

/* The virtual clock's range is cut into quarters to number its eras. */
#define HTBS_ERA_SHIFT		62
#define HTBS_ERA_MASK		3

/**
 * htbs_params_rate() - the bandwidth that is promised at least
 * @params: the reservation
 *
 * Where only operations are reserved, each counts as the smallest request.
 *
 * Return: bytes/s.
 */
u64 htbs_params_rate(const struct htbs_params *params)
{
	return params->bw ? params->bw : (u64)params->iops * HTBS_COST_MIN;
}

/**
 * htbs_params_valid() - whether a reservation is within the ranges of curve.h
 * @params: the reservation
 *
 * Return: true if each number is within its HTBS_*_MIN and HTBS_*_MAX, and
 * bytes or operations are reserved.
 */
bool htbs_params_valid(const struct htbs_params *params)
{
	u64 rate = htbs_params_rate(params);

	return rate >= HTBS_BW_MIN && rate <= HTBS_BW_MAX &&
	       params->iops <= HTBS_IOPS_MAX &&
	       params->burst >= HTBS_BURST_MIN &&
	       params->burst <= HTBS_BURST_MAX &&
	       params->latency >= HTBS_LATENCY_MIN &&
	       params->latency <= HTBS_LATENCY_MAX &&
	       params->max <= HTBS_BW_MAX &&
	       (!params->max || params->max >= rate) &&
	       params->weight <= HTBS_WEIGHT_MAX;
}

/**
 * htbs_clock_read() - read the virtual time
 * @clock: the device's virtual clock
 * @now: real time, ns; never falls
 *
 * Return: v = now + D, virtual ns.
 */
u64 htbs_clock_read(struct htbs_clock *clock, u64 now)
{
	u64 v = now + clock->drift;

	/* No step is as long as a quarter, so none is missed. */
	clock->era += ((v >> HTBS_ERA_SHIFT) - clock->era) & HTBS_ERA_MASK;
	return v;
}

/**
 * htbs_clock_advance() - let the virtual clock jump
 * @clock: the device's virtual clock
 * @now: real time, ns
 * @to: the virtual time to set; no jump if that is in the past
 *
 * Return: the length of the jump, ns.
 */
u64 htbs_clock_advance(struct htbs_clock *clock, u64 now, u64 to)
{
	u64 v = htbs_clock_read(clock, now);

	if (!htbs_before(v, to))
		return 0;

	clock->drift += to - v;
	htbs_clock_read(clock, now);
	return to - v;
}

/**
 * htbs_curve_init() - start an arrival curve with a full burst
 * @curve: the curve
 * @params: the reservation; valid
 * @clock: the device's virtual clock
 * @v: virtual time
 */
void htbs_curve_init(struct htbs_curve *curve, const struct htbs_params *params,
		     const struct htbs_clock *clock, u64 v)
{
	curve->params = *params;
	curve->tat = v;
	curve->rem = 0;
	curve->era = clock->era;
}

/**
 * htbs_curve_full() - whether a curve has its full burst
 * @curve: the curve
 * @clock: the device's virtual clock, read at @v
 * @v: virtual time
 *
 * Return: true if nothing that was charged before matters any more.
 */
bool htbs_curve_full(const struct htbs_curve *curve,
		     const struct htbs_clock *clock, u64 v)
{
	/* A curve that was not used for an era or more is in the past. */
	return htbs_before(curve->tat, v) || clock->era - curve->era > 1;
}

static void htbs_curve_wake(struct htbs_curve *curve,
			    const struct htbs_clock *clock, u64 v)
{
	if (htbs_curve_full(curve, clock, v)) {
		curve->tat = v;
		curve->rem = 0;
	}
	curve->era = clock->era;
}

/**
 * htbs_curve_arrive() - tag and charge a request
 * @curve: the curve of its flow
 * @clock: the device's virtual clock, read at @v
 * @v: virtual time of its arrival
 * @cost: bytes charged
 *
 * S never falls from one request of a flow to the next.
 *
 * Return: S, virtual ns. The request conforms if it equals @v.
 */
u64 htbs_curve_arrive(struct htbs_curve *curve, const struct htbs_clock *clock,
		      u64 v, u32 cost)
{
	u64 burst = curve->params.burst, tau = 0, start;

	htbs_curve_wake(curve, clock, v);
	if (burst > cost)
		tau = div64_u64((burst - cost) * HTBS_NSEC_PER_SEC,
				curve->params.bw);

	start = curve->tat - tau;
	if (htbs_before(start, v))
		start = v;

	htbs_curve_charge(curve, cost);
	return start;
}

/**
 * htbs_curve_charge_untagged() - charge a request that has no tag
 * @curve: the curve of its flow
 * @clock: the device's virtual clock, read at @v
 * @v: virtual time of its arrival
 * @cost: bytes charged
 *
 * The request is never pending, so the clock cannot jump for it. The debt is
 * limited, or capacity that no other flow used would delay the flow's later
 * requests for minutes.
 */
void htbs_curve_charge_untagged(struct htbs_curve *curve,
				const struct htbs_clock *clock, u64 v, u32 cost)
{
	u64 limit = v + HTBS_UNTAGGED_DEBT;

	htbs_curve_wake(curve, clock, v);
	if (!htbs_before(curve->tat, limit))
		return;

	htbs_curve_charge(curve, cost);
	if (!htbs_before(curve->tat, limit)) {
		curve->tat = limit;
		curve->rem = 0;
	}
}

/**
 * htbs_curve_would_conform() - whether a request would conform
 * @curve: the curve of its flow
 * @clock: the device's virtual clock, read at @v
 * @v: virtual time
 * @cost: bytes that it would be charged
 *
 * Return: true if its start tag would be @v.
 */
bool htbs_curve_would_conform(const struct htbs_curve *curve,
			      const struct htbs_clock *clock, u64 v, u32 cost)
{
	struct htbs_curve trial = *curve;

	return htbs_curve_arrive(&trial, clock, v, cost) == v;
}

/**
 * htbs_curve_charge() - charge bytes to a curve
 * @curve: the curve
 * @bytes: bytes, at most U32_MAX: a request's, or what a merge added to one
 */
void htbs_curve_charge(struct htbs_curve *curve, u32 bytes)
{
	u64 ns = bytes * HTBS_NSEC_PER_SEC + curve->rem;
	u64 step = div64_u64(ns, curve->params.bw);

	curve->tat += step;
	curve->rem = ns - step * curve->params.bw;
}

/**
 * htbs_curve_refund() - refund bytes that were charged to a curve
 * @curve: the curve
 * @bytes: bytes
 *
 * Return: how far tat moved back, ns.
 */
u64 htbs_curve_refund(struct htbs_curve *curve, u32 bytes)
{
	u64 ns = bytes * HTBS_NSEC_PER_SEC;
	u64 step = div64_u64(ns, curve->params.bw);
	u64 rem = ns - step * curve->params.bw;

	if (curve->rem < rem) {
		curve->rem += curve->params.bw;
		step++;
	}
	curve->rem -= rem;
	curve->tat -= step;
	return step;
}
