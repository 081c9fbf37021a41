// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated drives /dev/sim0, sim1, ... for test guests. Data is in memory or
 * nowhere; the time a request takes comes from a model, disk.c or flash.c.
 *
 * A disk has the tags of its host adapter (32, or as many as it queues) and, as
 * SCSI does, a budget of requests that it takes at a time (1, without command
 * queueing). A driver with one tag would leave an elevator two requests to choose
 * from; this one leaves 64.
 *
 * Many drivers have no budget (virtio-blk, NVMe, null_blk). blk-mq then takes a
 * request from the elevator before it looks for a tag, and keeps it when there is
 * none. What such a driver has more tags for than the drive takes waits in front
 * of the drive, in order of arrival.
 *
 * Parameters, besides the numbers of the profile (profile.c):
 *
 *	profile=NAME	hd080hj: a disk of 80 GB without command queueing
 *			nearline: a disk of 18 TB with command queueing
 *			tlc: a flash drive, NVMe, preconditioned by random writes
 *	devices=N	number of drives, 1 to 16
 *	size_mb=N	capacity of each; a disk's geometry stays, so a small one is
 *			the outer edge of the large one
 *	precondition=0	a flash drive that was never written
 *	budget=0	no budget, though the drive takes a few requests only
 *	tags=N		tags of each hardware queue, if not the profile's
 *	nr_hw_queues=N	hardware queues, if not the profile's; blk-mq takes no more
 *			than there are CPUs
 *	jitter_ns=N	a drive behind a hypervisor (jitter.c): each command takes up to
 *			so much longer
 *	tail_ns=N	and some of them so much more, or a multiple of it:
 *	tail_one_in=N	one in so many
 *	backing=1	keep what is written (backing.c); else reads give zeroes
 *	write_cache=1	complete writes in the buffer, and ask for flushes
 *	fua=1		take writes through that cache
 *	discard=1	take discards
 *	rotational=0	hide that it seeks (1: say so though it does not)
 *	remove=N	written at run time: take simN away, as if unplugged
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "jitter.h"
#include "simdisk.h"

#define SIMDISK_MAX_DEVICES	16
#define SIMDISK_MAX_HW_QUEUES	64
#define SIMDISK_MAX_TAGS	10240	/* blk-mq's limit */

/**
 * struct simdisk - one drive
 * @lock: protects @drive and @jitter
 * @drive: the model, answers when a request is complete
 * @jitter: what a hypervisor adds to that
 * @timer: when to ask it again
 * @budget: how many more requests the drive takes now
 * @starved: a request was refused for want of budget
 * @data_lock: protects @pages
 * @pages: what was written
 * @set: host tags
 * @gd: the block device
 * @removed: @gd has been taken away
 */
struct simdisk {
	spinlock_t lock; /* drive, jitter */
	void *drive;
	struct jitter jitter;
	struct hrtimer timer;
	atomic_t budget;
	atomic_t starved;
	spinlock_t data_lock; /* pages */
	struct xarray pages;
	struct blk_mq_tag_set set;
	struct gendisk *gd;
	bool removed;
};

/* What goes with a request. */
struct simdisk_cmd {
	struct drive_cmd cmd;
	struct hrtimer timer;
};

static char *profile = "hd080hj";
static unsigned int devices = 1;
static unsigned int size_mb;
static unsigned int nr_hw_queues;
static unsigned int tags;
static bool budget = true;
static struct jitter jitter;
static bool backing;
static int rotational = -1;
static bool write_cache;
static bool fua;
static bool discard;

