// SPDX-License-Identifier: GPL-2.0
/*
 * The disk drives there are: their numbers, with the source of each, and which
 * numbers the model in disk.c can do with.
 */
#include "disk_profile.h"

/*
 * Samsung SpinPoint P80 SD, HD080HJ: 80 GB, 7200 rpm, 8 MB buffer, Serial ATA
 * 3 Gb/s, no command queueing in the paper's set-up.
 *
 * The unit test checks that the seek curve and the rates that follow from these
 * numbers are the published and measured ones.
 */
const struct disk_profile disk_hd080hj = {
	/* Capacity of the drive, the industry's count for "80 GB". */
	.sectors = 156301488,
	/* Data sheet. */
	.rpm = 7200,
	/* One platter of 80 GB, both surfaces. */
	.heads = 2,
	/* Usual number for the time; not published. */
	.zones = 16,
	/*
	 * hdparm -t on this model: 59.7 MiB/s at the outer edge, which is
	 * outer_spt sectors per revolution and track skew. Drives of the family
	 * (HD753LJ, HD103UJ under HD Tune) read half as fast at the inner edge.
	 */
	.outer_spt = 1123,
	.inner_spt = 562,
	/*
	 * Not published. At this track density a head switch is a seek to the
	 * nearest track, settling dominates both (Schlosser et al., "On
	 * multidimensional data and modern disks", FAST 2005).
	 */
	.head_switch_ns = 800000,
	/* Head switch and a margin of 50 us. */
	.track_skew_ns = 850000,
	/*
	 * Data sheet: track to track 0.8 ms, average 8.9 ms. Full stroke: twice
	 * the average, 18 ms, as usual in the class. With a knee without a kink
	 * these three give the curve.
	 */
	.seek_short_ns = 751192,
	.seek_sqrt_ns = 48808,
	.seek_knee = 30287,
	.seek_long_ns = 4998253,
	.seek_cyl_ps = 140227,
	/* Hitachi 7K1000.C manual: average 8.5 ms to read, 9.5 ms to write. */
	.write_settle_ns = 1000000,
	/*
	 * FreeBSD's diskinfo measures 146 us per sequential one-sector read on a
	 * drive of the time (Hitachi HDS728080); less the host's part.
	 */
	.command_ns = 120000,
	/* Burst rate of a sister drive (HD753LJ) on a 3 Gb/s link, HD Tune. */
	.bus_kbps = 190000,
	/*
	 * Data sheet; the number of segments is not published. With 16, waiting
	 * for seven sequential readers gains 14 % (bfq over mq-deadline; 44 %
	 * with low_latency=0). The paper gained about 25 % on the real drive; 32
	 * segments would make it 40 % and 100 %.
	 */
	.cache_kb = 8192,
	.segments = 16,
	/* No command queueing in the paper's set-up. */
	.depth = 1,
};

/*
 * A nearline drive of 18 TB: nine platters, 7200 rpm, conventional recording,
 * 256 MB buffer, Serial ATA 6 Gb/s. Capacity and rates are those of the Seagate
 * Exos X18; where its data sheet is silent, times are from manuals of the
 * Ultrastar family (Hitachi, HGST, Western Digital).
 *
 * The unit test checks that it reads as fast as the Exos is said to, sequentially
 * and at random: 270 MB/s, 170 IOPS at depth 16.
 */
const struct disk_profile disk_nearline = {
	/* The industry's count for 18 TB. */
	.sectors = 35156656128ULL,
	/* Exos X18. */
	.rpm = 7200,
	/* Exos X18: nine discs, 18 heads. */
	.heads = 18,
	/* Not published. */
	.zones = 32,
	/*
	 * Exos X18: 270 MB/s at the outer edge, which is outer_spt sectors per
	 * revolution and track skew. Half of it inside, as in the older drives.
	 */
	.outer_spt = 4548,
	.inner_spt = 2274,
	/* Ultrastar DC HC310: 0.23 ms to the next track; a head switch is one. */
	.head_switch_ns = 230000,
	/* Head switch and a margin of 50 us. */
	.track_skew_ns = 280000,
	/*
	 * Single track 0.23 ms (Ultrastar DC HC310), average 8.5 ms (Hitachi
	 * 7K1000.C; 7.4 to 8.2 ms for Ultrastars with fewer platters). Full
	 * stroke: twice the average.
	 */
	.seek_short_ns = 209684,
	.seek_sqrt_ns = 20316,
	.seek_knee = 244123,
	.seek_long_ns = 5228754,
	.seek_cyl_ps = 20560,
	/* Hitachi 7K1000.C: average 8.5 ms to read, 9.5 ms to write. */
	.write_settle_ns = 1000000,
	/* Not published. */
	.command_ns = 50000,
	/* What 6 Gb/s leave for data, less the frames' overhead. */
	.bus_kbps = 550000,
	/* Exos X18; the number of segments is not published. */
	.cache_kb = 262144,
	.segments = 64,
	/* Serial ATA: 32 tags. */
	.depth = 32,
	/*
	 * Not published. Drives do bound it: Yu et al., "NCQ vs. I/O scheduler",
	 * ACM Transactions on Storage 6(1), 2010, see requests starve in the drive,
	 * but not for ever. A random load of depth 32 hardly ever waits so long.
	 */
	.patience_ms = 1000,
};

/**
 * disk_check() - check a profile
 * @p: the profile
 *
 * The skew is left to disk_init(), which knows how long a seek takes.
 *
 * Return: NULL, or what is wrong with it and how to mend it.
 */
const char *disk_check(const struct disk_profile *p)
{
	if (!p->rpm || p->rpm > 100000)
		return "rpm: must be 1 to 100000";
	if (!p->heads || p->heads > 64)
		return "heads: must be 1 to 64";
	if (!p->zones || p->zones > DISK_MAX_ZONES)
		return "zones: must be 1 to 32";
	if (!p->inner_spt || p->inner_spt > p->outer_spt || p->outer_spt > 100000)
		return "inner_spt, outer_spt: must be 1 to 100000, inner not above outer";
	if (!p->bus_kbps)
		return "bus_kbps: must not be 0";
	if (!p->segments || p->segments > DISK_MAX_SEGMENTS)
		return "segments: must be 1 to 64";
	if (p->cache_kb > 1048576 || p->cache_kb * 2 < p->segments)
		return "cache_kb: must be up to 1048576 and give each segment a sector";
	if (!p->depth || p->depth > DISK_MAX_DEPTH)
		return "depth: must be 1 to 256";
	if (p->age_permille > 100000)
		return "age_permille: must be 0 to 100000";
	return NULL;
}
