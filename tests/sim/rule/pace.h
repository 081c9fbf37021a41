/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pace of a flow: when its next request is due to start by its arrival curve.
 */
#ifndef HTBS_CORE_PACE_H
#define HTBS_CORE_PACE_H

#include <linux/types.h>

#include <htbs/core/curve.h>

/**
 * struct htbs_pace - an arrival curve and how far a flow has come on it
 * @params: the reservation
 * @tag: when the next request would start if all came at the bandwidth, ns
 * @busy_tag: @tag when the flow became busy last, ns
 */
struct htbs_pace {
	struct htbs_params params;
	u64 tag;
	u64 busy_tag;
};

u64 htbs_pace_step(const struct htbs_pace *pace, u32 cost);
u64 htbs_pace_start(const struct htbs_pace *pace, u64 arrived, u32 cost);
u64 htbs_pace_deadline(const struct htbs_pace *pace, u64 arrived, u32 cost);
u32 htbs_pace_due_together(const struct htbs_pace *pace, u64 deadline, u32 cost,
			   u32 pending);
void htbs_pace_busy(struct htbs_pace *pace, u64 now, u64 idle, u64 service);
void htbs_pace_charge(struct htbs_pace *pace, u64 arrived, u32 cost);

#endif /* HTBS_CORE_PACE_H */