module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "Kind of drive (hd080hj)");
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "Number of drives (1)");
module_param(size_mb, uint, 0444);
MODULE_PARM_DESC(size_mb, "Capacity in MiB (the profile's)");
module_param(nr_hw_queues, uint, 0444);
MODULE_PARM_DESC(nr_hw_queues, "Hardware queues (the profile's)");
module_param(tags, uint, 0444);
MODULE_PARM_DESC(tags, "Tags of each hardware queue (the profile's)");
module_param(budget, bool, 0444);
MODULE_PARM_DESC(budget, "Count the requests that the drive takes, as SCSI does (1)");
module_param_named(jitter_ns, jitter.most_ns, uint, 0444);
MODULE_PARM_DESC(jitter_ns, "What a hypervisor adds to each command, at most (0)");
module_param_named(tail_ns, jitter.tail_ns, uint, 0444);
MODULE_PARM_DESC(tail_ns, "What it adds to some of them, or a multiple of it (0)");
module_param_named(tail_one_in, jitter.tail_one_in, uint, 0444);
MODULE_PARM_DESC(tail_one_in, "One command in so many has that (0: none)");
module_param(backing, bool, 0444);
MODULE_PARM_DESC(backing, "Keep what is written (0)");
module_param(rotational, int, 0444);
MODULE_PARM_DESC(rotational, "Say that the drive rotates (the profile's)");
module_param(write_cache, bool, 0444);
MODULE_PARM_DESC(write_cache, "Write-back cache (0)");
module_param(fua, bool, 0444);
MODULE_PARM_DESC(fua, "Writes through the write-back cache (0)");
module_param(discard, bool, 0444);
MODULE_PARM_DESC(discard, "Discards (0)");

static const struct simdisk_profile *kind;
static DEFINE_MUTEX(disks_lock);
static struct simdisk *disks[SIMDISK_MAX_DEVICES];

static bool counts_budget(void)
{
	return kind->budget && budget;
}

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

/* Give back what a request took, if the drive counts it. */
static void put_budget(struct request_queue *q)
{
	if (counts_budget())
		simdisk_put_budget(q, 0);
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

	put_budget(q);
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
		return DRIVE_READ;
	case REQ_OP_WRITE:
		return rq->cmd_flags & REQ_FUA ? DRIVE_WRITE_FUA : DRIVE_WRITE;
	case REQ_OP_FLUSH:
		return DRIVE_FLUSH;
	case REQ_OP_DISCARD:
		return DRIVE_DISCARD;
	default:
		return -EOPNOTSUPP;
	}
}

/* Move the data; the drive is slower, so it cannot be told that it came early. */
static int simdisk_data(struct simdisk *disk, struct request *rq, int op)
{
	struct xarray *pages = backing ? &disk->pages : NULL;
	int err = 0;

	if (op == DRIVE_FLUSH)
		return 0;
	spin_lock(&disk->data_lock);
	if (op == DRIVE_DISCARD)
		backing_discard(pages, rq);
	else
		err = backing_copy(pages, rq);
	spin_unlock(&disk->data_lock);
	return err;
}

/* Start the timers of the requests whose completion is known now. */
static void simdisk_decide(struct simdisk *disk)
{
	u64 now = ktime_get_ns(), wake;
	struct drive_cmd *cmd;

	lockdep_assert_held(&disk->lock);
	while ((cmd = kind->decide(disk->drive, now)))
		hrtimer_start(&container_of(cmd, struct simdisk_cmd, cmd)->timer,
			      ns_to_ktime(cmd->done + jitter_ns(&disk->jitter)),
			      HRTIMER_MODE_ABS);
	wake = kind->wake(disk->drive);
	if (wake != DRIVE_NEVER)
		hrtimer_start(&disk->timer, ns_to_ktime(wake), HRTIMER_MODE_ABS);
}

static enum hrtimer_restart simdisk_wake(struct hrtimer *timer)
{
	struct simdisk *disk = container_of(timer, struct simdisk, timer);
	unsigned long flags;

	spin_lock_irqsave(&disk->lock, flags);
	simdisk_decide(disk);
	spin_unlock_irqrestore(&disk->lock, flags);
	return HRTIMER_NORESTART;
}

static void simdisk_submit(struct simdisk *disk, struct request *rq, int op)
{
	struct simdisk_cmd *cmd = blk_mq_rq_to_pdu(rq);
	unsigned long flags;

	cmd->cmd.op = op;
	cmd->cmd.sector = blk_rq_pos(rq);
	cmd->cmd.nr = blk_rq_sectors(rq);
	spin_lock_irqsave(&disk->lock, flags);
	cmd->cmd.arrived = ktime_get_ns();
	kind->submit(disk->drive, &cmd->cmd);
	simdisk_decide(disk);
	spin_unlock_irqrestore(&disk->lock, flags);
}

