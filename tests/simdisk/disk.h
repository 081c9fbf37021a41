/* SPDX-License-Identifier: GPL-2.0 */
/* Model of a disk drive: pure, see the top of disk.c. */
#ifndef SIMDISK_DISK_H
#define SIMDISK_DISK_H

#include "drive.h"

#define DISK_MAX_ZONES		32
#define DISK_MAX_SEGMENTS	64
#define DISK_WRITE_SLOTS	16
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
};

/* Cylinders of one recording density. */
struct disk_zone {
	u64 first_sector;
	u32 first_cyl;
	u32 spt;
};

/* Sectors [start, end) in a part of the buffer. */
struct disk_segment {
	u64 start;
	u64 end;
	u64 used;
};

/**
 * struct disk - a drive
 * @p: its profile
 * @write_cache: writes complete when they are in the buffer
 * @rev_ns: time of a revolution
 * @cyls: number of cylinders
 * @zone: from the outermost, where sector 0 is, to the innermost
 * @cyl: cylinder the heads are on
 * @head: head in use
 * @media_ns: when the mechanism is, or was, done with all it had to do so far
 * @ahead: segment the mechanism fills since the last read from the media
 * @ahead_limit: sector at which that ends
 * @seg: the buffer
 * @seg_sectors: size of one segment
 * @uses: counts uses of segments, for their order of last use
 * @slot_ns: when the last writes are on the media, a ring
 * @slot: oldest of @slot_ns
 * @write_end: sector behind the last write
 * @scattered: writes since the drive cleaned that did not go on there
 * @queue: commands to pick from, oldest first; beyond @depth they wait outside
 * @passing: reads from the buffer, decided
 * @busy_ns: when the command picked last is complete
 * @bus_ns: when the bus has moved what @passing reads
 */
struct disk {
	struct disk_profile p;
	bool write_cache;
	u32 rev_ns;
	u32 cyls;
	struct disk_zone zone[DISK_MAX_ZONES];
	u32 cyl;
	u32 head;
	u64 media_ns;
	struct disk_segment *ahead;
	u64 ahead_limit;
	struct disk_segment seg[DISK_MAX_SEGMENTS];
	u32 seg_sectors;
	u64 uses;
	u64 slot_ns[DISK_WRITE_SLOTS];
	u32 slot;
	u64 write_end;
	u32 scattered;
	struct drive_cmd *queue;
	struct drive_cmd *passing;
	u64 busy_ns;
	u64 bus_ns;
};

extern const struct disk_profile disk_hd080hj;
extern const struct disk_profile disk_nearline;

const char *disk_init(struct disk *d, const struct disk_profile *p, bool write_cache);
u64 disk_seek_ns(const struct disk *d, u32 distance);
void disk_submit(struct disk *d, struct drive_cmd *cmd);
struct drive_cmd *disk_decide(struct disk *d, u64 now);
u64 disk_wake(const struct disk *d);

#endif
