/* SPDX-License-Identifier: GPL-2.0 */
/* Model of a disk drive: pure, see the top of disk.c. */
#ifndef SIMDISK_DISK_H
#define SIMDISK_DISK_H

#include "disk_profile.h"
#include "drive.h"

#define DISK_WRITE_SLOTS	16
#define DISK_LAZY_WRITES	64

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

/* Sectors in the write cache. */
struct disk_extent {
	u64 sector;
	u32 nr;
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
 * @lazy: with destage_ms, what is in the write cache
 * @lazy_writes: entries of @lazy
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
	struct disk_extent lazy[DISK_LAZY_WRITES];
	u32 lazy_writes;
	u64 write_end;
	u32 scattered;
	struct drive_cmd *queue;
	struct drive_cmd *passing;
	u64 busy_ns;
	u64 bus_ns;
};

const char *disk_init(struct disk *d, const struct disk_profile *p, bool write_cache);
u64 disk_seek_ns(const struct disk *d, u32 distance);
void disk_submit(struct disk *d, struct drive_cmd *cmd);
struct drive_cmd *disk_decide(struct disk *d, u64 now);
u64 disk_wake(const struct disk *d);

#endif
