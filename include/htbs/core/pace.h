/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pace of a pool: when its next request starts according to its arrival curve.
 */
#ifndef HTBS_CORE_PACE_H
#define HTBS_CORE_PACE_H

#include <linux/types.h>

#include <htbs/core/params.h>

/**
 * struct htbs_pace_curve - an arrival curve, and how far a pool has come on it
 * @rate: bytes/s; 0: the curve reserves nothing
 * @tag: when the next request would start if all came at @rate, ns
 * @rest: what @tag lacks of the exact time, in units of 1/@rate ns
 * @busy_tag: the earlier of @tag and the current time, recorded when the pool became busy last, ns;
 *	recorded anew by an arrival if it is more than two latencies ago
 */
struct htbs_pace_curve {
	u64 rate;
	u64 tag;
	u64 rest;
	u64 busy_tag;
};

/**
 * struct htbs_pace - the pace of a pool
 * @params: the reservation
 * @bytes: the curve of bytes
 * @ops: the curve of operations, each of which counts as HTBS_COST_MIN bytes
 */
struct htbs_pace {
	struct htbs_params params;
	struct htbs_pace_curve bytes;
	struct htbs_pace_curve ops;
};

/**
 * struct htbs_paced - requests that were charged to a pace
 * @units: the sum of their costs, each in units of HTBS_PACED_UNIT, rounded down
 * @ops: their number
 */
struct htbs_paced {
	u32 units;
	u32 ops;
};

/* The cost of a request to a disk is a multiple of this. */
#define HTBS_PACED_UNIT		512	/* bytes */

void htbs_pace_init(struct htbs_pace *pace, const struct htbs_params *params,
		    u64 now);
u64 htbs_pace_tag(const struct htbs_pace *pace);
u64 htbs_pace_step(const struct htbs_pace *pace, u32 cost);
u64 htbs_pace_span(const struct htbs_pace *pace, const struct htbs_paced *paced);
u64 htbs_pace_start(const struct htbs_pace *pace, u64 arrived, u32 cost);
u64 htbs_pace_deadline(const struct htbs_pace *pace, u64 arrived, u64 start);
void htbs_pace_busy(struct htbs_pace *pace, u64 now, u64 idle, u64 service);
void htbs_pace_mark(struct htbs_pace *pace, u64 now);
void htbs_pace_charge(struct htbs_pace *pace, u64 arrived, u32 cost);

/* Called when a request that was charged @cost bytes is dispatched. */
static inline void htbs_paced_add(struct htbs_paced *paced, u32 cost)
{
	paced->units += cost / HTBS_PACED_UNIT;
	paced->ops++;
}

/* Called when such a request has completed or was requeued. */
static inline void htbs_paced_sub(struct htbs_paced *paced, u32 cost)
{
	paced->units -= cost / HTBS_PACED_UNIT;
	paced->ops--;
}

#endif /* HTBS_CORE_PACE_H */
