/* SPDX-License-Identifier: GPL-2.0 */
/* The simulated drive: its parts, and what differs between kernels. */
#ifndef SIMDISK_SIMDISK_H
#define SIMDISK_SIMDISK_H

#include <linux/blk-mq.h>
#include <linux/xarray.h>

#include "drive.h"

int backing_copy(struct xarray *pages, struct request *rq);
void backing_discard(struct xarray *pages, struct request *rq);
void backing_free(struct xarray *pages);

/**
 * struct simdisk_profile - a kind of drive, profile.c
 * @name: what the parameter profile= calls it
 * @rotational: it seeks
 * @hw_queues: hardware queues, unless nr_hw_queues= says otherwise
 * @tags: of each
 * @discard_ranges: of one discard request
 * @budget: requests it takes at a time, as SCSI counts them; NULL for no limit
 * @create: make a model of @size_mb (0: the profile's) that knows @sectors; the
 *	error is explained in the kernel's log
 * @submit: see drive.h, like the next two
 * @decide: see drive.h
 * @wake: see drive.h
 */
struct simdisk_profile {
	const char *name;
	bool rotational;
	unsigned int hw_queues;
	unsigned int tags;
	unsigned int discard_ranges;
	const u32 *budget;
	void *(*create)(unsigned int size_mb, bool write_cache, u64 *sectors);
	void (*submit)(void *drive, struct drive_cmd *cmd);
	struct drive_cmd *(*decide)(void *drive, u64 now);
	u64 (*wake)(void *drive);
};

const struct simdisk_profile *profile_find(const char *name);

#define SIMDISK_MAX_SECTORS	2560	/* as libata for drives with 48-bit addresses */
#define SIMDISK_MAX_SEGMENTS	168	/* as AHCI */
#define SIMDISK_MAX_DISCARD	524288	/* sectors; each request is done at once */

/**
 * struct simdisk_features - what a disk reports to the block layer
 * @rotational: it seeks
 * @write_cache: it has to be flushed
 * @fua: it can write through that cache
 * @discard_ranges: of one discard request, 0 if it takes none
 */
struct simdisk_features {
	bool rotational;
	bool write_cache;
	bool fua;
	unsigned int discard_ranges;
};

#ifdef BLK_FEAT_ROTATIONAL	/* 6.11: queue limits carry the features */

static inline struct gendisk *simdisk_alloc_disk(struct blk_mq_tag_set *set,
						 const struct simdisk_features *f, void *data)
{
	struct queue_limits lim = {
		.max_hw_sectors = SIMDISK_MAX_SECTORS,
		.max_segments = SIMDISK_MAX_SEGMENTS,
	};

	if (f->rotational)
		lim.features |= BLK_FEAT_ROTATIONAL;
	if (f->write_cache)
		lim.features |= BLK_FEAT_WRITE_CACHE;
	if (f->fua)
		lim.features |= BLK_FEAT_FUA;
	if (f->discard_ranges) {
		lim.max_hw_discard_sectors = SIMDISK_MAX_DISCARD;
		lim.max_discard_segments = f->discard_ranges;
	}
	return blk_mq_alloc_disk(set, &lim, data);
}

#else

static inline struct gendisk *simdisk_alloc_disk(struct blk_mq_tag_set *set,
						 const struct simdisk_features *f, void *data)
{
	struct gendisk *gd = blk_mq_alloc_disk(set, data);

	if (IS_ERR(gd))
		return gd;
	blk_queue_max_hw_sectors(gd->queue, SIMDISK_MAX_SECTORS);
	blk_queue_max_segments(gd->queue, SIMDISK_MAX_SEGMENTS);
	if (!f->rotational)
		blk_queue_flag_set(QUEUE_FLAG_NONROT, gd->queue);
	blk_queue_write_cache(gd->queue, f->write_cache, f->fua);
	if (f->discard_ranges) {
		blk_queue_max_discard_sectors(gd->queue, SIMDISK_MAX_DISCARD);
		blk_queue_max_discard_segments(gd->queue, f->discard_ranges);
		gd->queue->limits.discard_granularity = SECTOR_SIZE;
	}
	return gd;
}

#endif
#endif
