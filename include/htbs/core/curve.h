/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrival curves and the virtual clock they are measured against.
 *
 * A reservation promises a flow of requests three independent numbers (burst,
 * bandwidth, latency). The state of an arrival curve is one moment, the
 * theoretical arrival time (tat) of the generic cell rate algorithm: a token
 * bucket in virtual-scheduling form, exact in integers and O(1).
 *
 * All times are nanoseconds in u64 and compared modulo 2^64.
 */
#ifndef HTBS_CORE_CURVE_H
#define HTBS_CORE_CURVE_H

#include <linux/types.h>

/* Ranges that keep every product in curve.c within 64 bits. */
#define HTBS_BW_MIN		4096ULL			/* bytes/s */
#define HTBS_BW_MAX		0x10000000000ULL	/* bytes/s: 1 TiB/s */
#define HTBS_BURST_MIN		4096ULL			/* bytes */
#define HTBS_BURST_MAX		0x100000000ULL		/* bytes: 4 GiB */
#define HTBS_LATENCY_MIN	1000ULL			/* ns: 1 us */
#define HTBS_LATENCY_MAX	100000000000ULL		/* ns: 100 s */
#define HTBS_WEIGHT_MIN		1U
#define HTBS_WEIGHT_MAX		10000U

/* Requests that bypass the policy put a flow no further into debt than this. */
#define HTBS_UNTAGGED_DEBT		1000000000ULL		/* ns */

/* The least that a request is charged: the seek it causes is not free. */
#define HTBS_COST_MIN		4096U			/* bytes */

/* An operation is charged HTBS_COST_MIN bytes of its own curve: curves.c. */
#define HTBS_IOPS_MAX		(HTBS_BW_MAX / HTBS_COST_MIN)	/* per second */

/**
 * struct htbs_params - what a reservation promises
 * @bw: bandwidth (rho), bytes/s; 0: bytes are not reserved, @iops are
 * @burst: largest burst above the steady rate (sigma), bytes
 * @latency: bound from arrival to completion of a conforming request (delta),
 *	ns
 * @weight: share of surplus; 0: not given
 * @max: the cap, bytes/s; 0: none
 * @iops: operations per second; 0: operations are not reserved, @bw is
 */
struct htbs_params {
	u64 bw;
	u64 burst;
	u64 latency;
	u32 weight;
	u64 max;
	u32 iops;
};

/**
 * struct htbs_clock - the virtual clock of a device
 * @drift: how far the virtual clock is ahead of real time (D), ns, never falls
 * @era: number of quarters of the 64-bit range that the clock has passed
 *
 * The clock jumps while nothing conforms, by a request's cost over its rate
 * each time, so a long flood of a flow with a low rate can take it around 64
 * bits within a day. @era tells a stale moment from one in the future.
 */
struct htbs_clock {
	u64 drift;
	u64 era;
};

/**
 * struct htbs_curve - an arrival curve
 * @params: what is promised
 * @tat: theoretical arrival time, virtual ns
 * @rem: what @tat lacks of the exact moment, in units of 1/bw ns
 * @era: the clock's era when @tat was last brought up to date
 */
struct htbs_curve {
	struct htbs_params params;
	u64 tat;
	u64 rem;
	u64 era;
};

/**
 * htbs_before() - compare two times of a clock that wraps
 * @a: a time, ns
 * @b: another time, less than 2^63 ns away
 *
 * Return: true if @a is earlier than @b.
 */
static inline bool htbs_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/**
 * htbs_cost() - what a request is charged
 * @bytes: data of the request
 *
 * Return: bytes charged.
 */
static inline u32 htbs_cost(u32 bytes)
{
	return bytes < HTBS_COST_MIN ? HTBS_COST_MIN : bytes;
}

bool htbs_params_valid(const struct htbs_params *params);
u64 htbs_params_rate(const struct htbs_params *params);

u64 htbs_clock_read(struct htbs_clock *clock, u64 now);
u64 htbs_clock_advance(struct htbs_clock *clock, u64 now, u64 to);

void htbs_curve_init(struct htbs_curve *curve, const struct htbs_params *params,
		     const struct htbs_clock *clock, u64 v);
bool htbs_curve_full(const struct htbs_curve *curve,
		     const struct htbs_clock *clock, u64 v);
u64 htbs_curve_arrive(struct htbs_curve *curve, const struct htbs_clock *clock,
		      u64 v, u32 cost);
void htbs_curve_charge_untagged(struct htbs_curve *curve,
				const struct htbs_clock *clock, u64 v,
				u32 cost);
bool htbs_curve_would_conform(const struct htbs_curve *curve,
			      const struct htbs_clock *clock, u64 v, u32 cost);
void htbs_curve_charge(struct htbs_curve *curve, u32 bytes);
u64 htbs_curve_refund(struct htbs_curve *curve, u32 bytes);

#endif /* HTBS_CORE_CURVE_H */
