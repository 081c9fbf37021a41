// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a pool could have the bandwidth that it reserved.
 *
 * A pool that always has requests in flight falls behind its pace for one of two reasons. Its
 * requests take so long that it has too few of them in a second. Or it asks for less than it
 * reserved, or for too few requests at a time, and would be behind on an idle device, too. Only
 * in the first case does it help to limit surplus.
 *
 * By Little's law a pool with n requests in flight, each of which takes T, has n / T in a second.
 * While T rises n rises as well if its requests arrive at a rate of their own. If each arrives as
 * another one completes n stays. It is not known which it is. But if a pool had a part p of its
 * bandwidth, it has no more than p * T / T_0 if each request takes T_0 instead of T. If that is
 * less than all, with T_0 the shortest mean, surplus is not what it is behind for.
 *
 * T_0 is the mean of the requests of a while, HTBS_FADE or those of HTBS_HORIZON, in which it was
 * shortest. As others may have loaded the device all the time it is no longer than twice what the
 * shortest request took. A mean that is shorter than all before it tells that these were of a
 * loaded device: then surplus may be the reason.
 */
#include <linux/math64.h>

#include <htbs/core/reach.h>

/**
 * htbs_reach_judge() - whether the pool could have had its bandwidth of late
 * @reach: that of the pool, which had requests
 * @pace: its pace
 * @fastest: how long a request of its flow takes at best, ns
 */
void htbs_reach_judge(struct htbs_reach *reach, const struct htbs_pace *pace,
		      u64 fastest)
{
	u64 mean = div64_u64(reach->took, reach->had.ops), before, alone, part;

	before = htbs_fastest_time(&reach->times);
	htbs_fastest_learn(&reach->times, reach->since, mean);
	alone = htbs_fastest_time(&reach->times);
	if (alone > 2 * fastest)
		alone = 2 * fastest;
	part = div64_u64(htbs_pace_span(pace, &reach->had), (reach->busy >> 10) + 1);
	/* Of two means the longer one is so by a sixteenth by chance. */
	reach->out = before && mean >= before && part < 1024 &&
		     mean * part < (alone - alone / HTBS_SWEEP) << 10;
	reach->busy = 0;
	reach->took = 0;
	reach->had = (struct htbs_paced){ };
}
