// SPDX-License-Identifier: GPL-2.0
/*
 * Completions, which may run in hard interrupt context, and requests that the driver
 * gives back.
 */
#include <linux/blk-mq.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/preempt.h>

#include <htbs/complete.h>
#include <htbs/core/policy.h>
#include <htbs/idle_timer.h>
#include <htbs/lookup.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

static void htbs_judge(struct htbs_device *dev, struct htbs_reservation *res,
		       const struct htbs_completion *done, u64 now)
{
	struct htbs_stats *stats = &res->stats;

	stats->completed++;
	if (!htbs_packed_conforms(done->sent))
		return;
	if (!htbs_before(done->due, now)) {
		stats->met++;
		return;
	}
	stats->missed++;
	stats->late_max = max(stats->late_max, now - done->due);
	htbs_trace_late(dev, res, done->id, now, now - done->due);
}

/* A request is no longer in flight. */
static __always_inline void
htbs_leave_device(struct htbs_device *dev, struct htbs_reservation *res,
		  const struct htbs_completion *done, u64 now)
{
	struct htbs_sent sent;
	bool waits;

	htbs_unpack_sent(done->sent, done->due, now, &sent);
	dev->polled -= htbs_packed_polled(done->sent);
	waits = htbs_policy_complete(&dev->policy, &res->flow, now, &sent);
	if (!htbs_pool_busy(res->flow.pool))
		htbs_tags_account_idle(dev, res);
	if (waits)
		htbs_idle_timer_arm(dev);
	htbs_trace_complete(dev, res, done->id, now, waits);
}

static void htbs_account(struct htbs_device *dev, const struct htbs_completion *done)
{
	struct htbs_reservation *res = htbs_charged_reservation(done->charged);
	u64 now = htbs_later(dev->now, done->at);

	dev->now = now;
	htbs_judge(dev, res, done, now);
	if (done->charged & HTBS_RQ_IN_FLIGHT)
		htbs_leave_device(dev, res, done, now);
	htbs_reservation_release(dev, res);
}

/**
 * htbs_device_account() - account for completions
 * @dev: the device, locked
 * @own: a completion to account for after all those in the ring, or NULL
 */
void htbs_device_account(struct htbs_device *dev, const struct htbs_completion *own)
{
	struct htbs_completions *ring = &dev->completions;
	const struct htbs_completion *done;

	lockdep_assert_held(&dev->lock);

	while ((done = htbs_completions_first(ring) ?: own)) {
		htbs_account(dev, done);
		if (done == own)
			return;
		htbs_completions_take(ring);
	}
}

/**
 * htbs_device_set_prompt() - set whether completions have to be accounted for at once
 * @dev: the device, locked
 * @prompt: true if they have to be
 *
 * A CPU looks at dev->prompt after it has put a completion into the ring. If it did so before
 * dev->prompt was set, nothing else would account for its completion. So look at the ring once
 * more.
 */
noinline void htbs_device_set_prompt(struct htbs_device *dev, bool prompt)
{
	bool held = dev->policy.held;

	WRITE_ONCE(dev->prompt, prompt);
	if (!prompt)
		return;
	/* Pairs with htbs_completions_publish(). */
	smp_mb();
	htbs_device_account(dev, NULL);
	if (held && !dev->policy.held)
		htbs_device_run_later(dev);
}

/*
 * Return when a request completed. If the task has a plug, @now is the time that blk-mq read when
 * the plug first needed one, which may be long ago, so the clock is read. But if the task has
 * inserted the request itself, and the driver does not block, the request completes within its
 * submission and takes no time. @now will do then, because a completion is accounted for no earlier
 * than the last event, which was the dispatch of this request.
 */
static u64 htbs_completion_time(const struct request *rq, u64 now)
{
	if (!current->plug || !in_task() ||
	    (htbs_rq_inserted_by(rq) == current && !(rq->mq_hctx->flags & BLK_MQ_F_BLOCKING)))
		return now;
	return ktime_get_ns();
}

static void htbs_describe_completion(struct request *rq, u64 at,
				     struct htbs_completion *done)
{
	done->charged = (unsigned long)rq->elv.priv[0];
	done->at = at;
	done->due = htbs_rq_due(rq);
	done->sent = htbs_rq_packed(rq);
	done->id = htbs_completions_traced() ? htbs_rq_id(rq) : 0;
	htbs_rq_clear_flag(rq, HTBS_RQ_IN_FLIGHT | HTBS_RQ_HOLDS);
}

/*
 * Account for all completions now, and then for @own, if any. This may release a request that was
 * held back. Any hardware queue may dispatch it, so run that of this CPU, which is cheaper than
 * looking for one. But a hardware queue with requests that found no tag does not ask for more.
 */
