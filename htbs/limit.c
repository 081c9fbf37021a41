// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduler tags: which allocation leaves some to others.
 *
 * A reservation is worth nothing to a request that finds no tag.  So as many tags as
 * all reservations need, at least a quarter and at most three quarters of all, are
 * kept from allocations that are surplus:
 *
 *  - asynchronous ones.  The task is not asked there: write-back is done by another;
 *  - those of a group that has as many requests as its reservation needs, or its
 *    share of half of the last quarter, if that is more.  Only half is divided, since
 *    the group that came first took the share of one that is alone.
 *
 * Requests that a cap throttles keep their tags for long, so their group leaves half
 * of the tags at least.  What a group waits for on behalf of others, metadata and
 * swap, is not limited.
 *
 * What a task has collected in its plug holds tags as well, though it isn't inserted
 * yet: a flood that begins would else have them all before the first is counted.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>

#include <htbs/limit.h>
#include <htbs/request.h>
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

/* How many requests of a reservation find any tag: as many as it needs. */
static u32 htbs_reservation_requests(struct htbs_device *dev,
				     const struct htbs_reservation *res)
{
	if (res == &dev->background)
		return 0;
	return READ_ONCE(container_of(res, struct htbs_group,
				      reservation)->promise.requests);
}

/*
 * How many tags is an allocation to see, if others see so many?  Whose request it will
 * be isn't known yet: the task is asked.
 */
static u32 htbs_task_visible(struct htbs_device *dev, u32 all, u32 visible,
			     u32 share, u32 plugged)
{
	struct htbs_reservation *res;
	u32 held;

	rcu_read_lock();
	res = htbs_reservation_of_task(dev);
	held = htbs_peek(res->flow.pending) + htbs_peek(res->flow.in_flight) +
	       plugged;
	if (!held || held < max(share, htbs_reservation_requests(dev, res)))
		visible = all;
	else if (htbs_peek(res->flow.cap.curve.params.bw))
		visible = min(visible, all / 2);
	rcu_read_unlock();
	return visible;
}

/**
 * htbs_limit_tags() - blk-mq's limit_depth: how many tags may an allocation see
 * @opf: what the request will be
 * @data: the allocation
 */
void htbs_limit_tags(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct htbs_device *dev = htbs_device_of(data->q);
	u32 all = htbs_tags(data);
	u32 share = all / 8 / (htbs_peek(dev->policy.busy) + 1);
	u32 plugged = htbs_task_plugged(data);
	u32 held = htbs_peek(dev->policy.pending) +
		   htbs_peek(dev->policy.in_flight) + plugged;
	u64 kept = READ_ONCE(dev->promises.requests);
	u32 visible = all - clamp_t(u64, kept, all / 4, all - max(all / 4, 1U));

	if (htbs_op_is_for_all(opf))
		return;
	/* No group has more than all have together, which is told sooner. */
	if (op_is_sync(opf))
		visible = held && held >= share ?
			  htbs_task_visible(dev, all, visible, share, plugged) :
			  all;
	if (visible < all)
		htbs_limit_depth(data, visible);
}
