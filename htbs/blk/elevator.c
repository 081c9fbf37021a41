// SPDX-License-Identifier: GPL-2.0
/*
 * HTBS, the high-throughput token bucket scheduler, as a blk-mq elevator.
 *
 * A bio's cgroup tells which reservation it is charged to. A request that is
 * inserted is queued in the reservation's FIFO. Whenever the driver can take a request, the policy
 * chooses a flow and which of its requests to dispatch, or has the device idled
 * for a moment; then a timer ends the wait if the expected request does not
 * arrive. Requests of a throttled flow are pending as well: cap_timer.c.
 *
 * Not everything is scheduled. Flushes never get here, and hardly any
 * passthrough request does; requests without data, requests inserted at the
 * head and requeued requests go first.
 *
 * This file turns blk-mq's operations into events of the policy and keeps the
 * requests. The decisions are made in choose.c.
 */
#include <linux/blk-mq.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <htbs/cap_timer.h>
#include <htbs/core/choose.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/core/urgent.h>
#include <htbs/core/wait.h>
#include <htbs/elevator.h>
#include <htbs/group.h>
#include <htbs/idle_timer.h>
#include <htbs/lookup.h>
#include <htbs/merge.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/* The default; for when to change it see the ABI page. */
#define HTBS_T_WAIT_ROTATIONAL	(10 * NSEC_PER_MSEC)
#define HTBS_T_WAIT_FLASH	0

/* What one positioning is believed to take at most before one was seen. */
#define HTBS_POSITION_ROTATIONAL (20 * NSEC_PER_MSEC)
#define HTBS_POSITION_FLASH	NSEC_PER_MSEC

static const struct htbs_params htbs_defaults = {
	.bw		= 1024 * 1024,
	.burst		= 1024 * 1024,
	.latency	= NSEC_PER_SEC,
};

/*
 * Insertion.
 */

/* Queue a request that goes first, whatever its reservation. */
static void htbs_insert_first(struct htbs_device *dev, struct request *rq,
			      bool at_head)
{
	if (at_head)
		list_add(&rq->queuelist, &dev->dispatch);
	else
		list_add_tail(&rq->queuelist, &dev->dispatch);
}

static void htbs_insert_pending(struct htbs_device *dev,
				struct htbs_reservation *res,
				struct request *rq)
{
	u64 now = ktime_get_ns();
	const struct htbs_head in = {
		.arrived	= now,
		.cost		= htbs_rq_cost(rq),
		.write		= op_is_write(rq->cmd_flags),
		.pos		= blk_rq_pos(rq),
	};
	struct htbs_arrival arrival;

	htbs_policy_arrive(&dev->policy, &res->flow, now, &in, &arrival);
	htbs_rq_set_arrived(rq, now);
	if (arrival.hit)
		res->stats.hits++;
	if (arrival.wait_shortened)
		htbs_idle_timer_arm(dev);

	htbs_queue_add(dev, res, rq);
	htbs_tags_account(dev, res);
	htbs_trace_arrive(dev, res, rq, now, &arrival);
}

/*
 * A request that other groups may wait for is exempt from the cap. It is
 * charged to the cap, so the flow's later requests wait for longer.
 */
static void htbs_insert_exempt(struct htbs_device *dev,
			       struct htbs_reservation *res,
			       struct request *rq)
{
	htbs_queue_bypass(dev, res, htbs_rq_cost(rq));
	list_add_tail(&rq->queuelist, &dev->exempt);
	htbs_trace_pass(dev, res, rq, ktime_get_ns());
}

/*
 * A request that other groups may wait for is urgent if one of them has a reservation.
 * It is charged to its own, and passes what is pending.
 */
static bool htbs_insert_urgent(struct htbs_device *dev,
			       struct htbs_reservation *res,
			       struct request *rq)
{
	u64 now = ktime_get_ns(), due;
	u32 cost = htbs_rq_cost(rq);

	if (!htbs_rq_issued_as_root(rq) ||
	    !htbs_policy_admit_urgent(&dev->policy, now, cost, &due))
		return false;
	htbs_queue_bypass(dev, res, cost);
	htbs_rq_set_arrived(rq, due);
	list_add_tail(&rq->queuelist, &dev->urgent);
	htbs_trace_pass(dev, res, rq, now);
	return true;
}

