/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Destaging: what a drive has in its write cache, and has yet to write to the medium.
 */
#ifndef HTBS_CORE_DESTAGE_H
#define HTBS_CORE_DESTAGE_H

#include <linux/types.h>

/* The unit of the part of destaging that reads wait for. */
#define HTBS_DESTAGE_ONE	1024

/**
 * struct htbs_destage - the writes in the cache of a drive that seeks
 * @until: when all are on the medium if the drive writes one after another, real ns; 0: nothing
 *	is left that reads have not waited for
 * @position: for how long it positions for a read; mean, ns
 * @write: the same for a write, of those that found the cache full, ns; 0: none did
 * @owed: what was left until @until when reads began, summed and fading, ns; 0: no read
 *	has told how long it waited
 * @waited: how much longer than @position these took, summed and fading, ns
 * @part: @waited / @owed, in units of 1/HTBS_DESTAGE_ONE
 * @hits: reads in a row that the drive seems to have had in its buffer
 */
struct htbs_destage {
	u64 until;
	u64 position;
	u64 write;
	u64 owed;
	s64 waited;
	u32 part;
	u32 hits;
};

void htbs_destage_init(struct htbs_destage *destage, u64 position);
void htbs_destage_write(struct htbs_destage *destage, u64 since, u64 took, u64 transfer);
bool htbs_destage_note_hit(struct htbs_destage *destage, u64 took);
u64 htbs_destage_read(struct htbs_destage *destage, u64 since, u64 took, bool alone);
u64 htbs_destage_time(const struct htbs_destage *destage, u64 now);
u64 htbs_destage_cost(const struct htbs_destage *destage, u64 transfer);

/**
 * htbs_destage_is_known() - whether reads have told how long they wait
 * @destage: the cache of their drive
 *
 * Return: true if they have.
 */
static inline bool htbs_destage_is_known(const struct htbs_destage *destage)
{
	return destage->owed;
}

#endif /* HTBS_CORE_DESTAGE_H */
