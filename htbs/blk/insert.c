// SPDX-License-Identifier: GPL-2.0
/*
 * Insertion: requests that blk-mq passes to the scheduler.
 *
 * The cgroup of its bio determines the reservation that a request is charged to. The
 * request is queued in the FIFO of the reservation, unless it is merged, urgent, exempt
 * from its cap, or goes first whatever its reservation is: requests without data, requests
 * inserted at the head, and requeued requests go first. Or the request is dispatched as it
 * arrives (ahead.h).
 */
#include <linux/blk-mq.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <trace/events/block.h>

#include <htbs/cap_timer.h>
#include <htbs/core/choose.h>
#include <htbs/core/policy.h>
#include <htbs/core/urgent.h>
#include <htbs/dispatch.h>
#include <htbs/group.h>
#include <htbs/idle_timer.h>
#include <htbs/insert.h>
#include <htbs/lookup.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/**
 * struct htbs_batch - requests that are inserted at once
 * @list: the requests that are not queued yet
 * @last: the last of the requests at the start of @list that wait to be moved to @fifo, or NULL
 * @fifo: the FIFO of these requests
 * @blkg: the group of the request that was looked up last
 * @res: the reservation of that request
 * @ioprio: the priority of that request; -1: other groups may wait for it, or no request was
 *	looked up yet
 * @room: how many more requests may be dispatched as they arrive
 * @at_head: the requests go first
 * @dispatched: the requests at the start of @list were dispatched as they arrived
 */
struct htbs_batch {
	struct list_head *list;
	struct list_head *last;
	struct list_head *fifo;
	struct blkcg_gq *blkg;
	struct htbs_reservation *res;
	int ioprio;
	u16 room;
	bool at_head;
	bool dispatched;
};

/* Queue a request that goes first, whatever its reservation is. */
static void htbs_insert_first(struct htbs_device *dev, struct request *rq,
			      bool at_head)
{
	if (at_head)
		list_add(&rq->queuelist, &dev->dispatch);
	else
		list_add_tail(&rq->queuelist, &dev->dispatch);
	dev->first++;
}

/* Move the requests at the start of the list, up to @last, to their FIFO. */
static void htbs_batch_queue(struct htbs_batch *batch)
{
	if (batch->last)
		list_bulk_move_tail(batch->fifo, batch->list->next, batch->last);
	batch->last = NULL;
}

/* Leave @rq on the list for now. It is moved to its FIFO together with its neighbours. */
static void htbs_batch_add(struct htbs_device *dev, struct htbs_batch *batch,
			   struct htbs_reservation *res, struct request *rq)
{
	if (batch->fifo != &res->fifo)
		htbs_batch_queue(batch);
	batch->fifo = &res->fifo;
	batch->last = &rq->queuelist;
	htbs_queue_count(dev, res, rq);
}

/*
 * @rq is not dispatched as it arrives. Pass on the requests before it that were dispatched. Later
 * ones are not dispatched as they arrive, either.
 */
static void htbs_batch_cut(struct htbs_device *dev, struct htbs_batch *batch,
			   struct request *rq)
{
	LIST_HEAD(ahead);

	batch->room = 0;
	if (!batch->dispatched)
		return;
	batch->dispatched = false;
	list_cut_before(&ahead, batch->list, &rq->queuelist);
	htbs_ahead_add_list(&dev->ahead, &ahead);
}

/* Take a request that is queued alone from the list, once those before it are queued. */
static void htbs_batch_take(struct htbs_batch *batch, struct request *rq)
{
	htbs_batch_queue(batch);
	list_del_init(&rq->queuelist);
}

/* A request arrives, and is pending until the policy chooses it. */
static __always_inline void
htbs_arrive(struct htbs_device *dev, struct htbs_reservation *res,
	    struct request *rq, u64 now)
{
	struct htbs_arrival arrival;

	htbs_rq_set_arrived(rq, now);
	if (!res->flow.pending)
		htbs_rq_extent(rq, now, &res->flow.head);
	htbs_policy_arrive(&dev->policy, &res->flow, now, &arrival);
	if (arrival.hit)
		res->stats.hits++;
	if (arrival.wait_shortened)
		htbs_idle_timer_arm(dev);
	htbs_trace_arrive(dev, res, rq, now, &arrival);
}

static void htbs_insert_pending(struct htbs_device *dev,
				struct htbs_reservation *res,
				struct request *rq, u64 now)
{
	htbs_queue_add(dev, res, rq);
	htbs_arrive(dev, res, rq, now);
}

/*
 * A request that other groups may wait for is exempt from the cap. It is still
 * charged to the cap, so later requests of the flow wait longer.
 */
static void htbs_insert_exempt(struct htbs_device *dev,
			       struct htbs_reservation *res,
			       struct request *rq, u64 now)
{
	htbs_queue_bypass(dev, res, htbs_rq_cost(rq), now);
	list_add_tail(&rq->queuelist, &dev->exempt);
	dev->first++;
	htbs_trace_pass(dev, res, rq, now);
}

