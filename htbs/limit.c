// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduler tags: who leaves some to others.
 *
 * However many flood the device, others must find a tag: who does asynchronous I/O
 * leaves the last quarter to the rest, and so does who has its share of half of that
 * quarter, which would leave one for another who comes.  Only half is divided, since
 * who came first took the share of one who is alone.  What a cap holds up keeps its
 * tags for long, so its owner leaves the last half; else asynchronous I/O of others
 * would have no more than the cap lets go.  Asking the task is right for direct I/O;
 * write-back, where it is wrong, is asynchronous.
 *
 * What a task has collected in its plug holds tags as well, though it isn't inserted
 * yet: a flood that begins would else have them all before the first is counted.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>

#include <htbs/limit.h>
#include <htbs/reservation.h>

/*
 * What the task has in its plug, and what it takes at once besides the one that is
 * asked for.  Some of it may be another device's.
 */
static u32 htbs_task_plugged(const struct blk_mq_alloc_data *data)
{
	u32 more = data->nr_tags ? data->nr_tags - 1 : 0;

	return current->plug ? current->plug->rq_count + more : more;
}

/*
 * How many quarters of the tags is a reservation to see that has its share of the
 * last one?  Whose request it will be isn't known yet: the task is asked.
 */
static unsigned int htbs_task_quarters(struct htbs_device *dev, u32 share, u32 plugged)
{
	struct htbs_reservation *res;
	unsigned int quarters = 4;
	u32 held;

	rcu_read_lock();
	res = htbs_reservation_of_task(dev);
	held = htbs_peek(res->flow.pending) + htbs_peek(res->flow.in_flight) +
	       plugged;
	if (held && held >= share)
		quarters = htbs_peek(res->flow.cap.curve.params.bw) ? 2 : 3;
	rcu_read_unlock();
	return quarters;
}

/**
 * htbs_limit_tags() - blk-mq's limit_depth: how many tags may an allocation see
 * @opf: what the request will be
 * @data: the allocation
 */
void htbs_limit_tags(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct htbs_device *dev = htbs_device_of(data->q);
	u32 share = htbs_tags(data) / 8 / (htbs_peek(dev->policy.busy) + 1);
	u32 plugged = htbs_task_plugged(data);
	u32 held = htbs_peek(dev->policy.pending) +
		   htbs_peek(dev->policy.in_flight) + plugged;
	unsigned int quarters = op_is_sync(opf) ? 4 : 3;

	/* Nobody has more than all have together, which is told sooner. */
	if (held && held >= share)
		quarters = min(quarters, htbs_task_quarters(dev, share, plugged));
	if (quarters < 4)
		htbs_limit_depth(data, quarters);
}
