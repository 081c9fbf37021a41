/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a pool could have the bandwidth that it reserved.
 */
#ifndef HTBS_CORE_REACH_H
#define HTBS_CORE_REACH_H

#include <linux/types.h>

#include <htbs/core/pace.h>
#include <htbs/core/service.h>

/**
 * struct htbs_reach - whether a pool could have the bandwidth that it reserved
 * @since: when a paced request completed last, real ns
 * @busy: how long the pool had paced requests in flight, ns
 * @took: the sum of the times of those that have completed, ns
 * @had: these requests
 * @times: their shortest mean time
 * @out: it could not: it asks for less, or for too few requests at a time
 */
struct htbs_reach {
	u64 since;
	u64 busy;
	u64 took;
	struct htbs_paced had;
	struct htbs_fastest times;
	bool out;
};

void htbs_reach_judge(struct htbs_reach *reach, const struct htbs_pace *pace,
		      u64 fastest);

/**
 * htbs_reach_learn() - a request of a pool has completed that was charged to its pace
 * @reach: that of the pool
 * @pace: its pace
 * @fastest: how long a request of its flow takes at best, ns
 * @now: real time, ns
 * @took: from the dispatch of the request on, ns
 * @cost: what it was charged, bytes
 */
static inline void htbs_reach_learn(struct htbs_reach *reach, const struct htbs_pace *pace,
				    u64 fastest, u64 now, u64 took, u32 cost)
{
	reach->busy += now - htbs_later(reach->since, now - took);
	reach->since = now;
	reach->took += took;
	htbs_paced_add(&reach->had, cost);
	if (reach->had.ops >= HTBS_FADE || reach->busy >= HTBS_HORIZON)
		htbs_reach_judge(reach, pace, fastest);
}

#endif /* HTBS_CORE_REACH_H */
