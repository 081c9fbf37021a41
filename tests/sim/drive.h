/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated drive, as the simulation uses it: commands have numbers below
 * SIM_COMMANDS; all else is as in tests/simdisk/drive.h.
 */
#ifndef HTBS_SIM_DRIVE_H
#define HTBS_SIM_DRIVE_H

#include <linux/types.h>

#define SIM_COMMANDS	1024

/* Mirrored in sim.py. */
enum sim_drive {
	SIM_HD080HJ,
	SIM_NEARLINE,
	SIM_TLC,
	SIM_PLAIN,
	SIM_DRAWN,
	SIM_DRAWN_FLASH,
};

/**
 * struct sim_plain - a plain drive: each command takes a random time
 * @depth: commands it takes at a time
 * @least: the shortest time, ns
 * @most: the longest time, ns
 * @each: at most one command in so long, ns, as of a volume that is sold by operations a second
 * @kib: and KiB at most one in so long, ns
 * @burst: for so long it may have saved up commands, ns
 * @slower: how many times as long each takes from @slow_at to @fast_at, ns; 0: as long
 */
struct sim_plain {
	u32 depth;
	u64 least;
	u64 most;
	u64 each;
	u64 kib;
	u64 burst;
	u64 slower;
	u64 slow_at;
	u64 fast_at;
};

/**
 * struct sim_host - what is between the scheduler and a drive that was drawn
 * @tags: commands that the driver takes; 0: what the drive does
 * @write_cache: a disk completes writes in its buffer
 * @jitter_ns: see tests/simdisk/jitter.h, like the next two
 * @tail_ns: see there
 * @tail_one_in: see there
 */
struct sim_host {
	u32 tags;
	u32 write_cache;
	u32 jitter_ns;
	u32 tail_ns;
	u32 tail_one_in;
};

void sim_drive_host(const struct sim_host *of);
const char *sim_drive_profile(const void *profile, u32 size);
const char *sim_drive_flash_profile(const void *profile, u32 size);
void sim_drive_reset(enum sim_drive kind, const struct sim_plain *of);
u64 sim_drive_sectors(void);
u32 sim_drive_depth(void);
void sim_drive_submit(u32 nr, u64 now, bool write, u64 sector, u32 sectors);
bool sim_drive_decide(u64 now, u32 *nr, u64 *done);
u64 sim_drive_wake(void);

#endif /* HTBS_SIM_DRIVE_H */