static blk_status_t simdisk_queue_rq(struct blk_mq_hw_ctx *hctx,
				     const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct simdisk *disk = rq->q->queuedata;
	int op = simdisk_op(rq);

	if (op < 0) {
		put_budget(rq->q);
		return BLK_STS_NOTSUPP;
	}
	if (simdisk_data(disk, rq, op)) {
		put_budget(rq->q);
		return BLK_STS_RESOURCE;
	}
	blk_mq_start_request(rq);
	simdisk_submit(disk, rq, op);
	return BLK_STS_OK;
}

static int simdisk_init_request(struct blk_mq_tag_set *set, struct request *rq,
				unsigned int hctx_idx, simdisk_node_t numa_node)
{
	struct simdisk_cmd *cmd = blk_mq_rq_to_pdu(rq);

	simdisk_setup_timer(&cmd->timer, simdisk_timer);
	return 0;
}

static const struct blk_mq_ops simdisk_mq_ops = {
	.queue_rq = simdisk_queue_rq,
	.complete = simdisk_complete,
	.init_request = simdisk_init_request,
};

static const struct blk_mq_ops simdisk_budget_mq_ops = {
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

static int simdisk_add_disk(struct simdisk *disk, unsigned int index, u64 sectors)
{
	const struct simdisk_features features = {
		.rotational = rotational < 0 ? kind->rotational : rotational,
		.write_cache = write_cache,
		.fua = write_cache && fua,
		.discard_ranges = discard ? kind->discard_ranges : 0,
	};
	struct gendisk *gd = simdisk_alloc_disk(&disk->set, &features, disk);
	int err;

	if (IS_ERR(gd))
		return PTR_ERR(gd);
	gd->fops = &simdisk_fops;
	snprintf(gd->disk_name, sizeof(gd->disk_name), "sim%u", index);
	set_capacity(gd, sectors);
	disk->gd = gd;
	err = add_disk(gd);
	if (err)
		put_disk(gd);
	return err;
}

/* A host adapter has a tag for each request that its drive takes, at least. */
static unsigned int simdisk_tags(void)
{
	return tags ?: max(kind->tags, kind->budget ? *kind->budget : 0);
}

static int simdisk_alloc_tags(struct simdisk *disk)
{
	disk->set = (struct blk_mq_tag_set) {
		.ops = counts_budget() ? &simdisk_budget_mq_ops : &simdisk_mq_ops,
		.nr_hw_queues = nr_hw_queues ?: kind->hw_queues,
		.queue_depth = simdisk_tags(),
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(struct simdisk_cmd),
		.flags = BLK_MQ_F_SHOULD_MERGE,
	};
	return blk_mq_alloc_tag_set(&disk->set);
}

static int simdisk_create(unsigned int index)
{
	struct simdisk *disk = vzalloc(sizeof(*disk));
	u64 sectors;
	int err;

	if (!disk)
		return -ENOMEM;
	disk->drive = kind->create(size_mb, write_cache, &sectors);
	if (IS_ERR(disk->drive)) {
		err = PTR_ERR(disk->drive);
		goto free;
	}
	spin_lock_init(&disk->lock);
	spin_lock_init(&disk->data_lock);
	simdisk_setup_timer(&disk->timer, simdisk_wake);
	disk->jitter = jitter;
	if (kind->budget)
		atomic_set(&disk->budget, *kind->budget);
	xa_init(&disk->pages);
	err = simdisk_alloc_tags(disk);
	if (err)
		goto free_drive;
	err = simdisk_add_disk(disk, index, sectors);
	if (err)
		goto free_set;
	disks[index] = disk;
	return 0;

free_set:
	blk_mq_free_tag_set(&disk->set);
free_drive:
	vfree(disk->drive);
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
		hrtimer_cancel(&disk->timer);
		backing_free(&disk->pages);
		vfree(disk->drive);
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
	if (nr_hw_queues > SIMDISK_MAX_HW_QUEUES) {
		pr_err("simdisk: nr_hw_queues: must be 1 to %d\n", SIMDISK_MAX_HW_QUEUES);
		return -EINVAL;
	}
	if (tags > SIMDISK_MAX_TAGS) {
		pr_err("simdisk: tags: must be 1 to %d\n", SIMDISK_MAX_TAGS);
		return -EINVAL;
	}
	kind = profile_find(profile);
	if (!kind)
		return -EINVAL;
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
MODULE_DESCRIPTION("Simulated drives for tests of I/O schedulers");
MODULE_LICENSE("GPL");
