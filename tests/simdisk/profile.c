// SPDX-License-Identifier: GPL-2.0
/*
 * The kinds of drives there are, and their numbers as module parameters. A
 * number that is not given is the profile's.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "disk.h"
#include "flash.h"
#include "simdisk.h"

/* The numbers of a profile, or UINT_MAX for those that are not given. */
#define GIVEN(type)						\
	union {							\
		struct type p;					\
		u32 field[sizeof(struct type) / sizeof(u32)];	\
	}
#define NOTHING(type) { .field = { [0 ... sizeof(struct type) / sizeof(u32) - 1] = UINT_MAX } }

static GIVEN(disk_profile) disk = NOTHING(disk_profile);
static GIVEN(flash_profile) flash = NOTHING(flash_profile);
static bool precondition = true;

/* Explained in disk_profile.h. */
module_param_named(sectors, disk.p.sectors, ullong, 0444);
module_param_named(rpm, disk.p.rpm, uint, 0444);
module_param_named(heads, disk.p.heads, uint, 0444);
module_param_named(zones, disk.p.zones, uint, 0444);
module_param_named(outer_spt, disk.p.outer_spt, uint, 0444);
module_param_named(inner_spt, disk.p.inner_spt, uint, 0444);
module_param_named(head_switch_ns, disk.p.head_switch_ns, uint, 0444);
module_param_named(track_skew_ns, disk.p.track_skew_ns, uint, 0444);
module_param_named(seek_short_ns, disk.p.seek_short_ns, uint, 0444);
module_param_named(seek_sqrt_ns, disk.p.seek_sqrt_ns, uint, 0444);
module_param_named(seek_knee, disk.p.seek_knee, uint, 0444);
module_param_named(seek_long_ns, disk.p.seek_long_ns, uint, 0444);
module_param_named(seek_cyl_ps, disk.p.seek_cyl_ps, uint, 0444);
module_param_named(write_settle_ns, disk.p.write_settle_ns, uint, 0444);
module_param_named(command_ns, disk.p.command_ns, uint, 0444);
module_param_named(bus_kbps, disk.p.bus_kbps, uint, 0444);
module_param_named(cache_kb, disk.p.cache_kb, uint, 0444);
module_param_named(segments, disk.p.segments, uint, 0444);
module_param_named(depth, disk.p.depth, uint, 0444);
module_param_named(patience_ms, disk.p.patience_ms, uint, 0444);
module_param_named(age_permille, disk.p.age_permille, uint, 0444);
module_param_named(clean_writes, disk.p.clean_writes, uint, 0444);
module_param_named(clean_ms, disk.p.clean_ms, uint, 0444);
module_param_named(destage_ms, disk.p.destage_ms, uint, 0444);

/* Explained in flash.h. */
module_param_named(spare_permille, flash.p.spare_permille, uint, 0444);
module_param_named(dies, flash.p.dies, uint, 0444);
module_param_named(page_kb, flash.p.page_kb, uint, 0444);
module_param_named(block_pages, flash.p.block_pages, uint, 0444);
module_param_named(read_ns, flash.p.read_ns, uint, 0444);
module_param_named(program_ns, flash.p.program_ns, uint, 0444);
module_param_named(erase_ns, flash.p.erase_ns, uint, 0444);
module_param_named(channel_kbps, flash.p.channel_kbps, uint, 0444);
module_param_named(link_kbps, flash.p.link_kbps, uint, 0444);
module_param_named(controller_ns, flash.p.controller_ns, uint, 0444);
module_param_named(buffer_ns, flash.p.buffer_ns, uint, 0444);
module_param_named(buffer_kb, flash.p.buffer_kb, uint, 0444);
module_param_named(read_run, flash.p.read_run, uint, 0444);
module_param_named(suspend_ns, flash.p.suspend_ns, uint, 0444);
module_param(precondition, bool, 0444);
MODULE_PARM_DESC(precondition, "Flash in the state after random writes, else new (1)");

