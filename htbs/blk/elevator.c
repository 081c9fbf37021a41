// SPDX-License-Identifier: GPL-2.0
/*
 * HTBS, the high-throughput token bucket scheduler, as a blk-mq elevator.
 *
 * insert.c, dispatch.c and complete.c turn blk-mq's operations into events of the
 * policy, and queue the requests. choose.c makes the decisions. Not all requests are
 * scheduled: flushes never get here, and passthrough requests hardly ever do.
 *
 * This file attaches the elevator to a queue and detaches it.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <htbs/cap_timer.h>
#include <htbs/complete.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/dispatch.h>
#include <htbs/elevator.h>
#include <htbs/group.h>
#include <htbs/idle_timer.h>
#include <htbs/insert.h>
#include <htbs/lookup.h>
#include <htbs/merge.h>
#include <htbs/request.h>
#include <htbs/reservation.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/* The defaults; the ABI page says when to change them. */
#define HTBS_T_WAIT_ROTATIONAL	(10 * NSEC_PER_MSEC)
#define HTBS_T_WAIT_FLASH	0

/* How long one positioning is assumed to take at most, until one was measured. */
#define HTBS_POSITION_ROTATIONAL (20 * NSEC_PER_MSEC)
#define HTBS_POSITION_FLASH	NSEC_PER_MSEC

static const struct htbs_params htbs_defaults = {
	.bw		= 1024 * 1024,
	.burst		= 1024 * 1024,
	.latency	= NSEC_PER_SEC,
};

static bool htbs_has_work(struct blk_mq_hw_ctx *hctx)
{
	return htbs_device_has_work(htbs_device_of(hctx->queue));
}

static void htbs_resize(struct request_queue *q)
{
	htbs_announce_limit(q);
	htbs_tags_recount(htbs_device_of(q));
}

HTBS_DEFINE_DEPTH_UPDATED(htbs_depth_updated, htbs_resize)

static struct htbs_device *htbs_device_alloc(struct request_queue *q)
{
	/* The queue is frozen, so reclaim must not write to it. */
	bool flash = !htbs_queue_rotational(q);
	struct htbs_device *dev;

	dev = kzalloc_node(struct_size(dev, hctx_pending, q->nr_hw_queues), GFP_NOIO, q->node);
	if (!dev)
		return NULL;
	dev->shared = htbs_reservation_alloc(GFP_NOIO);
	if (!dev->shared) {
		kfree(dev);
		return NULL;
	}

	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->dispatch);
	INIT_LIST_HEAD(&dev->exempt);
	INIT_LIST_HEAD(&dev->urgent);
	kref_init(&dev->ref);
	dev->queue = q;
	dev->dispatches_ahead = flash && !q->mq_ops->get_budget;
	dev->devt = disk_devt(q->disk);
	dev->now = ktime_get_ns();
	dev->defaults = htbs_defaults;
	htbs_admission_set_init(&dev->admitted);
	htbs_policy_init(&dev->policy, &dev->background.flow, !flash,
			 flash ? HTBS_POSITION_FLASH : HTBS_POSITION_ROTATIONAL,
			 flash ? HTBS_T_WAIT_FLASH : HTBS_T_WAIT_ROTATIONAL);
	htbs_pool_configure(&dev->policy.pool, &htbs_defaults, dev->now);
	htbs_reservation_init(&dev->background, dev, &htbs_defaults);
	htbs_reclaim_init(dev);
	htbs_idle_timer_init(dev);
	htbs_cap_timer_init(dev);
	return dev;
}

/* The queue is frozen and quiesced. */
static int htbs_attach(struct request_queue *q, struct elevator_queue *eq)
{
	struct htbs_device *dev = htbs_device_alloc(q);
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;
	int err;

	if (!dev)
		return -ENOMEM;

	queue_for_each_hw_ctx(q, hctx, i) {
		if (!htbs_hctx_serves(hctx))
			continue;
		dev->hctx_tags = htbs_hctx_tags(hctx);
		dev->tag_sets++;
	}
	if (htbs_hctxs_share_tags(q))
		dev->tag_sets = 1;
	eq->elevator_data = dev;
	htbs_set_elevator(q, eq);
	htbs_trace_tunables(dev, true);
	err = htbs_tags_init(dev);
	if (err)
		goto put;
	err = htbs_reservations_attach(dev);
	if (err)
		goto exit_tags;

	htbs_async_depth_init(q);
	htbs_announce_limit(q);
	/* There is one order for all hardware queues. */
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	/* wbt would throttle writers before their requests are inserted. */
	htbs_wbt_disable(eq, q);
	return 0;

exit_tags:
	htbs_reclaim_cancel(dev);
	htbs_tags_exit(dev);
put:
	htbs_device_put(dev);
	return err;
}

HTBS_DEFINE_INIT_SCHED(htbs_init_sched, htbs_attach)

/* The queue is frozen and quiesced: no request is left. */
static void htbs_exit_sched(struct elevator_queue *eq)
{
	struct htbs_device *dev = eq->elevator_data;
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	htbs_device_unlock_run(dev, flags);
	WARN_ON_ONCE(!list_empty(&dev->dispatch));
	WARN_ON_ONCE(!list_empty(&dev->exempt));
	WARN_ON_ONCE(!list_empty(&dev->urgent));
	WARN_ON_ONCE(htbs_ahead_any(&dev->ahead));
	WARN_ON_ONCE(dev->first);
	WARN_ON_ONCE(dev->policy.pending);
	WARN_ON_ONCE(dev->policy.in_flight);
	WARN_ON_ONCE(memchr_inv(dev->hctx_pending, 0,
				flex_array_size(dev, hctx_pending, dev->queue->nr_hw_queues)));

	htbs_wbt_enable(eq, dev->queue);
	htbs_reservations_detach(dev);
	/* No group is left that a reservation could be created for. */
	htbs_reclaim_cancel(dev);
	htbs_cap_timer_cancel(dev);
	htbs_idle_timer_cancel(dev);
	htbs_tags_exit(dev);
	htbs_device_put(dev);
}

struct elevator_type htbs_elevator = {
	.ops = {
		.init_sched		= htbs_init_sched,
		.exit_sched		= htbs_exit_sched,
		.depth_updated		= htbs_depth_updated,

		.limit_depth		= htbs_limit_tag_depth,
		.prepare_request	= HTBS_PREPARES_REQUESTS ? htbs_rq_clear : NULL,
		.insert_requests	= htbs_insert_requests,

		.allow_merge		= htbs_allow_merge,
		.bio_merge		= htbs_bio_merge,
		.request_merge		= htbs_request_merge,
		.request_merged		= htbs_request_merged,
		.requests_merged	= htbs_requests_merged,
		.former_request		= elv_rb_former_request,
		.next_request		= elv_rb_latter_request,

		.has_work		= htbs_has_work,
		.dispatch_request	= htbs_dispatch_request,
		.requeue_request	= htbs_requeue_request,
		.completed_request	= htbs_completed_request,
		.finish_request		= htbs_finish_request,
	},
	.elevator_name	= "htbs",
	.elevator_owner	= THIS_MODULE,
};
