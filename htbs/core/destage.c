// SPDX-License-Identifier: GPL-2.0
/*
 * Destaging: what a drive has in its write cache, and has yet to write to the medium.
 *
 * A write into a cache completes at once, but the drive positions for it later, and a
 * read may have to wait meanwhile. How long, only reads tell: a read that begins while
 * there are writes to destage takes longer. How much longer is learned as a part of what
 * the drive still had to do if it positions for each write, one after another. That part is
 * near 1 if a drive destages at once and in order. It is near 0 without a cache, as the
 * writes are on the medium when they complete; if the drive lets reads go before; and for an
 * array with a cache that is not volatile. Until reads have told it is taken for 1.
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

/* No read is expected to wait for longer than reads have told. */
static void htbs_destage_bound(struct htbs_destage *destage, u64 since)
{
	u64 most = htbs_destage_left(destage->all_until, since) * destage->part /
		   HTBS_DESTAGE_ONE;

	if (htbs_destage_left(destage->until, since) > most)
		destage->until = since + most;
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
	htbs_destage_add(&destage->until, since, htbs_destage_cost(destage, transfer));
	htbs_destage_bound(destage, since);
}

/* One time, however long, says little: the drive may have had to spin up. */
static void htbs_destage_learn_position(struct htbs_destage *destage, u64 took)
{
	u64 most = 2 * destage->position + HTBS_MOMENT;

	if (most > HTBS_HORIZON)
		most = HTBS_HORIZON;
	if (took > most)
		took = most;
	destage->position += ((s64)took - (s64)destage->position) / HTBS_FADE;
}

/* What a read waited is no less than nothing, but in the mean of them: so that is signed. */
static void htbs_destage_learn_part(struct htbs_destage *destage, u64 all, u64 took)
{
	s64 waited = took - destage->position;

	destage->owed += all - destage->owed / HTBS_FADE;
	destage->waited += (waited < (s64)all ? waited : (s64)all) -
			   destage->waited / HTBS_FADE;
	destage->part = 0;
	if (destage->waited > 0)
		destage->part = div64_u64(destage->waited * HTBS_DESTAGE_ONE, destage->owed);
	if (destage->part > HTBS_DESTAGE_ONE)
		destage->part = HTBS_DESTAGE_ONE;
}

/**
 * htbs_destage_read() - a read for which the drive has to position has completed
 * @destage: its cache
 * @since: when the drive began with it, real ns
 * @took: how long it took, but for its transfer, ns
 * @alone: no other request completed while the drive had it
 *
 * A read during which others complete does not tell what it waited. Nor does one of a
 * drive that has less to destage than one positioning: a read's own differs by as much.
 *
 * Return: how long it waited for what the drive destages, ns.
 */
u64 htbs_destage_read(struct htbs_destage *destage, u64 since, u64 took, bool alone)
{
	u64 waited = took > destage->position ? took - destage->position : 0;
	u64 all = htbs_destage_left(destage->all_until, since);
	u64 time = htbs_destage_time(destage, since);

	if (waited > time)
		waited = time;
	if (alone && all && all >= destage->position) {
		htbs_destage_learn_part(destage, all, took);
		htbs_destage_bound(destage, since);
	}
	htbs_destage_learn_position(destage, took - waited);
	return waited;
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
 * @transfer: how long the medium takes to transfer it, ns
 *
 * Return: ns.
 */
u64 htbs_destage_cost(const struct htbs_destage *destage, u64 transfer)
{
	return (destage->position + transfer) * destage->part / HTBS_DESTAGE_ONE;
}
