// SPDX-License-Identifier: GPL-2.0
/*
 * The kinds of drives there are, and their numbers as module parameters. A
 * number that is not given is the profile's.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "disk.h"
#include "simdisk.h"

/* The numbers of a profile, or UINT_MAX for those that are not given. */
#define GIVEN(type)						\
	union {							\
		struct type p;					\
		u32 field[sizeof(struct type) / sizeof(u32)];	\
	}
#define NOTHING(type) { .field = { [0 ... sizeof(struct type) / sizeof(u32) - 1] = UINT_MAX } }

static GIVEN(disk_profile) disk = NOTHING(disk_profile);

/* Explained in disk.h. */
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

#define DISK				\
	.rotational = true,		\
	.hw_queues = 1,			\
	.tags = 32,			\
	.budget = &disk.p.depth,	\
	.submit = submit_disk,		\
	.decide = decide_disk,		\
	.wake = wake_disk

static const struct simdisk_profile profiles[] = {
	{ .name = "hd080hj", .create = create_hd080hj, DISK },
	{ .name = "nearline", .create = create_nearline, DISK },
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
	pr_err("simdisk: profile: must be hd080hj or nearline\n");
	return NULL;
}