/*
 * Whether a request may be merged into a pending one. A chain of discards would
 * be merged and freed without the scheduler's knowledge. A request that other
 * groups may wait for must not be throttled, or go behind in the background,
 * with the request it is merged into.
 */
static bool htbs_may_merge(struct htbs_device *dev, struct request *rq)
{
	if (!dev->policy.pending || req_op(rq) == REQ_OP_DISCARD)
		return false;
	if (!htbs_op_issued_as_root(rq->cmd_flags) || !rq->bio)
		return true;
	return IOPRIO_PRIO_CLASS(rq->bio->bi_ioprio) != IOPRIO_CLASS_IDLE &&
	       !htbs_reservation_of_rq(dev, rq)->flow.cap.max;
}

static void htbs_insert(struct htbs_device *dev, struct request *rq,
			bool at_head, struct list_head *free)
{
	struct htbs_reservation *res;

	lockdep_assert_held(&dev->lock);

	/*
	 * 6.1 does not prepare FUA writes, and inserts plugged passthrough
	 * requests. A requeued request has been chosen before.
	 */
	if (!htbs_rq_prepared(rq) || blk_rq_is_passthrough(rq) ||
	    htbs_rq_reservation(rq)) {
		htbs_insert_first(dev, rq, at_head);
		return;
	}
	if (htbs_may_merge(dev, rq) &&
	    blk_mq_sched_try_insert_merge(dev->queue, rq, free))
		return;

	if (!rq->bio || !blk_rq_bytes(rq)) {
		htbs_insert_first(dev, rq, at_head);
		return;
	}

	res = htbs_reservation_of_rq(dev, rq);
	if (res->blkg)
		htbs_blkg_get(res->blkg);
	htbs_rq_set_reservation(rq, res);
	res->stats.inserted++;
	/* The data of a write between two flushes is inserted at the head. */
	if (at_head) {
		htbs_queue_bypass(dev, res, htbs_rq_cost(rq));
		htbs_insert_first(dev, rq, at_head);
	} else if (htbs_rq_issued_as_root(rq) &&
		   res->flow.cap.max) {
		htbs_insert_exempt(dev, res, rq);
	} else if (!htbs_insert_urgent(dev, res, rq)) {
		htbs_insert_pending(dev, res, rq);
	}
}

static void htbs_insert_requests(struct blk_mq_hw_ctx *hctx,
				 struct list_head *list, htbs_insert_t how)
{
	struct htbs_device *dev = htbs_device_of(hctx->queue);
	bool at_head = htbs_insert_at_head(how);
	struct request *rq, *next;
	unsigned long flags;
	LIST_HEAD(free);

	spin_lock_irqsave(&dev->lock, flags);
	while (!list_empty(list)) {
		rq = list_first_entry(list, struct request, queuelist);
		list_del_init(&rq->queuelist);
		htbs_insert(dev, rq, at_head, &free);
	}
	htbs_cap_timer_arm(dev);
	htbs_device_unlock(dev, flags);

	list_for_each_entry_safe(rq, next, &free, queuelist) {
		list_del_init(&rq->queuelist);
		blk_mq_free_request(rq);
	}
}

/*
 * Dispatch.
 */

static void htbs_start_request(struct htbs_device *dev,
			       struct htbs_reservation *res,
			       struct request *rq)
{
	u32 bytes = blk_rq_bytes(rq);
	enum htbs_op op;

	htbs_rq_set_flag(rq, HTBS_RQ_IN_FLIGHT);
	if (htbs_rq_flag(rq, HTBS_RQ_COUNTED))
		return;

	htbs_rq_set_flag(rq, HTBS_RQ_COUNTED);
	res->stats.conforming += htbs_rq_flag(rq, HTBS_RQ_CONFORMS);
	if (!htbs_data_bytes(rq->cmd_flags, bytes))
		op = HTBS_OP_DISCARD;
	else
		op = op_is_write(rq->cmd_flags) ? HTBS_OP_WRITE : HTBS_OP_READ;
	res->stats.ios[op]++;
	res->stats.bytes[op] += bytes;
}

/* The first urgent request, if what is owed leaves time for it. */
static struct request *htbs_urgent_request(struct htbs_device *dev, u64 now)
{
	struct request *rq = list_first_entry_or_null(&dev->urgent,
						      struct request,
						      queuelist);

