// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduler tags: how many an allocation may choose from.
 *
 * A reservation is worth nothing to a request that finds no tag. So a group may have
 * as many requests outstanding as its reservation needs (admission.c). If all
 * reservations together need more than half of the tags, a group may have no more than
 * this half divided by the number of busy groups. Otherwise a group that needs many tags
 * would leave none to a group that needs few. Up to this number of requests a group finds
 * any tag except the last eighth, which is for groups that have next to none. Requests
 * beyond this number are surplus. So are asynchronous requests: write-back is done by
 * another task, so the task does not tell the group.
 *
 * Surplus leaves some tags to reservations: at least a quarter of all tags, at most
 * half, and in between as many as the busy groups need, though no more than twice
 * what these groups have when they have a new request. So no tags are kept for a
 * reservation that is not used, and a reservation that is used gets the tags that it
 * needs as its new requests come in.
 *
 * A group with surplus may have its share of half of the quarter that is always
 * left. Only half is divided, because the group that came first took the share of a
 * group that is alone. If groups begin one after the other, their shares can still
 * add up to more than this half, so the last sixteenth is for first requests.
 *
 * Throttled requests keep their tags for a long time. So a group with a cap that has
 * more than its first requests sees only a quarter of the tags, which is half of the
 * least that surplus sees. Otherwise throttled requests could take all tags that
 * surplus sees. An allocation is told only once how many tags it sees, however long it
 * waits for one.
 *
 * Requests that other groups may wait for, metadata and swap, are not limited.
 *
 * The requests in a task's plug have tags, too, though they are not inserted yet. If
 * they were not counted, a new flood would have all tags before its first request is
 * counted. So the bitmap itself is counted.
 *
 * While fewer than half of the tags are held, or three quarters if nothing is reserved,
 * no allocation is limited, because blk-mq allocates tags one by one under a limit.
 * Counting the bitmap takes longer than allocating a tag. But the count tells how many
 * more tags may be allocated before the limit is reached, if none is freed. So the
 * bitmap is counted again after this many allocations, or, while allocations are
 * limited, after a sixteenth of all tags. If a group on the device has a cap, all
 * allocations are limited.
 */
#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/slab.h>

#include <htbs/lookup.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>

bool htbs_shallow_of_map __ro_after_init;

/**
 * struct htbs_tags - the state of the tags of a hardware queue, or of all that share them
 * @left: how many tags may be allocated before the limit is reached; falls below 0 as further
 *	tags are allocated
 * @limited: allocations were limited after the last count
 */
struct htbs_tags {
	atomic_t left;
	bool limited;
} ____cacheline_aligned_in_smp;

/* With fewer tags than this, surplus leaves a quarter of them and no more. */
#define HTBS_TAGS_SHORT	16U

/**
 * htbs_tags_init() - allocate the state of the tags of a new device
 * @dev: the device; its queue is frozen
 *
 * Return: 0 or -ENOMEM.
 */
int htbs_tags_init(struct htbs_device *dev)
{
	struct request_queue *q = dev->queue;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	dev->tags = kcalloc_node(q->nr_hw_queues, sizeof(*dev->tags), GFP_NOIO, q->node);
	if (!dev->tags)
		return -ENOMEM;
	queue_for_each_hw_ctx(q, hctx, i)
		hctx->sched_data = &dev->tags[htbs_hctxs_share_tags(q) ? 0 : i];
	return 0;
}

/**
 * htbs_tags_exit() - undo htbs_tags_init()
 * @dev: the device; its queue is frozen
 */
void htbs_tags_exit(struct htbs_device *dev)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(dev->queue, hctx, i)
		hctx->sched_data = NULL;
	kfree(dev->tags);
	dev->tags = NULL;
}

/**
 * htbs_tags_recount() - the tags of the queue or those kept for reservations have changed
 * @dev: the device
 */
void htbs_tags_recount(struct htbs_device *dev)
{
	u32 i;

	for (i = 0; i < dev->queue->nr_hw_queues; i++)
		atomic_set(&dev->tags[i].left, INT_MIN / 2);
}

/* The number of requests that are allocated at once, besides the first. */
static u32 htbs_batch_more(const struct blk_mq_alloc_data *data)
{
	return data->nr_tags ? data->nr_tags - 1 : 0;
}

/* The same, plus the requests in the task's plug, some of which may be for another device. */
static u32 htbs_task_plugged(const struct blk_mq_alloc_data *data)
{
	u32 more = htbs_batch_more(data);

	return current->plug ? current->plug->rq_count + more : more;
}

/* The number of requests that groups without a reservation need to have outstanding. */
static u32 htbs_pool_requests(const struct htbs_device *dev)
{
	const struct htbs_group *root = READ_ONCE(dev->root);

	return root ? READ_ONCE(root->admission.requests) : 0;
}

