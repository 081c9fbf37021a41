/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's tags and the driver's.
 */
#ifndef HTBS_COMPAT_TAGS_H
#define HTBS_COMPAT_TAGS_H

#include <linux/blk-mq.h>
#include <linux/sbitmap.h>
#include <generated/htbs-private.h>

/**
 * htbs_nr_sched_tags() - the number of tags that an allocation chooses from
 * @data: argument of the limit_depth operation
 *
 * Return: the scheduler's tags of one hardware queue, or of all if they share
 * one set.
 */
static inline unsigned int htbs_nr_sched_tags(struct blk_mq_alloc_data *data)
{
	return data->hctx->sched_tags->bitmap_tags.sb.depth;
}

/**
 * htbs_hctxs_share_tags() - whether a queue's hardware queues have one set of tags
 * @q: queue
 *
 * Return: true if they have. This holds for the scheduler's tags as well as for the driver's.
 */
static inline bool htbs_hctxs_share_tags(const struct request_queue *q)
{
	return q->tag_set->flags & BLK_MQ_F_TAG_HCTX_SHARED;
}

/**
 * htbs_hctx_serves() - whether a hardware queue has tags that requests wait for
 * @hctx: the hardware queue
 *
 * A hardware queue that no CPU is mapped to has no tags. The tags of a polled hardware queue serve
 * only polled requests.
 *
 * Return: true if it has.
 */
static inline bool htbs_hctx_serves(const struct blk_mq_hw_ctx *hctx)
{
	return hctx->tags && hctx->type != HCTX_TYPE_POLL;
}

/**
 * htbs_hctx_tags() - the number of tags that the driver has for a hardware queue's requests
 * @hctx: the hardware queue, which has tags
 *
 * Another queue may share them; see htbs_tags_now().
 *
 * Return: tags.
 */
static inline unsigned int htbs_hctx_tags(const struct blk_mq_hw_ctx *hctx)
{
	return hctx->tags->bitmap_tags.sb.depth;
}

/**
 * htbs_tags_now() - how many tags of the driver a hardware queue may use now
 * @hctx: the hardware queue
 * @tags: the number to return if no CPU is mapped to it, so that it has no tags itself
 *
 * Any queue that uses this set of tags may resize it through its nr_requests. Queues that share
 * the set have equal parts of it while they have requests, as in hctx_may_queue().
 *
 * Return: tags.
 */
static inline unsigned int htbs_tags_now(const struct blk_mq_hw_ctx *hctx, unsigned int tags)
{
	unsigned int users;

	if (!hctx->tags)
		return tags;
	tags = READ_ONCE(hctx->tags->bitmap_tags.sb.depth);
	if (!(hctx->flags & BLK_MQ_F_TAG_QUEUE_SHARED) || tags == 1)
		return tags;
	/* Older kernels count in an atomic_t. */
	users = READ_ONCE(*(const unsigned int *)&hctx->tags->active_queues);
	return users > 1 ? min(max(DIV_ROUND_UP(tags, users), 4U), tags) : tags;
}

/*
 * True if limit_depth counts tags in the whole bitmap, as it does in later kernels, and false if
 * it counts them in each word. Stable updates have changed this, so it is measured.
 */
extern bool htbs_shallow_of_map;

/* Convert a number of tags to what limit_depth expects. */
static inline unsigned int htbs_shallow_depth(const struct sbitmap *sb, unsigned int visible)
{
	unsigned int depth = sb->depth;

	if (!htbs_shallow_of_map)
		depth = min(depth, 1U << sb->shift);
	return max(DIV_ROUND_UP(depth * visible, sb->depth), 1U);
}

/*
 * The bits of a bitmap with four words. A depth of 1 allows one bit of each word, or one
 * bit of the whole bitmap.
 */
#define HTBS_SHALLOW_BITS	32

/**
 * htbs_measure_shallow_depth() - find out how the running kernel counts tags
 *
 * Return: 0 or -ENOMEM.
 */
