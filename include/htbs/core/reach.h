/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether surplus keeps a pool behind its pace.
 */
#ifndef HTBS_CORE_REACH_H
#define HTBS_CORE_REACH_H

#include <linux/types.h>

#include <htbs/core/pace.h>
#include <htbs/core/service.h>

/*
 * How many means the variation of a pool is learned from. Half of them are enough for a decision.
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
 * struct htbs_reach - whether surplus keeps a pool behind its pace
 * @since: when a paced request completed last, real ns
 * @busy: how long the pool had paced requests in flight in this period, ns
 * @took: sum of the times from dispatch to completion of the paced requests of this period, ns
 * @had: the paced requests that completed in this period
 * @times: the shortest mean time of a period
 * @gap: mean time from one completion to the next, by period, ns
 * @number: mean number of paced requests in flight, by period, in units of 1/1024
 * @least: number of periods in which the limits were at their minimum, since a mean was shorter
 *	than all before; up to HTBS_REACH_MEANS / 2
 * @keeps_pace: the pool had its bandwidth recently
 * @unhindered: the pool had less, but not because of surplus
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
