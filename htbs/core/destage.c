// SPDX-License-Identifier: GPL-2.0
/*
 * Destaging: what a drive has in its write cache, and has yet to write to the medium.
 *
 * A write into a cache completes at once, but the drive positions for it later, and a
 * read waits meanwhile. So a drive that completes writes in less than half of the time
 * for which it positions, in the mean, is taken for one that caches them: it is busy for
 * one positioning more with each of them, but no longer than HTBS_HORIZON, as no choice
 * looks further ahead.
 *
 * A drive may destage in a better order, or later than it reads. Then a read takes less
 * time after these writes than it would, the mean of positionings falls, and with it what
 * a cached write counts.
 */
#include <htbs/core/destage.h>
#include <htbs/core/service.h>

/**
 * htbs_destage_write() - a write for which the drive has to position has completed
 * @destage: its cache
 * @since: when the drive began with it, real ns
 * @took: how long it took, ns
 * @position: for how long the drive positions, mean, ns
 *
 * Until a drive has completed some it is taken for one with a cache. That changes
 * nothing if it has none, as the time that a write counts is over when it completes.
 *
 * Return: true if it is in the cache.
 */
bool htbs_destage_write(struct htbs_destage *destage, u64 since, u64 took,
			u64 position)
{
	u64 time = htbs_destage_time(destage, since) + position;

	destage->took = ((HTBS_FADE - 1) * destage->took + took) / HTBS_FADE;
	if (2 * destage->took >= position)
		return false;
	destage->until = since + (time < HTBS_HORIZON ? time : HTBS_HORIZON);
	return true;
}
