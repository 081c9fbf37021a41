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
 * What is left counts from the last read that the drive served alone: that one has waited for what
 * it had to. Else, where a write takes the drive less than is believed, what is left grows without
 * end, and reads seem to wait for a small part of it, whatever is written between them.
 *
 * With a full cache a drive takes a write once it has written another one to the medium.
 * So such a write tells what the drive takes for one, in its own order, and changes nothing
 * of what it has left.
 *
 * A second (HTBS_HORIZON) is the most that counts, as no choice looks further ahead.
 */
#include <linux/math64.h>

#include <htbs/core/destage.h>
#include <htbs/core/service.h>

/* A drive reads no more requests in a row ahead. */
#define HTBS_HITS_MOST		1024

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

/* How long the drive still takes for what it has to destage. */
static u64 htbs_destage_left(const struct htbs_destage *destage, u64 now)
{
	s64 time = destage->until - now;

	return destage->until && time > 0 ? time : 0;
}

/* One time, however long, says little: the drive may have had to spin up. */
static void htbs_destage_learn(u64 *position, u64 took)
{
	u64 most = 2 * *position + HTBS_MOMENT;

	if (most > HTBS_HORIZON)
		most = HTBS_HORIZON;
	if (took > most)
		took = most;
	*position += ((s64)took - (s64)*position) / HTBS_FADE;
}

/* What the drive takes to write one that it has in its cache to the medium. */
static u64 htbs_destage_one(const struct htbs_destage *destage, u64 transfer)
{
	if (destage->write && destage->write < destage->position)
		return transfer + destage->write;
	return transfer + destage->position;
}

/**
 * htbs_destage_write() - a write for which the drive has to position has completed
 * @destage: its cache
 * @since: when the drive began with it, real ns
 * @took: how long it took, ns
 * @transfer: how long the medium takes to transfer it, ns
 *
 * One that took long found the cache full: the drive took as long to write another one to
 * the medium, and has no more left than before.
 */
void htbs_destage_write(struct htbs_destage *destage, u64 since, u64 took, u64 transfer)
{
	u64 one = htbs_destage_one(destage, transfer), left;

	if (4 * took > one && took > transfer) {
		if (!destage->write)
			destage->write = destage->position;
		htbs_destage_learn(&destage->write, took - transfer);
		one = took < one ? took : one;
	}
	left = htbs_destage_left(destage, since) + one;
	destage->until = since + (left < HTBS_HORIZON ? left : HTBS_HORIZON);
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
 * htbs_destage_note_hit() - count a read that the drive seems to have had in its buffer
 * @destage: its cache
 * @took: how long the read took, but for its transfer, ns
 *
 * It took less than half of a positioning. If more do than a drive reads ahead, it does not
 * position for as long.
 *
 * Return: true if it seems so: such a read tells nothing.
 */
bool htbs_destage_note_hit(struct htbs_destage *destage, u64 took)
{
	if (2 * took >= destage->position)
		destage->hits = 0;
	else if (destage->hits < HTBS_HITS_MOST)
		destage->hits++;
	return destage->hits && destage->hits < HTBS_HITS_MOST;
}

/**
 * htbs_destage_read() - a read for which the drive has to position has completed
 * @destage: its cache
 * @since: when the drive began with it, real ns
 * @took: how long it took, but for its transfer, ns
 * @alone: no other request completed while the drive had it
 *
 * A read during which others complete does not tell what it waited. If the drive has less to
 * destage than one positioning it tells how long the drive positions, as a read's own differs
 * by as much.
 *
 * Return: how long it waited for what the drive destages, ns.
 */
u64 htbs_destage_read(struct htbs_destage *destage, u64 since, u64 took, bool alone)
{
	u64 waited = took > destage->position ? took - destage->position : 0;
	u64 all = htbs_destage_left(destage, since);
	u64 time = htbs_destage_time(destage, since);

	if (waited > time)
		waited = time;
	if (all < destage->position)
		htbs_destage_learn(&destage->position, took - waited);
	else if (alone)
		htbs_destage_learn_part(destage, all, took);
	if (alone)
		destage->until = 0;
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
	return htbs_destage_left(destage, now) * destage->part / HTBS_DESTAGE_ONE;
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
	return htbs_destage_one(destage, transfer) * destage->part / HTBS_DESTAGE_ONE;
}