static inline int htbs_measure_shallow_depth(void)
{
	struct sbitmap_queue sbq;
	unsigned int got = 0;
	int err;

	err = sbitmap_queue_init_node(&sbq, HTBS_SHALLOW_BITS, 3, false, GFP_KERNEL,
				      NUMA_NO_NODE);
	if (err)
		return err;
	sbitmap_queue_min_shallow_depth(&sbq, 1);
	preempt_disable();
	while (got < HTBS_SHALLOW_BITS && sbitmap_queue_get_shallow(&sbq, 1) >= 0)
		got++;
	preempt_enable();
	sbitmap_queue_free(&sbq);
	htbs_shallow_of_map = got == 1;
	return 0;
}

/*
 * Wake as many tasks as there are tags. sbitmap_queue_wake_all() wakes only one task of each
 * wait queue, because the tasks wait exclusively.
 */
static inline void htbs_wake_waiters_of(struct sbitmap_queue *sbq)
{
	unsigned int each = DIV_ROUND_UP(sbq->sb.depth, SBQ_WAIT_QUEUES);
	unsigned int i;

	for (i = 0; i < SBQ_WAIT_QUEUES; i++)
		if (wq_has_sleeper(&sbq->ws[i].wait))
			wake_up_nr(&sbq->ws[i].wait, each);
}

/**
 * htbs_wake_tag_waiters() - wake tasks that wait for a tag
 * @q: queue
 *
 * Wakes as many tasks as there are tags, the first ones of each wait queue. A task that may not
 * have a tag goes to the end of the next wait queue. Not all tasks are woken, because interrupts
 * are off and thousands of tasks may be waiting.
 *
 * Does nothing if the queue is frozen, because it may be about to get other tags.
 */
static inline void htbs_wake_tag_waiters(struct request_queue *q)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	if (!percpu_ref_tryget(&q->q_usage_counter))
		return;
	queue_for_each_hw_ctx(q, hctx, i) {
		htbs_wake_waiters_of(&hctx->sched_tags->bitmap_tags);
		if (htbs_hctxs_share_tags(q))
			break;
	}
	percpu_ref_put(&q->q_usage_counter);
}

/**
 * htbs_async_depth_init() - let requests of all kinds have all tags
 * @q: queue; frozen
 *
 * Otherwise the queue would keep the limit that it had under its last elevator.
 */
static inline void htbs_async_depth_init(struct request_queue *q)
{
#if HTBS_ASYNC_DEPTH
	q->async_depth = q->nr_requests;
#endif
}

/**
 * htbs_async_depth() - the number of tags that requests other than synchronous reads may have
 * @q: queue
 *
 * From 7.0 on, the user can set it in queue/async_depth.
 *
 * Return: tags of one hardware queue, or of all if they share one set.
 */
static inline unsigned int htbs_async_depth(const struct request_queue *q)
{
#if HTBS_ASYNC_DEPTH
	return READ_ONCE(q->async_depth);
#else
	return UINT_MAX;
#endif
}

/**
 * htbs_announce_limit() - announce the lowest depth to which allocations may be limited
 * @q: queue; frozen
 *
 * This is a quarter of the tags, or less if the user has set less. Tasks that wait for tags
 * are woken in batches no larger than this depth allows.
 */
static inline void htbs_announce_limit(struct request_queue *q)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(q, hctx, i) {
		struct sbitmap_queue *sbq = &hctx->sched_tags->bitmap_tags;
		unsigned int least = min(sbq->sb.depth / 4, htbs_async_depth(q));

		sbitmap_queue_min_shallow_depth(sbq, htbs_shallow_depth(&sbq->sb, least));
	}
}

/**
 * htbs_limit_depth() - limit an allocation to some of the scheduler's tags
 * @data: argument of the limit_depth operation
 * @visible: number of tags; no fewer than htbs_announce_limit() has announced
 */
static inline void htbs_limit_depth(struct blk_mq_alloc_data *data, unsigned int visible)
{
	data->shallow_depth = htbs_shallow_depth(&data->hctx->sched_tags->bitmap_tags.sb, visible);
}

#endif /* HTBS_COMPAT_TAGS_H */
