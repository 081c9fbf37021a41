// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated disks /dev/sim0, sim1, ... for test guests. Data is in memory or
 * nowhere; the time a request takes comes from the model in disk.c.
 *
 * A disk has the tags of its host adapter (32) and, as SCSI does, a budget of
 * requests that it takes at a time (1, without command queueing). A driver with
 * one tag would leave an elevator two requests to choose from; this one leaves 64.
 *
 * Parameters, besides those of the profile (disk.h):
 *
 *	devices=N	number of disks, 1 to 16
 *	size_mb=N	capacity of each; the geometry stays, so a small disk is the
 *			outer edge of the large one
 *	backing=1	keep what is written (backing.c); else reads give zeroes
 *	write_cache=1	complete writes in the buffer, and ask for flushes
 *	fua=1		take writes through that cache
 *	discard=1	take discards
 *	rotational=0	hide that it seeks
 *	remove=N	written at run time: take simN away, as if unplugged
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "simdisk.h"

#define SIMDISK_MAX_DEVICES	16
#define SIMDISK_TAGS		32
#define SIMDISK_BUDGET		1

/**
 * struct simdisk - one disk
 * @lock: protects @model
 * @model: answers how long a request takes
 * @budget: how many more requests the drive takes now
 * @starved: a request was refused for want of budget
 * @pages: what was written
 * @set: host tags
 * @gd: the block device
 * @removed: @gd has been taken away
 */
struct simdisk {
	spinlock_t lock; /* model */
	struct disk model;
	atomic_t budget;
	atomic_t starved;
	struct xarray pages;
	struct blk_mq_tag_set set;
	struct gendisk *gd;
	bool removed;
};

/* What goes with a request. */
struct simdisk_cmd {
	struct hrtimer timer;
};

static unsigned int devices = 1;
static unsigned int size_mb;
static bool backing;
static bool rotational = true;
static bool write_cache;
static bool fua;
static bool discard;

module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "Number of disks (1)");
module_param(size_mb, uint, 0444);
MODULE_PARM_DESC(size_mb, "Capacity in MiB (the profile's)");
module_param(backing, bool, 0444);
MODULE_PARM_DESC(backing, "Keep what is written (0)");
module_param(rotational, bool, 0444);
MODULE_PARM_DESC(rotational, "Say that the disk rotates (1)");
module_param(write_cache, bool, 0444);
MODULE_PARM_DESC(write_cache, "Write-back cache (0)");
module_param(fua, bool, 0444);
MODULE_PARM_DESC(fua, "Writes through the write-back cache (0)");
module_param(discard, bool, 0444);
MODULE_PARM_DESC(discard, "Discards (0)");

/* The profile's own numbers, explained in disk.h. */
module_param_named(rpm, disk_hd080hj.rpm, uint, 0444);
module_param_named(heads, disk_hd080hj.heads, uint, 0444);
module_param_named(zones, disk_hd080hj.zones, uint, 0444);
module_param_named(outer_spt, disk_hd080hj.outer_spt, uint, 0444);
module_param_named(inner_spt, disk_hd080hj.inner_spt, uint, 0444);
module_param_named(head_switch_ns, disk_hd080hj.head_switch_ns, uint, 0444);
module_param_named(track_skew_ns, disk_hd080hj.track_skew_ns, uint, 0444);
module_param_named(seek_short_ns, disk_hd080hj.seek_short_ns, uint, 0444);
module_param_named(seek_sqrt_ns, disk_hd080hj.seek_sqrt_ns, uint, 0444);
module_param_named(seek_knee, disk_hd080hj.seek_knee, uint, 0444);
module_param_named(seek_long_ns, disk_hd080hj.seek_long_ns, uint, 0444);
module_param_named(seek_cyl_ps, disk_hd080hj.seek_cyl_ps, uint, 0444);
module_param_named(write_settle_ns, disk_hd080hj.write_settle_ns, uint, 0444);
module_param_named(command_ns, disk_hd080hj.command_ns, uint, 0444);
module_param_named(bus_kbps, disk_hd080hj.bus_kbps, uint, 0444);
module_param_named(cache_kb, disk_hd080hj.cache_kb, uint, 0444);
module_param_named(segments, disk_hd080hj.segments, uint, 0444);

