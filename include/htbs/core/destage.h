/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Destaging: what a drive has in its write cache, and has yet to write to the medium.
 */
#ifndef HTBS_CORE_DESTAGE_H
#define HTBS_CORE_DESTAGE_H

#include <linux/types.h>

/**
 * struct htbs_destage - the writes in the cache of a drive that seeks
 * @took: what the drive takes to complete a write for which it has to position; mean, ns
 * @until: when all that it has completed is on the medium, real ns; 0: it has completed none
 */
struct htbs_destage {
	u64 took;
	u64 until;
};

bool htbs_destage_write(struct htbs_destage *destage, u64 since, u64 took,
			u64 position);

/**
 * htbs_destage_time() - how long the drive destages
 * @destage: its cache
 * @now: real time, ns
 *
 * Return: ns.
 */
static inline u64 htbs_destage_time(const struct htbs_destage *destage, u64 now)
{
	s64 time = destage->until - now;

	return destage->until && time > 0 ? time : 0;
}

#endif /* HTBS_CORE_DESTAGE_H */