/* The number of requests that a reservation needs to have outstanding. */
static u32 htbs_reservation_requests(const struct htbs_device *dev,
				     const struct htbs_reservation *res)
{
	if (res == &dev->background)
		return 0;
	if (htbs_flow_pooled(&res->flow))
		return htbs_pool_requests(dev);
	return READ_ONCE(res->group->admission.requests);
}

/*
 * How many of @all tags a reservation gets that needs @requests. If all reservations need
 * more than half of the tags, it gets no more than an equal part of this half.
 */
static u32 htbs_needed_tags(const struct htbs_device *dev, u32 requests, u32 all)
{
	u32 half = all / 2, busy = htbs_peek(dev->policy.busy);

	if (READ_ONCE(dev->admitted.requests) <= half)
		return requests;
	return min(requests, half / max(busy, 1U));
}

static void htbs_tags_keep(struct htbs_device *dev, u16 *kept, u32 tags)
{
	if (tags == *kept)
		return;
	WRITE_ONCE(dev->reserved_tags, dev->reserved_tags - *kept + tags);
	*kept = tags;
}

/* As many tags as busy flows need, but no more than twice what they have. */
static u32 htbs_tags_used(const struct htbs_device *dev, u32 requests,
			  const struct htbs_pool *pool)
{
	return min(htbs_needed_tags(dev, requests, READ_ONCE(dev->queue->nr_requests)),
		   2 * (pool->pending + pool->in_flight));
}

static u16 *htbs_tags_kept(struct htbs_device *dev, struct htbs_reservation *res)
{
	return htbs_flow_pooled(&res->flow) ? &dev->pool_tags : &res->reserved_tags;
}

/*
 * Return true if so few requests are outstanding that twice what reservations have is no
 * more than the quarter of the tags that surplus leaves in any case.
 */
static bool htbs_tags_few(const struct htbs_device *dev)
{
	u32 under_way = dev->policy.pending + dev->policy.in_flight;

	return 8 * under_way < READ_ONCE(dev->queue->nr_requests);
}

/**
 * htbs_tags_account() - the number of outstanding requests has changed
 * @dev: the device, locked
 * @res: their reservation
 *
 * Not called when one completes and others are left, because new ones may arrive.
 */
void htbs_tags_account(struct htbs_device *dev, struct htbs_reservation *res)
{
	lockdep_assert_held(&dev->lock);

	if (htbs_tags_few(dev))
		return;
	htbs_tags_keep(dev, htbs_tags_kept(dev, res),
		       htbs_tags_used(dev, htbs_reservation_requests(dev, res),
				      res->flow.pool));
}

/**
 * htbs_tags_account_idle() - no outstanding request is left
 * @dev: the device, locked
 * @res: the reservation
 */
void htbs_tags_account_idle(struct htbs_device *dev, struct htbs_reservation *res)
{
	lockdep_assert_held(&dev->lock);

	htbs_tags_keep(dev, htbs_tags_kept(dev, res), 0);
}

/**
 * htbs_tags_account_move() - outstanding requests are charged to another reservation
 * @dev: the device, locked
 * @res: their reservation, which has joined or left the pool
 */
void htbs_tags_account_move(struct htbs_device *dev, struct htbs_reservation *res)
{
	lockdep_assert_held(&dev->lock);

	htbs_tags_keep(dev, &dev->pool_tags,
		       htbs_tags_used(dev, htbs_pool_requests(dev),
				      &dev->policy.pool));
	if (htbs_flow_pooled(&res->flow))
		htbs_tags_keep(dev, &res->reserved_tags, 0);
	else
		htbs_tags_account(dev, res);
}

/*
 * How many more of @all tags a group may have by its own reservation, or by the one that it
 * shares. The background, for which @group is NULL, has no reservation.
 */
static u32 htbs_group_lacks(const struct htbs_device *dev, const struct htbs_group *group,
			    const struct htbs_reservation *res, u32 all)
{
	const struct htbs_pool *pool;
	u32 needed, held = 0;

	if (!group)
		return 0;
	if (READ_ONCE(group->configured)) {
		needed = READ_ONCE(group->admission.requests);
		pool = res ? htbs_peek(res->flow.pool) : NULL;
	} else {
		needed = htbs_pool_requests(dev);
		pool = &dev->policy.pool;
	}
	if (pool)
		held = htbs_peek(pool->pending) + htbs_peek(pool->in_flight);
	needed = htbs_needed_tags(dev, needed, all);
	return needed > held ? needed - held : 0;
}

/* The number of tags that a group sees if it holds @held tags, fewer than its share. */
static u32 htbs_share_visible(u32 all, u32 held)
{
	return held ? all - all / 16 : all;
}

