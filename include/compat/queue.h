/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a request queue.
 */
#ifndef HTBS_COMPAT_QUEUE_H
#define HTBS_COMPAT_QUEUE_H

#include <linux/blkdev.h>
#include <generated/htbs-private.h>

/**
 * htbs_queue_rotational() - whether a queue's device seeks
 * @q: queue
 *
 * Return: true if it does.
 */
static inline bool htbs_queue_rotational(const struct request_queue *q)
{
#ifdef blk_queue_nonrot
	return !blk_queue_nonrot(q);
#else
	return blk_queue_rot(q);
#endif
}

/**
 * htbs_wbt_disable() - disable write-back throttling of a queue
 * @eq: the queue's elevator
 * @q: queue
 *
 * It would throttle writers before their requests are inserted. For init_sched.
 */
static inline void htbs_wbt_disable(struct elevator_queue *eq, struct request_queue *q)
{
#if HTBS_WBT_ELEVATOR_FLAG
	set_bit(1 /* ELEVATOR_FLAG_DISABLE_WBT */, &eq->flags);
#elif HTBS_WBT_QUEUE_FLAG
	blk_queue_flag_set(QUEUE_FLAG_DISABLE_WBT_DEF, q);
#endif
#if HTBS_WBT && HTBS_WBT_BY_QUEUE
	wbt_disable_default(q);
#elif HTBS_WBT
	wbt_disable_default(q->disk);
#endif
}

/**
 * htbs_wbt_enable() - undo htbs_wbt_disable()
 * @eq: the queue's elevator
 * @q: queue
 *
 * For exit_sched.
 */
static inline void htbs_wbt_enable(struct elevator_queue *eq, struct request_queue *q)
{
#if HTBS_WBT_ELEVATOR_FLAG
	clear_bit(1 /* ELEVATOR_FLAG_DISABLE_WBT */, &eq->flags);
#elif HTBS_WBT_QUEUE_FLAG
	blk_queue_flag_clear(QUEUE_FLAG_DISABLE_WBT_DEF, q);
#endif
#if HTBS_WBT && HTBS_WBT_BY_QUEUE
	wbt_enable_default(q);
#elif HTBS_WBT
	wbt_enable_default(q->disk);
#endif
}

#endif /* HTBS_COMPAT_QUEUE_H */
