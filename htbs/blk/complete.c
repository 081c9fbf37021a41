// SPDX-License-Identifier: GPL-2.0
/*
 * Completion, which may run in hard interrupt context, and requests that the driver
 * gives back.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>

#include <htbs/complete.h>
#include <htbs/core/policy.h>
#include <htbs/group.h>
#include <htbs/idle_timer.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

static void htbs_judge(struct htbs_device *dev, struct htbs_reservation *res,
		       struct request *rq, u64 now)
{
	u64 due = htbs_rq_due(rq);
	struct htbs_stats *stats = &res->stats;

	stats->completed++;
	if (!htbs_rq_conforms(rq))
		return;
	if (!htbs_before(due, now)) {
		stats->met++;
		return;
	}
	stats->missed++;
	stats->late_max = max(stats->late_max, now - due);
	htbs_trace_late(dev, res, rq, now, now - due);
}

/**
 * htbs_completed_request() - a request has completed
 * @rq: the request
 * @unused: blk-mq's time, which may be that of the submitter's plug
 */
void htbs_completed_request(struct request *rq, u64 unused)
{
	struct htbs_device *dev = htbs_device_of(rq->q);
	struct htbs_reservation *res;
	struct htbs_sent sent;
	bool waits = false, held;
	unsigned long flags;
	u64 now;

	/* The data of a write between two flushes completes once more with them. */
	if (!htbs_rq_prepared(rq) || !htbs_rq_flag(rq, HTBS_RQ_HOLDS))
		return;
	res = htbs_rq_reservation(rq);

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
	htbs_rq_release(rq, res);
	/* Nothing else about the next choice has changed. */
	if (held || waits)
		htbs_device_unlock(dev, flags);
	else
		spin_unlock_irqrestore(&dev->lock, flags);

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

/**
 * htbs_requeue_request() - the driver gives a request back
 * @rq: the request
 */
void htbs_requeue_request(struct request *rq)
{
	if (htbs_rq_reservation(rq) && htbs_rq_flag(rq, HTBS_RQ_IN_FLIGHT))
		htbs_give_back(htbs_device_of(rq->q), rq);
}

/* A request is freed that has not completed: it was merged, or given back. */
static void htbs_withdraw(struct htbs_device *dev, struct request *rq)
{
	unsigned long flags;

	if (htbs_rq_flag(rq, HTBS_RQ_IN_FLIGHT))
		htbs_give_back(dev, rq);
	spin_lock_irqsave(&dev->lock, flags);
	htbs_rq_release(rq, htbs_rq_reservation(rq));
	spin_unlock_irqrestore(&dev->lock, flags);
}

/**
 * htbs_finish_request() - a request is freed
 * @rq: the request; it may never have been inserted, or have been merged
 */
void htbs_finish_request(struct request *rq)
{
	struct htbs_reservation *res = htbs_rq_reservation(rq);

	atomic_dec(&htbs_device_of(rq->q)->tags_held);
	if (!res)
		return;

	if (htbs_rq_flag(rq, HTBS_RQ_HOLDS))
		htbs_withdraw(htbs_device_of(rq->q), rq);
	htbs_rq_set_reservation(rq, NULL);
}
