/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether surplus is the reason why a pool is behind its pace.
 */
#ifndef HTBS_CORE_REACH_H
#define HTBS_CORE_REACH_H

#include <linux/types.h>

#include <htbs/core/pace.h>
#include <htbs/core/service.h>

/*
 * HTBS learns from this many means how much a pool varies; half of them are enough to begin with.
 */
#define HTBS_REACH_MEANS	(2 * HTBS_HABIT)

/**
 * struct htbs_spread - how much a value varies
 * @mean: its mean
 * @deviation: its mean absolute deviation
 * @count: how many values were learned, up to HTBS_REACH_MEANS
 */
struct htbs_spread {
	u64 mean;
	u64 deviation;
	u32 count;
};

/**
 * struct htbs_reach - whether surplus is the reason why a pool is behind its pace
 * @since: when a paced request completed last, real ns
 * @busy: how long the pool had paced requests in flight, ns
 * @took: the sum of the times of the requests that have completed meanwhile, ns
 * @had: these requests
 * @times: the shortest mean of these times
 * @gap: the mean time from one completion to the next, ns
 * @number: how many requests were in flight on average, in units of 1/1024
 * @least: in how many means the limits were at their minimum, since a mean was shorter than all
 *	before; up to HTBS_REACH_MEANS / 2
 * @keeps_pace: the pool had its bandwidth recently
 * @unhindered: the pool had less, but surplus is not the reason
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
 * htbs_reach_learn() - learn from a completed request that was charged to the pace of its pool
 * @reach: the state of the pool
 * @now: real time, ns
 * @took: time since the request was dispatched, ns
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