	if (!rq || !htbs_policy_urgent_goes(&dev->policy, now, htbs_rq_cost(rq),
					    htbs_rq_arrived(rq)))
		return NULL;
	return rq;
}

/*
 * The request to dispatch first, whatever the policy says. A request that is
 * exempt from its cap goes at most every other time, so that a flood of them
 * starves no other.
 */
static struct request *htbs_first_request(struct htbs_device *dev, u64 now)
{
	bool turn = !dev->exempt_turn || !htbs_policy_has_work(&dev->policy);
	struct request *rq = list_first_entry_or_null(&dev->dispatch,
						      struct request,
						      queuelist);

	if (rq)
		return rq;
	rq = list_first_entry_or_null(&dev->exempt, struct request, queuelist);
	dev->exempt_turn = rq && turn;
	return dev->exempt_turn ? rq : htbs_urgent_request(dev, now);
}

/* A request that was dispatched before is due when it was then. */
static void htbs_redispatch(struct htbs_device *dev,
			    struct htbs_reservation *res, struct request *rq,
			    u64 now)
{
	struct htbs_sent sent = {
		.due	= now + htbs_flow_latency(&res->flow),
		.write	= op_is_write(rq->cmd_flags),
	};

	if (htbs_rq_flag(rq, HTBS_RQ_COUNTED))
		htbs_rq_sent(rq, &sent);
	sent.at = now;
	sent.cost = htbs_rq_cost(rq);
	sent.far = true;
	htbs_rq_set_sent(rq, &sent);
	htbs_policy_redispatch(&dev->policy, &res->flow, &sent);
	htbs_start_request(dev, res, rq);
	htbs_tags_account(dev, res);
}

static struct request *htbs_dispatch_first(struct htbs_device *dev, u64 now)
{
	struct request *rq = htbs_first_request(dev, now);
	struct htbs_reservation *res;

	if (!rq)
		return NULL;

	list_del_init(&rq->queuelist);
	res = htbs_rq_prepared(rq) ? htbs_rq_reservation(rq) : NULL;
	if (res)
		htbs_redispatch(dev, res, rq, now);
	htbs_trace_dispatch(dev, res, rq, now, HTBS_ORDER_NONE);
	return rq;
}

/* Take the chosen request from its reservation. */
static struct request *htbs_take_chosen(struct htbs_device *dev,
					struct htbs_reservation *res,
					enum htbs_order order)
{
	struct request *rq = order == HTBS_ORDER_NEAREST ?
			     htbs_queue_nearest(res) : htbs_queue_oldest(res);

	htbs_queue_take(dev, res, rq);
	return rq;
}

static void htbs_account_dispatch(struct htbs_device *dev,
				  struct htbs_reservation *res,
				  struct request *rq, u64 now)
{
	const struct htbs_extent extent = {
		.arrived	= htbs_rq_arrived(rq),
		.pos		= blk_rq_pos(rq),
		.sectors	= blk_rq_sectors(rq),
		.cost		= htbs_rq_cost(rq),
		.sync		= op_is_sync(rq->cmd_flags),
		.write		= op_is_write(rq->cmd_flags),
	};
	struct htbs_sent sent;

	if (htbs_policy_dispatch(&dev->policy, &res->flow, now, &extent, &sent))
		htbs_trace_overload(dev, now);
	htbs_rq_set_sent(rq, &sent);
	htbs_queue_update_head(dev, res);
	htbs_trace_dispatch(dev, res, rq, now, dev->policy.order);
	htbs_start_request(dev, res, rq);
}

static struct request *htbs_dispatch_chosen(struct htbs_device *dev, u64 now)
{
	struct htbs_flow *was_active = dev->policy.active;
	struct htbs_reservation *res;
	struct htbs_choice choice;
	struct request *rq;

	htbs_unthrottle_due(dev, now);
	htbs_policy_choose(&dev->policy, now, &choice);
	htbs_trace_choice(dev, &choice, was_active, now);
	if (choice.wait_began) {
		htbs_flow_owner(dev->policy.active)->stats.waits++;
		htbs_idle_timer_arm(dev);
	}
	if (choice.held)
		htbs_idle_timer_arm(dev);
	if (!choice.flow)
		return NULL;

	res = htbs_flow_owner(choice.flow);
	rq = htbs_take_chosen(dev, res, choice.order);
	htbs_account_dispatch(dev, res, rq, now);
	htbs_cap_timer_arm(dev);
	return rq;
}