/*
 * The number of tags that an allocation sees, if surplus sees @visible. There is
 * no bio yet that would tell the group, so the task's group counts.
 */
static u32 htbs_task_visible(struct htbs_device *dev, u32 all, u32 visible,
			     const struct blk_mq_alloc_data *data)
{
	u32 share = all / 8 / (htbs_peek(dev->policy.busy) + 1);
	u32 plugged = htbs_task_plugged(data), held = plugged;
	const struct htbs_reservation *res;
	const struct htbs_group *group;

	rcu_read_lock();
	group = htbs_group_of_task(dev);
	res = group ? rcu_dereference(group->reservation) : &dev->background;
	if (res)
		held += htbs_peek(res->flow.pending) + htbs_peek(res->flow.in_flight);
	if (!held || held < share)
		visible = htbs_share_visible(all, held);
	else if (group && htbs_group_cap(group))
		visible = all / 4;
	else if (plugged < htbs_group_lacks(dev, group, res, all))
		visible = all - all / 8;
	rcu_read_unlock();
	return visible;
}

/* The number of tags that are held: sbitmap_weight() in one pass. */
static u32 htbs_tags_held(const struct sbitmap *sb)
{
	u32 held = 0, i;

	for (i = 0; i < sb->map_nr; i++)
		held += hweight_long(READ_ONCE(sb->map[i].word) &
				     ~READ_ONCE(sb->map[i].cleared));
	return held;
}

/*
 * Return true if an allocation is limited: half of the tags may be held, or, if nothing is
 * reserved, as many as surplus sees. Tags that are allocated without a limit may be anywhere
 * in the bitmap, including the part that surplus does not see later. While one task counts,
 * the tags that another is about to allocate, and a cap that is set, are missed until the
 * next count.
 */
static bool htbs_tags_limited(struct htbs_device *dev, struct htbs_tags *tags, int left, u32 all,
			      const struct blk_mq_alloc_data *data)
{
	int most = READ_ONCE(dev->admitted.requests) ? all / 2 : all - all / 4;
	int step = all / 16;

	if (READ_ONCE(tags->limited) && left >= -step)
		return true;
	left = 0;
	if (!htbs_peek(dev->policy.capped))
		left = most - (int)data->nr_tags -
		       (int)htbs_tags_held(&data->hctx->sched_tags->bitmap_tags.sb);
	if (left < step)
		left = 0;
	atomic_set(&tags->left, left);
	WRITE_ONCE(tags->limited, !left);
	return !left;
}

/* The number of tags that an allocation sees, apart from the limit set by the user. */
static u32 htbs_visible_tags(struct htbs_device *dev, blk_opf_t opf, u32 all,
			     const struct blk_mq_alloc_data *data)
{
	u32 quarter = all / 4, visible;
	/* The words of a short queue's bitmap have no halves and quarters. */
	u32 most = all < HTBS_TAGS_SHORT ? quarter : all / 2;

	htbs_device_account_pending(dev);
	visible = all - clamp(htbs_peek(dev->reserved_tags), quarter, most);
	return op_is_sync(opf) ? htbs_task_visible(dev, all, visible, data) : visible;
}

/* The user may have limited the tags of all operations except synchronous reads. */
static bool htbs_op_may_be_limited(blk_opf_t opf)
{
	return !op_is_sync(opf) || op_is_write(opf);
}

static noinline void htbs_limit_visible(int left, blk_opf_t opf,
					struct blk_mq_alloc_data *data)
{
	struct htbs_device *dev = htbs_device_of(data->q);
	u32 all = htbs_nr_sched_tags(data), visible = all;

	if (left < 0 && htbs_tags_limited(dev, data->hctx->sched_data, left, all, data))
		visible = htbs_visible_tags(dev, opf, all, data);
	if (htbs_op_may_be_limited(opf))
		visible = min(visible, htbs_async_depth(data->q));
	if (visible < all)
		htbs_limit_depth(data, visible);
}

/**
 * htbs_limit_tag_depth() - limit_depth: limit the number of tags that an allocation sees
 * @opf: the operation of the request
 * @data: the allocation
 */
void htbs_limit_tag_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct htbs_tags *tags = data->hctx->sched_data;
	int left;

	left = atomic_sub_return(data->nr_tags, &tags->left);
	if (htbs_op_issued_as_root(opf)) {
		/* These requests do not cause a new count, so keep @left from wrapping around. */
		if (unlikely(left < INT_MIN / 2))
			atomic_set(&tags->left, INT_MIN / 2);
		return;
	}
	if (left < 0 || htbs_async_depth(data->q) < data->q->nr_requests)
		htbs_limit_visible(left, opf, data);
}
