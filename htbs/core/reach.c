// SPDX-License-Identifier: GPL-2.0
/*
 * Whether surplus keeps a pool behind its pace.
 *
 * A pool that always has requests in flight falls behind its pace for one of three reasons. Its
 * requests may take so long that too few of them complete in a second: then it helps to limit
 * surplus. Or the pool submits less than it reserved, or has too few requests in flight: then it
 * would be behind on an idle device, too.
 *
 * By Little's law a pool with n requests in flight, each of which takes T, completes n / T in a
 * second. In an open loop, requests arrive at a rate of their own: n / T stays the same while T
 * changes, and n varies. In a closed loop, a request arrives when another one completes, as with a
 * reader that has a fixed queue depth: n stays the same, and the rate varies. So HTBS learns the
 * mean and the deviation of both over several periods. If the rate of a pool varies less than its
 * number in flight, the pool gets all that it submits. This does not apply right after the rate has
 * fallen, because a reader may have reached its maximum queue depth.
 *
 * A closed loop that has a part p of its bandwidth would have p * T / T_0 if each request took T_0,
 * the shortest mean. If that is less than its whole bandwidth, it has too few requests in flight.
 * T_0 is known once the mean does not get any shorter while the limits are at their minimum. Before
 * that, other pools may have loaded the device all the time.
 */
#include <linux/math64.h>

#include <htbs/core/reach.h>

static void htbs_spread_learn(struct htbs_spread *spread, u64 value)
{
	u64 error;

	if (!spread->count)
		spread->mean = value;
	if (spread->count < HTBS_REACH_MEANS)
		spread->count++;
	error = value > spread->mean ? value - spread->mean : spread->mean - value;
	htbs_fade(&spread->mean, value, spread->count);
	htbs_fade(&spread->deviation, error, spread->count);
}

/* Returns the deviation as a part of the mean, in units of 1/1024. */
static u64 htbs_spread_part(const struct htbs_spread *spread)
{
	return div64_u64(spread->deviation << 10, spread->mean + 1);
}

/**
 * htbs_reach_own_rate() - whether requests of a pool arrive at a rate of their own
 * @reach: the state of the pool
 *
 * Rate and number in flight vary alike if arrivals are random and the device is steady. So the
 * number counts as constant if it varies by no more than three quarters of what the rate does.
 *
 * Return: true if they do; false if they do not, or if that is not known yet.
 */
bool htbs_reach_own_rate(const struct htbs_reach *reach)
{
	return reach->gap.count >= HTBS_REACH_MEANS / 2 &&
	       4 * htbs_spread_part(&reach->number) > 3 * htbs_spread_part(&reach->gap);
}

/*
 * Learn the shortest mean. After several means with the limits at their minimum, none of which was
 * shorter than all before, the shortest one counts as known.
 */
static void htbs_reach_learn_shortest(struct htbs_reach *reach, u64 mean, u64 before, bool least)
{
	htbs_fastest_learn(&reach->times, reach->since, mean);
	/* By chance, a mean may be shorter than another one by a sixteenth. */
	if (mean < before - before / 16)
		reach->least = 0;
	else if (least && before && reach->least < HTBS_REACH_MEANS / 2)
		reach->least++;
}

/*
 * Returns true if a pool that had @part / 1024 of its bandwidth has too few requests in flight. Let
 * q be the part that it would have on an idle device. Then surplus may delay its requests by a
 * factor of up to 3/4 / q^4, so a pool that lacks little keeps most of its bandwidth. If q is less
 * than 3/4, the factor may be up to 1024.
 */
static bool htbs_reach_too_few(const struct htbs_reach *reach, u64 mean, u64 part)
{
	u64 delay = div64_u64(mean << 10, htbs_fastest_time(&reach->times) + 1);
	u64 alone = delay * part >> 10;

	/* @alone may be too small by a sixteenth by chance, and its fourth power by a quarter. */
	return reach->least == HTBS_REACH_MEANS / 2 && delay < 1 << 20 && alone < 1024 &&
	       (alone < 768 || alone * alone * alone * alone * delay < 3ULL << 48);
}

/**
 * htbs_reach_judge() - decide whether surplus recently kept a pool behind its pace
 * @reach: the state of the pool, which had requests
 * @pace: its pace
 * @least: the limits of surplus are at their minimum
 *
 * A pool that had its bandwidth falls behind no further, but surplus may have delayed it before.
 * The first mean says nothing. Nor does a mean that is shorter than all before, because those were
 * then measured on a loaded device.
 */
void htbs_reach_judge(struct htbs_reach *reach, const struct htbs_pace *pace, bool least)
{
	u64 mean = div64_u64(reach->took, reach->had.ops);
	u64 gap = div64_u64(reach->busy, reach->had.ops);
	u64 part = div64_u64(htbs_pace_span(pace, &reach->had), (reach->busy >> 10) + 1);
	u64 before = htbs_fastest_time(&reach->times);

	htbs_spread_learn(&reach->gap, gap);
	htbs_spread_learn(&reach->number, div64_u64(reach->took << 10, reach->busy + 1));
	htbs_reach_learn_shortest(reach, mean, before, least);
	reach->keeps_pace = part >= 1024;
	if (reach->keeps_pace || !before || mean < before)
		reach->unhindered = false;
	else if (htbs_reach_own_rate(reach))
		reach->unhindered = gap <= reach->gap.mean + 2 * reach->gap.deviation;
	else
		reach->unhindered = htbs_reach_too_few(reach, mean, part);
	reach->busy = 0;
	reach->took = 0;
	reach->had = (struct htbs_paced){ };
}
