/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pace of a flow: when its next request is due to start by its arrival curve.
 */
#ifndef HTBS_CORE_PACE_H
#define HTBS_CORE_PACE_H

#include <linux/types.h>

#include <htbs/core/params.h>

/**
 * struct htbs_pace_curve - an arrival curve and how far a flow has come on it
 * @rate: bytes/s; 0: it reserves nothing
 * @tag: when the next request would start if all came at @rate, ns
 * @rest: what @tag lacks of the exact moment, in units of 1/@rate ns
 * @busy_tag: @tag when the flow became busy last, or at the last later arrival for which
 *	@busy_tag was two latencies ago, ns; that moment, if @tag was later
 */
struct htbs_pace_curve {
	u64 rate;
	u64 tag;
	u64 rest;
	u64 busy_tag;
};

/**
 * struct htbs_pace - the pace of a flow
 * @params: the reservation
 * @bytes: by bytes
 * @ops: by operations, each of which counts as HTBS_COST_MIN bytes
 */
struct htbs_pace {
	struct htbs_params params;
	struct htbs_pace_curve bytes;
	struct htbs_pace_curve ops;
};

/**
 * struct htbs_paced - some requests that were charged to a pace
 * @units: what they were charged, in units of HTBS_PACED_UNIT; each rounded down
 * @ops: how many there are
 */
struct htbs_paced {
	u32 units;
	u32 ops;
};

/* No request of a disk is charged a part of it. */
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

/* A request that was charged @cost bytes is dispatched. */
static inline void htbs_paced_add(struct htbs_paced *paced, u32 cost)
{
	paced->units += cost / HTBS_PACED_UNIT;
	paced->ops++;
}

/* It has completed, or was given back. */
static inline void htbs_paced_sub(struct htbs_paced *paced, u32 cost)
{
	paced->units -= cost / HTBS_PACED_UNIT;
	paced->ops--;
}

#endif /* HTBS_CORE_PACE_H */
