/* SPDX-License-Identifier: GPL-2.0 */
/* Model of a flash drive: pure, see the tops of flash.c and blocks.c. */
#ifndef SIMDISK_FLASH_H
#define SIMDISK_FLASH_H

#include "drive.h"

#define FLASH_MAX_DIES		32

/**
 * struct flash_profile - the parameters of a drive
 * @size_mb: capacity for the host, in MiB
 * @spare_permille: how much more flash there is
 * @dies: number of dies
 * @page_kb: what a die reads or programs at a time, in KiB
 * @block_pages: pages that are erased together
 * @read_ns: from the cells of a page to the die's register
 * @program_ns: from the register to the cells
 * @erase_ns: of a block
 * @channel_kbps: rate between a die and the controller, 1000 bytes/s
 * @link_kbps: rate between controller and host, 1000 bytes/s
 * @controller_ns: time of a command before anything moves
 * @buffer_ns: what a write to the buffer takes longer
 * @buffer_kb: the write buffer, in KiB
 * @read_run: reads that a die serves before a program that waits
 * @suspend_ns: to stop an erasure for a read; 0: the drive does not
 */
struct flash_profile {
	u32 size_mb;
	u32 spare_permille;
	u32 dies;
	u32 page_kb;
	u32 block_pages;
	u32 read_ns;
	u32 program_ns;
	u32 erase_ns;
	u32 channel_kbps;
	u32 link_kbps;
	u32 controller_ns;
	u32 buffer_ns;
	u32 buffer_kb;
	u32 read_run;
	u32 suspend_ns;
};

/**
 * struct flash_die - a die
 * @free_ns: when it is done with all that it was given
 * @program_ns: when the last program from the buffer is, or was, done
 * @program_slots: slots of the buffer that are free then
 * @reads: reads since programs wait
 * @erased_ns: when the last erasure is, or was, done
 * @reads_ns: when the reads are done for which it is suspended
 * @suspended: how many they are
 * @copies: pages that garbage collection owes
 * @erase: the victim is to be erased
 * @debt: fraction of a copy owed, in parts of what the victim gains
 * @open: block being written
 * @next: first slot of it not written
 * @erased: blocks free to write
 * @victim: block being collected
 * @scan: first slot of it not looked at
 * @cost: pages of data it had when it was chosen
 * @valid: slots that hold data
 */
struct flash_die {
	u64 free_ns;
	u64 program_ns;
	u32 program_slots;
	u32 reads;
	u64 erased_ns;
	u64 reads_ns;
	u32 suspended;
	u32 copies;
	bool erase;
	u32 debt;
	u32 open;
	u32 next;
	u32 erased;
	u32 victim;
	u32 scan;
	u32 cost;
	u32 valid;
};

/**
 * struct flash - a drive, followed by its tables
 * @p: its profile
 * @blocks: blocks of a die
 * @page_slots: slots of a page
 * @block_slots: slots of a block
 * @slots: slots that the host has
 * @where: of each of the host's slots, the slot of flash that holds it
 * @origin: of each slot of flash, the host's that was written there
 * @valid: of each block, slots that hold data
 * @ring: slots of the host in the buffer, from @ring_first on
 * @ring_size: slots of the buffer
 * @ring_first: the oldest
 * @ring_used: their number
 * @held: slots of the buffer in use: @ring_used and those being programmed
 * @filled_ns: when the buffer got data last
 * @total_valid: slots of flash that hold data
 * @now: time of the last decision
 * @link_ns: when the link has moved all it has to
 * @decided: commands whose completion is known
 * @writes: writes that wait for the buffer, oldest first
 * @last_write: the youngest of them
 * @taken: slots of the first of them that the buffer has taken
 * @host_pages: pages programmed for the host
 * @gc_pages: pages programmed for garbage collection
 * @die: the dies
 */
struct flash {
	struct flash_profile p;
	u32 blocks;
	u32 page_slots;
	u32 block_slots;
	u32 slots;
	u32 *where;
	u32 *origin;
	u32 *valid;
	u32 *ring;
	u32 ring_size;
	u32 ring_first;
	u32 ring_used;
	u32 held;
	u64 filled_ns;
	u64 total_valid;
	u64 now;
	u64 link_ns;
	struct drive_cmd *decided;
	struct drive_cmd *writes;
	struct drive_cmd *last_write;
	u32 taken;
	u64 host_pages;
	u64 gc_pages;
	struct flash_die die[FLASH_MAX_DIES];
};

extern const struct flash_profile flash_tlc;

const char *flash_check(const struct flash_profile *p);
size_t flash_size(const struct flash_profile *p);
void flash_init(struct flash *f, const struct flash_profile *p, bool precondition);
void flash_submit(struct flash *f, struct drive_cmd *cmd);
struct drive_cmd *flash_decide(struct flash *f, u64 now);
u64 flash_wake(const struct flash *f);

#endif