static DEFINE_MUTEX(disks_lock);
static struct simdisk *disks[SIMDISK_MAX_DEVICES];

static int simdisk_get_budget(struct request_queue *q)
{
	struct simdisk *disk = q->queuedata;

	if (atomic_dec_if_positive(&disk->budget) >= 0)
		return 0;
	atomic_set(&disk->starved, 1);
	/* simdisk_complete() gives budget before it looks at starved, so look again. */
	smp_mb__after_atomic();
	return atomic_dec_if_positive(&disk->budget) >= 0 ? 0 : -1;
}

static void simdisk_put_budget(struct request_queue *q, int token)
{
	struct simdisk *disk = q->queuedata;

	atomic_inc(&disk->budget);
}

/* All budgets are alike. */
static int simdisk_get_rq_budget_token(struct request *rq)
{
	return 0;
}

static enum hrtimer_restart simdisk_timer(struct hrtimer *timer)
{
	struct simdisk_cmd *cmd = container_of(timer, struct simdisk_cmd, timer);

	blk_mq_complete_request(blk_mq_rq_from_pdu(cmd));
	return HRTIMER_NORESTART;
}

static void simdisk_complete(struct request *rq)
{
	struct request_queue *q = rq->q;
	struct simdisk *disk = q->queuedata;

	simdisk_put_budget(q, 0);
	blk_mq_end_request(rq, BLK_STS_OK);
	/* The block layer leaves it to the driver to go on when there is budget. */
	if (atomic_xchg(&disk->starved, 0))
		blk_mq_run_hw_queues(q, true);
}

/* Which command a request is for the drive, negative for none. */
static int simdisk_op(struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return DISK_READ;
	case REQ_OP_WRITE:
		return rq->cmd_flags & REQ_FUA ? DISK_WRITE_FUA : DISK_WRITE;
	case REQ_OP_FLUSH:
		return DISK_FLUSH;
	case REQ_OP_DISCARD:
		return DISK_DISCARD;
	default:
		return -EOPNOTSUPP;
	}
}

/* Move the data; the drive is slower, so nobody can tell that it came early. */
static int simdisk_data(struct simdisk *disk, struct request *rq, int op)
{
	struct xarray *pages = backing ? &disk->pages : NULL;

	if (op == DISK_DISCARD)
		backing_discard(pages, rq);
	else if (op != DISK_FLUSH)
		return backing_copy(pages, rq);
	return 0;
}

static blk_status_t simdisk_queue_rq(struct blk_mq_hw_ctx *hctx,
				     const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct simdisk *disk = rq->q->queuedata;
	struct simdisk_cmd *cmd = blk_mq_rq_to_pdu(rq);
	int op = simdisk_op(rq);
	u64 done;

	if (op < 0) {
		simdisk_put_budget(rq->q, 0);
		return BLK_STS_NOTSUPP;
	}
	if (simdisk_data(disk, rq, op)) {
		simdisk_put_budget(rq->q, 0);
		return BLK_STS_RESOURCE;
	}
	blk_mq_start_request(rq);
	spin_lock(&disk->lock);
	done = disk_service(&disk->model, ktime_get_ns(), op, blk_rq_pos(rq),
			    blk_rq_sectors(rq));
	spin_unlock(&disk->lock);
	hrtimer_start(&cmd->timer, ns_to_ktime(done), HRTIMER_MODE_ABS);
	return BLK_STS_OK;
}