/*
 * blk-mq asks for one hardware queue and may get a request of another: there is
 * one order for the whole device. blk-mq sorts it out.
 *
 * blk-mq takes a request before it knows of a driver tag for it, and one without a tag
 * stays ahead of all that comes later.  So while the driver has no tag, no request is
 * chosen: the next completion runs the queue.  A driver with a budget is asked before.
 */
static struct request *htbs_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct htbs_device *dev = htbs_device_of(hctx->queue);
	struct request *rq;
	unsigned long flags;
	bool overload;
	u64 now;

	spin_lock_irqsave(&dev->lock, flags);
	now = ktime_get_ns();
	overload = dev->policy.overload.now;
	rq = htbs_dispatch_first(dev, now);
	if (!rq && dev->policy.in_flight < htbs_driver_tags(hctx))
		rq = htbs_dispatch_chosen(dev, now);
	else if (!rq)
		htbs_policy_hold_for_tag(&dev->policy);
	overload = !overload && dev->policy.overload.now;
	htbs_device_unlock(dev, flags);

	/* Not with interrupts off: a console may be slow. */
	if (overload)
		htbs_warn_overload(dev);
	return rq;
}

static bool htbs_has_work(struct blk_mq_hw_ctx *hctx)
{
	return READ_ONCE(htbs_device_of(hctx->queue)->has_work);
}

/*
 * Completion, which may run in hard interrupt context.
 */

static void htbs_judge(struct htbs_device *dev, struct htbs_reservation *res,
		       struct request *rq, u64 now)
{
	u64 due = htbs_rq_due(rq);
	struct htbs_stats *stats = &res->stats;

	stats->completed++;
	if (!htbs_rq_flag(rq, HTBS_RQ_CONFORMS))
		return;
	if (!htbs_before(due, now)) {
		stats->met++;
		return;
	}
	stats->missed++;
	stats->late_max = max(stats->late_max, now - due);
	htbs_trace_late(dev, res, rq, now, now - due);
}

/* blk-mq's time is not used: it may be that of the submitter's plug. */
static void htbs_completed_request(struct request *rq, u64 unused)
{
	struct htbs_device *dev = htbs_device_of(rq->q);
	struct htbs_reservation *res;
	struct htbs_sent sent;
	bool waits, held;
	unsigned long flags;
	u64 now;

	if (!htbs_rq_prepared(rq))
		return;
	res = htbs_rq_reservation(rq);
	if (!res)
		return;

	spin_lock_irqsave(&dev->lock, flags);
	now = ktime_get_ns();
	held = dev->policy.held;
	htbs_judge(dev, res, rq, now);
	if (htbs_rq_flag(rq, HTBS_RQ_IN_FLIGHT)) {
		htbs_rq_clear_flag(rq, HTBS_RQ_IN_FLIGHT);
		htbs_rq_sent(rq, &sent);
		waits = htbs_policy_complete(&dev->policy, &res->flow, now,
					     &sent);
		htbs_tags_account(dev, res);
		if (waits)
			htbs_idle_timer_arm(dev);
		htbs_trace_complete(dev, res, rq, now, waits);
	}
	htbs_device_unlock(dev, flags);

	/*
	 * The held request may be dispatched now, and blk-mq does not ask
	 * again.
	 */
	if (held)
		blk_mq_run_hw_queues(dev->queue, true);
}

/*
 * The driver no longer has the request, which did not complete. It may come
 * back by insert_requests() or never: blk-mq may pass it to the driver itself.
 */
static void htbs_give_back(struct htbs_device *dev, struct request *rq)
{
	struct htbs_reservation *res = htbs_rq_reservation(rq);
	u64 now = ktime_get_ns();
	struct htbs_sent sent;
	unsigned long flags;
	bool cancelled, held;

	spin_lock_irqsave(&dev->lock, flags);
	held = dev->policy.held;
	htbs_rq_clear_flag(rq, HTBS_RQ_IN_FLIGHT);
	htbs_rq_sent(rq, &sent);
	cancelled = htbs_policy_requeue(&dev->policy, &res->flow, &sent);
	htbs_tags_account(dev, res);
	if (cancelled)
		htbs_trace_wait_end(dev, &res->flow, now, HTBS_WAIT_CANCELLED);
	htbs_trace_give_back(dev, res, rq, now);
	htbs_device_unlock(dev, flags);

	/*
	 * The request may be requeued much later; other requests need not wait.
	 */
	if (cancelled || held)
		blk_mq_run_hw_queues(dev->queue, true);
}