/* Keep urgent requests in the order in which they are due. Mostly the last one is due last. */
static void htbs_add_urgent(struct htbs_device *dev, struct request *rq, u64 due)
{
	struct request *other;

	htbs_rq_set_arrived(rq, due);
	list_for_each_entry_reverse(other, &dev->urgent, queuelist)
		if (!htbs_before(due, htbs_rq_arrived(other)))
			break;
	list_add(&rq->queuelist, &other->queuelist);
	dev->first++;
}

/*
 * A request that other groups may wait for is urgent if conforming requests of one of them are
 * expected, and urgent requests have not had their part of the device's time. It is charged to its
 * own reservation, and passes pending requests. Return true if it is urgent.
 */
static bool htbs_insert_urgent(struct htbs_device *dev,
			       struct htbs_reservation *res,
			       struct request *rq, u64 now)
{
	u32 cost = htbs_rq_cost(rq);
	u64 due;

	if (!htbs_policy_admit_urgent(&dev->policy, now, cost, &due))
		return false;
	htbs_queue_bypass(dev, res, cost, now);
	htbs_add_urgent(dev, rq, due);
	htbs_trace_pass(dev, res, rq, now);
	return true;
}

/*
 * Return true if a request may be merged into a pending one. A chain of discards
 * would be merged and freed without the scheduler's knowledge. A request that other
 * groups may wait for must not be merged into a request that is throttled or that
 * waits in the background.
 */
static bool htbs_may_merge(struct htbs_device *dev,
			   struct htbs_reservation *res, struct request *rq)
{
	if (!dev->policy.pending || req_op(rq) == REQ_OP_DISCARD ||
	    !htbs_queue_merges(dev, res))
		return false;
	return !htbs_op_issued_as_root(rq->cmd_flags) ||
	       (IOPRIO_PRIO_CLASS(rq->bio->bi_ioprio) != IOPRIO_CLASS_IDLE &&
		!res->flow.cap.max);
}

/*
 * Requests that are inserted at once mostly have the same group and class, and so the same
 * reservation. Requests that other groups may wait for are looked up one by one.
 */
static struct htbs_reservation *htbs_lookup(struct htbs_device *dev,
					    struct htbs_batch *batch,
					    struct request *rq)
{
	const struct bio *bio = rq->bio;
	bool as_root = htbs_rq_issued_as_root(rq);

	if (!as_root && bio->bi_blkg == batch->blkg &&
	    bio->bi_ioprio == batch->ioprio)
		return batch->res;
	batch->blkg = bio->bi_blkg;
	batch->ioprio = as_root ? -1 : bio->bi_ioprio;
	batch->res = htbs_reservation_by_class(dev, bio->bi_blkg, bio->bi_ioprio, as_root);
	return batch->res;
}

/* Return true if a request is to be scheduled. A requeued one has been chosen before. */
static bool htbs_is_scheduled(struct request *rq)
{
	return htbs_rq_scheduled(rq) && !htbs_rq_reservation(rq) && rq->bio &&
	       blk_rq_bytes(rq);
}

/* Return true if a request goes to the end of its FIFO without being looked up for a merge. */
static bool htbs_is_plain(const struct htbs_device *dev, const struct htbs_batch *batch,
			  const struct htbs_reservation *res, struct request *rq)
{
	return !batch->at_head && !htbs_queue_merges(dev, res) &&
	       !htbs_rq_issued_as_root(rq);
}

/* Insert a request that was taken from the list. */
static void htbs_insert_one(struct htbs_device *dev, const struct htbs_batch *batch,
			    struct htbs_reservation *res, struct request *rq)
{
	/* The data of a write between two flushes is inserted at the head. */
	if (batch->at_head) {
		htbs_queue_bypass(dev, res, htbs_rq_cost(rq), dev->now);
		htbs_insert_first(dev, rq, true);
	} else if (!htbs_rq_issued_as_root(rq)) {
		htbs_insert_pending(dev, res, rq, dev->now);
	} else if (res->flow.cap.max) {
		htbs_insert_exempt(dev, res, rq, dev->now);
	} else if (!htbs_insert_urgent(dev, res, rq, dev->now)) {
		htbs_insert_pending(dev, res, rq, dev->now);
	}
}

/* Charge a request to a reservation from now on. */
static __always_inline void
htbs_charge(struct htbs_device *dev, struct htbs_reservation *res, struct request *rq)
{
	trace_block_rq_insert(rq);
	htbs_rq_set_reservation(rq, res);
	htbs_rq_set_inserted_by(rq, current);
	htbs_rq_hold(dev, rq, res);
	res->stats.inserted++;
}

/* Return true if the request that was looked up last may be dispatched as it arrives. */
static bool htbs_may_go_ahead(const struct htbs_device *dev,
			      const struct htbs_batch *batch,
			      const struct htbs_reservation *res)
{
	return batch->room && batch->ioprio >= 0 &&
	       htbs_policy_has_no_choice(&dev->policy, &res->flow);
}