/* On PREEMPT_RT this mode expires in softirq, where requests may be completed. */
static int simdisk_init_request(struct blk_mq_tag_set *set, struct request *rq,
				unsigned int hctx_idx, unsigned int numa_node)
{
	struct simdisk_cmd *cmd = blk_mq_rq_to_pdu(rq);

	hrtimer_init(&cmd->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	cmd->timer.function = simdisk_timer;
	return 0;
}

static const struct blk_mq_ops simdisk_mq_ops = {
	.queue_rq = simdisk_queue_rq,
	.complete = simdisk_complete,
	.init_request = simdisk_init_request,
	.get_budget = simdisk_get_budget,
	.put_budget = simdisk_put_budget,
	.get_rq_budget_token = simdisk_get_rq_budget_token,
};

static const struct block_device_operations simdisk_fops = {
	.owner = THIS_MODULE,
};

static int simdisk_add_disk(struct simdisk *disk, unsigned int index)
{
	const struct simdisk_features features = {
		.rotational = rotational,
		.write_cache = write_cache,
		.fua = write_cache && fua,
		.discard = discard,
	};
	struct gendisk *gd = simdisk_alloc_disk(&disk->set, &features, disk);
	int err;

	if (IS_ERR(gd))
		return PTR_ERR(gd);
	gd->fops = &simdisk_fops;
	snprintf(gd->disk_name, sizeof(gd->disk_name), "sim%u", index);
	set_capacity(gd, size_mb ? (u64)size_mb << (20 - SECTOR_SHIFT) : disk_hd080hj.sectors);
	disk->gd = gd;
	err = add_disk(gd);
	if (err)
		put_disk(gd);
	return err;
}

static int simdisk_create(unsigned int index)
{
	struct simdisk *disk = vzalloc(sizeof(*disk));
	const char *wrong;
	int err;

	if (!disk)
		return -ENOMEM;
	wrong = disk_init(&disk->model, &disk_hd080hj, write_cache);
	if (wrong) {
		pr_err("simdisk: %s\n", wrong);
		err = -EINVAL;
		goto free;
	}
	spin_lock_init(&disk->lock);
	atomic_set(&disk->budget, SIMDISK_BUDGET);
	xa_init(&disk->pages);
	disk->set = (struct blk_mq_tag_set) {
		.ops = &simdisk_mq_ops,
		.nr_hw_queues = 1,
		.queue_depth = SIMDISK_TAGS,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(struct simdisk_cmd),
		.flags = BLK_MQ_F_SHOULD_MERGE,
	};
	err = blk_mq_alloc_tag_set(&disk->set);
	if (err)
		goto free;
	err = simdisk_add_disk(disk, index);
	if (err)
		goto free_set;
	disks[index] = disk;
	return 0;

free_set:
	blk_mq_free_tag_set(&disk->set);
free:
	vfree(disk);
	return err;
}

static void simdisk_remove(struct simdisk *disk)
{
	if (!disk->removed)
		del_gendisk(disk->gd);
	disk->removed = true;
}

static void simdisk_destroy_all(void)
{
	struct simdisk *disk;
	unsigned int i;

	for (i = 0; i < SIMDISK_MAX_DEVICES; i++) {
		disk = disks[i];
		disks[i] = NULL;
		if (!disk)
			continue;
		simdisk_remove(disk);
		put_disk(disk->gd);
		blk_mq_free_tag_set(&disk->set);
		backing_free(&disk->pages);
		vfree(disk);
	}
}

static int remove_set(const char *val, const struct kernel_param *kp)
{
	unsigned int index;
	int err = kstrtouint(val, 10, &index);

	if (err)
		return err;
	mutex_lock(&disks_lock);
	if (index >= SIMDISK_MAX_DEVICES || !disks[index] || disks[index]->removed)
		err = -ENODEV;
	else
		simdisk_remove(disks[index]);
	mutex_unlock(&disks_lock);
	return err;
}

static const struct kernel_param_ops remove_ops = {
	.set = remove_set,
};

module_param_cb(remove, &remove_ops, NULL, 0200);
MODULE_PARM_DESC(remove, "Number of a disk to take away");

static int __init simdisk_init(void)
{
	unsigned int i;
	int err = 0;

	if (!devices || devices > SIMDISK_MAX_DEVICES) {
		pr_err("simdisk: devices: must be 1 to %d\n", SIMDISK_MAX_DEVICES);
		return -EINVAL;
	}
	if (size_mb > disk_hd080hj.sectors >> (20 - SECTOR_SHIFT)) {
		pr_err("simdisk: size_mb: must not be above the profile's %llu\n",
		       disk_hd080hj.sectors >> (20 - SECTOR_SHIFT));
		return -EINVAL;
	}
	mutex_lock(&disks_lock);
	for (i = 0; i < devices && !err; i++)
		err = simdisk_create(i);
	if (err)
		simdisk_destroy_all();
	mutex_unlock(&disks_lock);
	return err;
}

static void __exit simdisk_exit(void)
{
	simdisk_destroy_all();
}

module_init(simdisk_init);
module_exit(simdisk_exit);
MODULE_DESCRIPTION("Simulated disks for tests of I/O schedulers");
MODULE_LICENSE("GPL");
