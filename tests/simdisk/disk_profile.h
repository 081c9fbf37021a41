/* SPDX-License-Identifier: GPL-2.0 */
/* The parameters of a disk drive, and the drives there are. */
#ifndef SIMDISK_DISK_PROFILE_H
#define SIMDISK_DISK_PROFILE_H

#include <linux/types.h>

#define DISK_MAX_ZONES		32
#define DISK_MAX_SEGMENTS	64
#define DISK_MAX_DEPTH		256

/**
 * struct disk_profile - the parameters of a drive
 * @sectors: capacity, in sectors of 512 bytes
 * @rpm: revolutions per minute
 * @heads: tracks per cylinder
 * @zones: groups of cylinders of equal width
 * @outer_spt: sectors per track in the outermost zone
 * @inner_spt: sectors per track in the innermost zone
 * @head_switch_ns: time to change the head within a cylinder
 * @track_skew_ns: angle between the first sectors of neighbouring tracks, as a
 *	time; not below a head switch and a seek of one cylinder
 * @seek_short_ns: seek of d cylinders below @seek_knee:
 *	@seek_short_ns + @seek_sqrt_ns * sqrt(d)
 * @seek_sqrt_ns: see @seek_short_ns
 * @seek_knee: distance in cylinders from which a seek takes
 *	@seek_long_ns + @seek_cyl_ps * d / 1000
 * @seek_long_ns: see @seek_knee
 * @seek_cyl_ps: see @seek_knee
 * @write_settle_ns: what a seek takes longer before a write
 * @command_ns: controller time of a command before the mechanism reacts to it
 * @bus_kbps: rate between the drive's buffer and the host, 1000 bytes/s
 * @cache_kb: the drive's buffer, in KiB
 * @segments: number of equal segments the buffer is divided into
 * @depth: commands the drive takes at a time, from which it picks
 * @patience_ms: how long it passes over a command for others that are nearer
 * @age_permille: what a command gains on the others by waiting for a second, in
 *	milliseconds of positioning; 0: it has to wait for @patience_ms
 * @clean_writes: after so many scattered writes a shingled drive cleans; 0: it is
 *	none
 * @clean_ms: how long its mechanism cleans
 * @destage_ms: with a write cache: it destages after so long without a command, or when
 *	the cache is full; 0: at once and in order
 */
struct disk_profile {
	u64 sectors;
	u32 rpm;
	u32 heads;
	u32 zones;
	u32 outer_spt;
	u32 inner_spt;
	u32 head_switch_ns;
	u32 track_skew_ns;
	u32 seek_short_ns;
	u32 seek_sqrt_ns;
	u32 seek_knee;
	u32 seek_long_ns;
	u32 seek_cyl_ps;
	u32 write_settle_ns;
	u32 command_ns;
	u32 bus_kbps;
	u32 cache_kb;
	u32 segments;
	u32 depth;
	u32 patience_ms;
	u32 age_permille;
	u32 clean_writes;
	u32 clean_ms;
	u32 destage_ms;
};

extern const struct disk_profile disk_hd080hj;
extern const struct disk_profile disk_nearline;

const char *disk_check(const struct disk_profile *p);

#endif