static void htbs_requeue_request(struct request *rq)
{
	if (htbs_rq_reservation(rq) && htbs_rq_flag(rq, HTBS_RQ_IN_FLIGHT))
		htbs_give_back(htbs_device_of(rq->q), rq);
}

static void htbs_prepare_request(struct request *rq)
{
	htbs_rq_set_reservation(rq, NULL);
}

/* Also called for requests that were never inserted, or were merged. */
static void htbs_finish_request(struct request *rq)
{
	struct htbs_reservation *res = htbs_rq_reservation(rq);

	if (!res)
		return;

	if (htbs_rq_flag(rq, HTBS_RQ_IN_FLIGHT))
		htbs_give_back(htbs_device_of(rq->q), rq);
	htbs_rq_set_reservation(rq, NULL);
	if (res->blkg)
		htbs_blkg_put(res->blkg);
}

HTBS_DEFINE_DEPTH_UPDATED(htbs_depth_updated, htbs_announce_limit)

/* Attaching and detaching the elevator. */

static struct htbs_device *htbs_device_alloc(struct request_queue *q)
{
	/* The queue is frozen: reclaim must not write to it. */
	struct htbs_device *dev = kzalloc_node(sizeof(*dev), GFP_NOIO, q->node);
	bool flash = blk_queue_nonrot(q);

	if (!dev)
		return NULL;

	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->dispatch);
	INIT_LIST_HEAD(&dev->exempt);
	INIT_LIST_HEAD(&dev->urgent);
	kref_init(&dev->ref);
	dev->queue = q;
	dev->devt = disk_devt(q->disk);
	dev->defaults = htbs_defaults;
	htbs_admission_set_init(&dev->admitted);
	htbs_policy_init(&dev->policy, &dev->background.flow, !flash,
			 flash ? HTBS_POSITION_FLASH : HTBS_POSITION_ROTATIONAL,
			 flash ? HTBS_T_WAIT_FLASH : HTBS_T_WAIT_ROTATIONAL);
	htbs_pool_configure(&dev->policy.pool, &htbs_defaults, ktime_get_ns());
	htbs_reservation_init(&dev->background, dev, &htbs_defaults);
	htbs_idle_timer_init(dev);
	htbs_cap_timer_init(dev);
	return dev;
}

/* The queue is frozen and quiesced. */
static int htbs_attach(struct request_queue *q, struct elevator_queue *eq)
{
	struct htbs_device *dev = htbs_device_alloc(q);
	int err;

	if (!dev)
		return -ENOMEM;

	eq->elevator_data = dev;
	htbs_set_elevator(q, eq);
	htbs_trace_tunables(dev, true);
	err = htbs_reservations_attach(dev);
	if (err) {
		htbs_device_put(dev);
		return err;
	}

	htbs_announce_limit(q);
	/* There is one order for all hardware queues. */
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	/* It would throttle writers before their requests are inserted. */
	htbs_wbt_disable(eq, q);
	return 0;
}

HTBS_DEFINE_INIT_SCHED(htbs_init_sched, htbs_attach)

/* The queue is frozen and quiesced: no request is left. */
static void htbs_exit_sched(struct elevator_queue *eq)
{
	struct htbs_device *dev = eq->elevator_data;

	WARN_ON_ONCE(!list_empty(&dev->dispatch));
	WARN_ON_ONCE(!list_empty(&dev->exempt));
	WARN_ON_ONCE(!list_empty(&dev->urgent));
	WARN_ON_ONCE(dev->policy.pending);

	htbs_cap_timer_cancel(dev);
	htbs_idle_timer_cancel(dev);
	htbs_wbt_enable(eq, dev->queue);
	htbs_reservations_detach(dev);
	htbs_device_put(dev);
}

struct elevator_type htbs_elevator = {
	.ops = {
		.init_sched		= htbs_init_sched,
		.exit_sched		= htbs_exit_sched,
		.depth_updated		= htbs_depth_updated,

		.limit_depth		= htbs_limit_tag_depth,
		.prepare_request	= htbs_prepare_request,
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