static void fill(u32 *given, const void *profile, size_t size)
{
	const u32 *field = profile;
	size_t i;

	for (i = 0; i < size / sizeof(u32); i++)
		if (given[i] == UINT_MAX)
			given[i] = field[i];
}

static void *drive_create_disk(const struct disk_profile *profile, unsigned int size_mb,
			       bool write_cache, u64 *sectors)
{
	struct disk *d;
	const char *wrong;

	fill(disk.field, profile, sizeof(disk));
	if (size_mb > disk.p.sectors >> (20 - SECTOR_SHIFT)) {
		pr_err("simdisk: size_mb: must not be above the profile's %llu\n",
		       disk.p.sectors >> (20 - SECTOR_SHIFT));
		return ERR_PTR(-EINVAL);
	}
	*sectors = size_mb ? (u64)size_mb << (20 - SECTOR_SHIFT) : disk.p.sectors;
	d = vmalloc(sizeof(*d));
	if (!d)
		return ERR_PTR(-ENOMEM);
	wrong = disk_init(d, &disk.p, write_cache);
	if (!wrong)
		return d;
	pr_err("simdisk: %s\n", wrong);
	vfree(d);
	return ERR_PTR(-EINVAL);
}

static void *create_hd080hj(unsigned int size_mb, bool write_cache, u64 *sectors)
{
	return drive_create_disk(&disk_hd080hj, size_mb, write_cache, sectors);
}

static void *create_nearline(unsigned int size_mb, bool write_cache, u64 *sectors)
{
	return drive_create_disk(&disk_nearline, size_mb, write_cache, sectors);
}

static void *create_tlc(unsigned int size_mb, bool write_cache, u64 *sectors)
{
	const char *wrong;
	struct flash *f;

	fill(flash.field, &flash_tlc, sizeof(flash));
	if (size_mb)
		flash.p.size_mb = size_mb;
	wrong = flash_check(&flash.p);
	if (wrong) {
		pr_err("simdisk: %s\n", wrong);
		return ERR_PTR(-EINVAL);
	}
	*sectors = (u64)flash.p.size_mb << (20 - SECTOR_SHIFT);
	f = vmalloc(flash_size(&flash.p));
	if (!f)
		return ERR_PTR(-ENOMEM);
	flash_init(f, &flash.p, precondition);
	return f;
}

static void submit_disk(void *drive, struct drive_cmd *cmd)
{
	disk_submit(drive, cmd);
}

static struct drive_cmd *decide_disk(void *drive, u64 now)
{
	return disk_decide(drive, now);
}

static u64 wake_disk(void *drive)
{
	return disk_wake(drive);
}

static void submit_flash(void *drive, struct drive_cmd *cmd)
{
	flash_submit(drive, cmd);
}

static struct drive_cmd *decide_flash(void *drive, u64 now)
{
	return flash_decide(drive, now);
}

static u64 wake_flash(void *drive)
{
	return flash_wake(drive);
}

#define DISK				\
	.rotational = true,		\
	.hw_queues = 1,			\
	.tags = 32,			\
	.discard_ranges = 8,		\
	.budget = &disk.p.depth,	\
	.submit = submit_disk,		\
	.decide = decide_disk,		\
	.wake = wake_disk

/* A discard of several ranges would say only where the first one begins. */
#define FLASH				\
	.hw_queues = 4,			\
	.tags = 1024,			\
	.discard_ranges = 1,		\
	.submit = submit_flash,		\
	.decide = decide_flash,		\
	.wake = wake_flash

static const struct simdisk_profile profiles[] = {
	{ .name = "hd080hj", .create = create_hd080hj, DISK },
	{ .name = "nearline", .create = create_nearline, DISK },
	{ .name = "tlc", .create = create_tlc, FLASH },
};

/**
 * profile_find() - look a profile up
 * @name: its name
 *
 * Return: the profile, or NULL, explained in the kernel's log.
 */
const struct simdisk_profile *profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	pr_err("simdisk: profile: must be hd080hj, nearline or tlc\n");
	return NULL;
}
