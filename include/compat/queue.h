/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a request queue.
 */
#ifndef HTBS_COMPAT_QUEUE_H
#define HTBS_COMPAT_QUEUE_H

#include <linux/blkdev.h>
#include <linux/pm.h>
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
 * htbs_queue_freezes() - whether a freeze waits for a queue's requests
 * @q: queue
 *
 * An attempt to suspend an unused disk at runtime, blk_pre_runtime_suspend(), freezes the queue to
 * find out whether it has requests, and fails if it has. It does not wait for them, so it does not
 * count.
 *
 * Return: true if one does.
 */
static inline bool htbs_queue_freezes(const struct request_queue *q)
{
#ifdef CONFIG_PM
	if (q->dev && READ_ONCE(q->rpm_status) == RPM_SUSPENDING)
		return false;
#endif
	return READ_ONCE(q->mq_freeze_depth);
}

/**
 * htbs_wbt_disable() - disable write-back throttling of a queue
 * @eq: the queue's elevator
 * @q: queue
 *
 * It would throttle writers before their requests are inserted. Called by init_sched.
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
 * Called by exit_sched.
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
