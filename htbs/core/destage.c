// SPDX-License-Identifier: GPL-2.0
/*
 * Destaging: what a drive has in its write cache, and has yet to write to the medium.
 *
 * A write into a cache completes at once, but the drive positions for it later, and a
 * read may have to wait meanwhile. How long is seen from reads only. Those that begin when
 * the drive has nothing to destage tell for how long it positions. The others tell how
 * much longer they took, as a part of what the drive still had to do if it positions for
 * each write, one after another. All of that is waited for at a drive that destages at once
 * and in order. Nothing is at one without a cache, as its writes are on the medium when they
 * complete; at one that lets reads go before; and at an array with a cache that is not
 * volatile. Until reads have told, they are expected to wait for all of it.
 *
 * A second (HTBS_HORIZON) is the most that counts, as no choice looks further ahead.
 */
#include <linux/math64.h>

#include <htbs/core/destage.h>
#include <htbs/core/service.h>

/**
 * htbs_destage_init() - nothing is known of the drive
 * @destage: its cache
 * @position: for how long it is believed to position, ns
 */
void htbs_destage_init(struct htbs_destage *destage, u64 position)
{
	*destage = (struct htbs_destage){
		.position	= position,
		.part		= HTBS_DESTAGE_ONE,
	};
}

static u64 htbs_destage_left(u64 until, u64 now)
{
	s64 time = until - now;

	return until && time > 0 ? time : 0;
}

/* There is one write more to destage. */
static void htbs_destage_add(u64 *until, u64 since, u64 takes)
{
	u64 time = htbs_destage_left(*until, since) + takes;

	*until = since + (time < HTBS_HORIZON ? time : HTBS_HORIZON);
}

/**
 * htbs_destage_write() - a write for which the drive has to position has completed
 * @destage: its cache
 * @since: when the drive began with it, real ns
 * @transfer: how long the medium takes to transfer it, ns
 */
void htbs_destage_write(struct htbs_destage *destage, u64 since, u64 transfer)
{
	htbs_destage_add(&destage->all_until, since, destage->position + transfer);
	htbs_destage_add(&destage->until, since, htbs_destage_cost(destage));
}

/* One time, however long, says little: the drive may have had to spin up. */
static void htbs_destage_learn_position(struct htbs_destage *destage, u64 took)
{
	u64 most = 2 * destage->position + HTBS_MOMENT;

	if (took > most)
		took = most;
	destage->position += ((s64)took - (s64)destage->position) / HTBS_FADE;
}

/**
 * htbs_destage_read() - a read for which the drive has to position has completed
 * @destage: its cache
 * @since: when the drive began with it, real ns
 * @took: how long it took, but for its transfer, ns
 *
 * A drive that has less to destage than one positioning tells too little: a read's own
 * differs by as much.
 *
 * Return: how long it waited for what the drive destages, ns.
 */
u64 htbs_destage_read(struct htbs_destage *destage, u64 since, u64 took)
{
	u64 waited = took > destage->position ? took - destage->position : 0;
	u64 all = htbs_destage_left(destage->all_until, since);
	u64 time = htbs_destage_time(destage, since);

	if (!all) {
		htbs_destage_learn_position(destage, took);
	} else if (all >= destage->position) {
		destage->owed += all - destage->owed / HTBS_FADE;
		destage->waited += (waited < all ? waited : all) -
				   destage->waited / HTBS_FADE;
		destage->part = div64_u64(destage->waited * HTBS_DESTAGE_ONE,
					  destage->owed);
	}
	return waited < time ? waited : time;
}

/**
 * htbs_destage_time() - how long a read would wait for what the drive destages
 * @destage: its cache
 * @now: real time, ns
 *
 * Return: ns.
 */
u64 htbs_destage_time(const struct htbs_destage *destage, u64 now)
{
	return htbs_destage_left(destage->until, now);
}

/**
 * htbs_destage_cost() - how long a read would wait for one write more
 * @destage: the cache of its drive
 *
 * Return: ns.
 */
u64 htbs_destage_cost(const struct htbs_destage *destage)
{
	return destage->position * destage->part / HTBS_DESTAGE_ONE;
}
