/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether surplus is what a pool is behind its pace for.
 */
#ifndef HTBS_CORE_REACH_H
#define HTBS_CORE_REACH_H

#include <linux/types.h>

#include <htbs/core/pace.h>
#include <htbs/core/service.h>

/* So many means tell what of a pool varies, half of them at least. */
#define HTBS_REACH_MEANS	(2 * HTBS_HABIT)

/**
 * struct htbs_spread - how much a value varies
 * @mean: its mean
 * @deviation: its mean absolute deviation
 * @count: how many values were learned, HTBS_REACH_MEANS at most
 */
struct htbs_spread {
	u64 mean;
	u64 deviation;
	u32 count;
};

/**
 * struct htbs_reach - whether surplus is what a pool is behind its pace for
 * @since: when a paced request completed last, real ns
 * @busy: how long the pool had paced requests in flight, ns
 * @took: the sum of the times of those that have completed, ns
 * @had: these requests
 * @times: their shortest mean time
 * @gap: the time from one to the next, ns
 * @number: how many were in flight on average, in units of 1/1024
 * @least: in how many means the limits were at their least, and none was shorter than
 *	all before; HTBS_REACH_MEANS / 2 at most
 * @keeps_pace: the pool had its bandwidth of late
 * @unhindered: it had less, and surplus is not why
 */
struct htbs_reach {
	u64 since;
	u64 busy;
	u64 took;
	struct htbs_paced had;
	struct htbs_fastest times;
	struct htbs_spread gap;
	struct htbs_spread number;
	u8 least;
	bool keeps_pace;
	bool unhindered;
};

bool htbs_reach_own_rate(const struct htbs_reach *reach);
void htbs_reach_judge(struct htbs_reach *reach, const struct htbs_pace *pace, bool least);

/**
 * htbs_reach_learn() - a request of a pool has completed that was charged to its pace
 * @reach: that of the pool
 * @now: real time, ns
 * @took: from the dispatch of the request on, ns
 * @cost: what it was charged, bytes
 *
 * Return: true if htbs_reach_judge() must follow.
 */
static inline bool htbs_reach_learn(struct htbs_reach *reach, u64 now, u64 took, u32 cost)
{
	reach->busy += now - htbs_later(reach->since, now - took);
	reach->since = now;
	reach->took += took;
	htbs_paced_add(&reach->had, cost);
	return reach->had.ops >= HTBS_FADE || reach->busy >= HTBS_HORIZON;
}

#endif /* HTBS_CORE_REACH_H */