static void htbs_account_now(struct htbs_device *dev, struct blk_mq_hw_ctx *hctx,
			     const struct htbs_completion *own, u64 at)
{
	unsigned long flags;

	htbs_device_lock(dev, &flags, at);
	if (own)
		htbs_device_account(dev, own);
	htbs_device_unlock(dev, flags);
	/* If there is work, run the queue: blk-mq does not ask again by itself. */
	if (!READ_ONCE(dev->has_work))
		return;
	if (cpumask_test_cpu(raw_smp_processor_id(), hctx->cpumask) &&
	    !test_bit(BLK_MQ_S_STOPPED, &hctx->state) && list_empty_careful(&hctx->dispatch))
		blk_mq_run_hw_queue(hctx, true);
	else
		blk_mq_run_hw_queues(dev->queue, true);
}

static noinline void htbs_complete_now(struct htbs_device *dev, struct request *rq,
				       u64 at)
{
	struct htbs_completion done;

	htbs_describe_completion(rq, at, &done);
	htbs_account_now(dev, rq->mq_hctx, &done, at);
}

/**
 * htbs_completed_request() - a request has completed
 * @rq: the request
 * @now: the time that blk-mq has read, real ns
 */
void htbs_completed_request(struct request *rq, u64 now)
{
	struct htbs_device *dev = htbs_device_of(rq->q);
	struct htbs_completion *done = NULL;
	unsigned long flags;
	bool prompt;
	u32 turn;
	u64 at;

	/* The data of a write between two flushes completes a second time with them. */
	if (!htbs_rq_prepared(rq) || !htbs_rq_flag(rq, HTBS_RQ_HOLDS))
		return;

	at = htbs_completion_time(rq, now);
	/*
	 * An entry that is claimed and not published yet holds up all later ones. So neither
	 * another task nor a softirq after an interrupt may run here in between.
	 */
	local_irq_save(flags);
	if (!READ_ONCE(dev->prompt))
		done = htbs_completions_claim(&dev->completions, &turn);
	if (!done) {
		local_irq_restore(flags);
		htbs_complete_now(dev, rq, at);
		return;
	}
	htbs_describe_completion(rq, at, done);
	htbs_completions_publish(done, turn);
	prompt = READ_ONCE(dev->prompt);
	local_irq_restore(flags);
	if (prompt || htbs_completions_traced())
		htbs_account_now(dev, rq->mq_hctx, NULL, at);
}

/*
 * The driver no longer has the request, which did not complete. The request may
 * come back by insert_requests(), or never: blk-mq may pass it to the driver itself.
 */
static void htbs_give_back(struct htbs_device *dev, struct request *rq)
{
	struct htbs_reservation *res = htbs_rq_reservation(rq);
	struct htbs_sent sent;
	unsigned long flags;
	bool cancelled;
	u64 now;

	now = htbs_device_lock(dev, &flags, ktime_get_ns());
	htbs_rq_clear_flag(rq, HTBS_RQ_IN_FLIGHT);
	htbs_rq_sent(rq, now, &sent);
	dev->polled -= htbs_packed_polled(htbs_rq_packed(rq));
	cancelled = htbs_policy_requeue(&dev->policy, &res->flow, &sent);
	htbs_tags_account(dev, res);
	if (cancelled)
		htbs_trace_wait_end(dev, &res->flow, now, HTBS_WAIT_CANCELLED);
	htbs_trace_give_back(dev, res, rq, now);
	htbs_device_unlock(dev, flags);

	/*
	 * The request may be requeued much later. Other requests need not wait for it.
	 */
	if (READ_ONCE(dev->has_work))
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

/* A request is freed that has not completed: it was merged or given back. */
static noinline void htbs_withdraw(struct request *rq)
{
	struct htbs_device *dev = htbs_device_of(rq->q);
	unsigned long flags;

	if (htbs_rq_flag(rq, HTBS_RQ_IN_FLIGHT))
		htbs_give_back(dev, rq);
	htbs_device_lock(dev, &flags, ktime_get_ns());
	htbs_rq_clear_flag(rq, HTBS_RQ_HOLDS);
	htbs_reservation_release(dev, htbs_rq_reservation(rq));
	htbs_device_unlock_run(dev, flags);
}

/**
 * htbs_finish_request() - a request is freed
 * @rq: the request; it may never have been inserted, or have been merged
 */
void htbs_finish_request(struct request *rq)
{
	if (htbs_rq_flag(rq, HTBS_RQ_HOLDS))
		htbs_withdraw(rq);
	htbs_rq_clear(rq);
}