/* Hold back an arriving request, so that blk-mq does not ask for it needlessly. */
static noinline void htbs_insert_held(struct htbs_device *dev,
				      struct htbs_reservation *res, struct request *rq)
{
	htbs_rq_set_arrived(rq, dev->now);
	htbs_queue_add(dev, res, rq);
	htbs_idle_timer_arm(dev);
	htbs_trace_arrive(dev, res, rq, dev->now, &(struct htbs_arrival){ });
	htbs_trace_choice(dev, &(struct htbs_choice){ .held = true }, dev->policy.active,
			  dev->now);
}

static void htbs_insert_arriving(struct htbs_device *dev, struct htbs_batch *batch,
				 struct htbs_reservation *res, struct request *rq)
{
	const struct htbs_flow *was_active = dev->policy.active;
	struct htbs_sent sent;

	htbs_charge(dev, res, rq);
	htbs_rq_extent(rq, dev->now, &res->flow.head);
	if (!htbs_policy_dispatch_arriving(&dev->policy, &res->flow, dev->now, &sent)) {
		htbs_batch_cut(dev, batch, rq);
		htbs_batch_take(batch, rq);
		htbs_insert_held(dev, res, rq);
		return;
	}
	htbs_rq_set_sent(rq, &sent);
	htbs_start_request(dev, res, rq);
	htbs_trace_arriving(dev, res, rq, dev->now, was_active);
	batch->dispatched = true;
	batch->room--;
}

/* Insert a request that is not looked up for a merge, at the end of its FIFO. */
static void htbs_insert_plain(struct htbs_device *dev, struct htbs_batch *batch,
			      struct htbs_reservation *res, struct request *rq)
{
	htbs_charge(dev, res, rq);
	htbs_batch_add(dev, batch, res, rq);
	htbs_arrive(dev, res, rq, dev->now);
}

/* Returns the reservation that the request is charged to, or NULL if it has none or was merged. */
static struct htbs_reservation *htbs_insert(struct htbs_device *dev,
					    struct htbs_batch *batch,
					    struct request *rq, struct list_head *free)
{
	struct htbs_reservation *res;

	lockdep_assert_held(&dev->lock);

	if (!htbs_is_scheduled(rq)) {
		htbs_batch_cut(dev, batch, rq);
		htbs_batch_take(batch, rq);
		trace_block_rq_insert(rq);
		htbs_insert_first(dev, rq, batch->at_head);
		return NULL;
	}

	res = htbs_lookup(dev, batch, rq);
	if (htbs_may_go_ahead(dev, batch, res)) {
		htbs_insert_arriving(dev, batch, res, rq);
		return res;
	}
	htbs_batch_cut(dev, batch, rq);
	if (htbs_is_plain(dev, batch, res, rq)) {
		htbs_insert_plain(dev, batch, res, rq);
	} else {
		htbs_batch_take(batch, rq);
		if (htbs_may_merge(dev, res, rq) &&
		    blk_mq_sched_try_insert_merge(dev->queue, rq, free))
			return NULL;
		htbs_charge(dev, res, rq);
		htbs_insert_one(dev, batch, res, rq);
	}
	return res;
}

/* Requests that were merged are moved to @free. */
static void htbs_insert_batch(struct htbs_device *dev, struct htbs_batch *batch,
			      struct list_head *free)
{
	struct htbs_reservation *res, *last = NULL;
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, batch->list, queuelist) {
		res = htbs_insert(dev, batch, rq, free);
		if (last && last != res)
			htbs_tags_account(dev, last);
		last = res;
	}
	if (batch->dispatched) {
		htbs_ahead_add_list(&dev->ahead, batch->list);
	} else {
		htbs_batch_queue(batch);
		htbs_cap_timer_arm(dev);
	}
	if (last)
		htbs_tags_account(dev, last);
}

/*
 * Return true if this task runs the queue right after the insertion. It does so when a plug ends,
 * unless the task is about to sleep. Otherwise a worker runs the queue later.
 */
static bool htbs_runs_queue(void)
{
	return current->plug && task_is_running(current);
}

static noinline void htbs_free_merged(struct list_head *free)
{
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, free, queuelist) {
		list_del_init(&rq->queuelist);
		blk_mq_free_request(rq);
	}
}

/**
 * htbs_insert_requests() - queue requests that are to be scheduled
 * @hctx: the hardware queue that they were submitted to
 * @list: the requests; empty afterwards
 * @how: at the head, or where the scheduler puts them
 */
void htbs_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list,
			  htbs_insert_t how)
{
	struct htbs_device *dev = htbs_device_of(hctx->queue);
	LIST_HEAD(free);
	struct htbs_batch batch = {
		.list		= list,
		.at_head	= htbs_insert_at_head(how),
		.ioprio		= -1,
	};
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	if (!batch.at_head && htbs_runs_queue())
		batch.room = htbs_dispatch_room(dev, hctx);
	htbs_insert_batch(dev, &batch, &free);
	htbs_device_unlock(dev, flags);

	if (!list_empty(&free))
		htbs_free_merged(&free);
}
