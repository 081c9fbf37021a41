// SPDX-License-Identifier: GPL-2.0
/*
 * Whether surplus is what a pool is behind its pace for.
 *
 * A pool that always has requests in flight falls behind its pace for one of three reasons. Its
 * requests take so long that it has too few of them in a second: then it helps to limit surplus.
 * Or it asks for less than it reserved, or for too few requests at a time: then it would be behind
 * on an idle device, too.
 *
 * By Little's law a pool with n requests in flight, each of which takes T, has n / T in a second.
 * If its requests arrive at a rate of their own, n / T stays while T changes, and n varies. If each
 * arrives as another one completes, as those of a reader with a fixed number at a time do, n stays
 * and the rate varies. So HTBS learns the mean and the deviation of both from one while to the
 * next. A pool of which the rate varies less than the number in flight asks for what it gets. That
 * is not so just when its rate has fallen: a reader may have come to its most requests at a time.
 *
 * A pool of which the number stays has p of its bandwidth, and would have p * T / T_0 if each
 * request took T_0, the shortest mean. If that is less than all of it, the pool asks for too few at
 * a time. T_0 is known once the limits are at their least and no mean is shorter any more: before,
 * others may have loaded the device all the time.
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

/* The deviation as a part of the mean, of 1024. */
static u64 htbs_spread_part(const struct htbs_spread *spread)
{
	return div64_u64(spread->deviation << 10, spread->mean + 1);
}

/**
 * htbs_reach_own_rate() - whether requests of a pool arrive at a rate of their own
 * @reach: that of the pool
 *
 * Both vary alike if arrivals are random and the device is steady. So the number in flight has to
 * vary by less than three quarters of what the rate does to count as one that stays.
 *
 * Return: true if they do; false if that is not known yet, too.
 */
bool htbs_reach_own_rate(const struct htbs_reach *reach)
{
	return reach->gap.count >= HTBS_REACH_MEANS / 2 &&
	       4 * htbs_spread_part(&reach->number) > 3 * htbs_spread_part(&reach->gap);
}

/*
 * Learn the shortest mean. The device is known to take no less after some means with the limits at
 * their least, of which none was shorter.
 */
static void htbs_reach_learn_shortest(struct htbs_reach *reach, u64 mean, u64 before, bool least)
{
	htbs_fastest_learn(&reach->times, reach->since, mean);
	/* Of two means the longer one is so by a sixteenth by chance. */
	if (mean < before - before / 16)
		reach->least = 0;
	else if (least && before && reach->least < HTBS_REACH_MEANS / 2)
		reach->least++;
}

/*
 * Whether a pool that had such a part of its bandwidth, of 1024, has too few requests at a time.
 * One that would have a part q of it alone may be delayed by a factor of up to 3/4 of 1 / q^4: what
 * lacks little keeps most. What lacks a quarter may be delayed up to 1024 times.
 */
static bool htbs_reach_too_few(const struct htbs_reach *reach, u64 mean, u64 part)
{
	u64 delay = div64_u64(mean << 10, htbs_fastest_time(&reach->times) + 1);
	u64 alone = delay * part >> 10;

	/* A part that is less by a sixteenth may be so by chance: its fourth power by a quarter. */
	return reach->least == HTBS_REACH_MEANS / 2 && delay < 1 << 20 && alone < 1024 &&
	       (alone < 768 || alone * alone * alone * alone * delay < 3ULL << 48);
}

/**
 * htbs_reach_judge() - whether surplus is what a pool was behind its pace for, of late
 * @reach: that of the pool, which had requests
 * @pace: its pace
 * @least: the limits of surplus are at their least
 *
 * A pool that had its bandwidth falls behind no further, but surplus may have delayed it before. A
 * first mean says nothing, nor does one that is shorter than all before: then these were of a
 * loaded device.
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
