// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch: which request the driver gets next.
 *
 * Requests that were dispatched ahead (ahead.h) are passed on first, before any other
 * request is chosen. They are followed by requests that were requeued or inserted at the
 * head, and then by those that are exempt from a cap or urgent, within limits. For all
 * others the policy chooses a flow and which of its requests to dispatch. Or it idles the
 * device for a moment, and then a timer ends the wait if the expected request does not
 * arrive.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>

#include <htbs/cap_timer.h>
#include <htbs/core/choose.h>
#include <htbs/core/policy.h>
#include <htbs/core/urgent.h>
#include <htbs/core/wait.h>
#include <htbs/dispatch.h>
#include <htbs/idle_timer.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/* At most this many requests are dispatched ahead while the lock is held. */
#define HTBS_AHEAD_AT_ONCE	16U

/**
 * htbs_start_request() - a request is dispatched
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request; the statistics count it when it is dispatched for the first time
 */
__always_inline void
htbs_start_request(struct htbs_device *dev, struct htbs_reservation *res,
		   struct request *rq)
{
	bool counted = htbs_rq_flag(rq, HTBS_RQ_COUNTED);
	u32 bytes = blk_rq_bytes(rq);
	enum htbs_op op;

	htbs_rq_set_flag(rq, HTBS_RQ_IN_FLIGHT | HTBS_RQ_COUNTED);
	dev->polled += htbs_packed_polled(htbs_rq_packed(rq));
	if (counted)
		return;

	res->stats.conforming += htbs_rq_conforms(rq);
	if (!htbs_data_bytes(rq->cmd_flags, bytes))
		op = HTBS_OP_DISCARD;
	else
		op = op_is_write(rq->cmd_flags) ? HTBS_OP_WRITE : HTBS_OP_READ;
	res->stats.ios[op]++;
	res->stats.bytes[op] += bytes;
}

/* Return the first urgent request if owed requests leave time for it, or NULL. */
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
 * Return the request to dispatch before the policy is asked, or NULL. Requests that
 * are exempt from their caps are dispatched at most every other time, so that a
 * flood of them does not starve others.
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

/* A request that has been dispatched before stays due when it was due then. */
static void htbs_redispatch(struct htbs_device *dev,
			    struct htbs_reservation *res, struct request *rq,
			    u64 now)
{
	struct htbs_sent sent = {
		.due	= now + htbs_flow_latency(&res->flow),
		.flags	= op_is_write(rq->cmd_flags) ? HTBS_SENT_WRITE : 0,
	};

	if (htbs_rq_flag(rq, HTBS_RQ_COUNTED))
		htbs_rq_sent(rq, now, &sent);
	sent.at = now;
	sent.cost = htbs_rq_cost(rq);
	sent.flags |= HTBS_SENT_FAR;
	/* The device may have other requests in flight by now. */
	sent.flags &= ~(HTBS_SENT_BESIDE | HTBS_SENT_ALONE);
	htbs_rq_set_sent(rq, &sent);
	htbs_policy_redispatch(&dev->policy, &res->flow, &sent);
	htbs_start_request(dev, res, rq);
	htbs_tags_account(dev, res);
}

static struct request *htbs_dispatch_first(struct htbs_device *dev, u64 now)
{
	struct htbs_reservation *res;
	struct request *rq;

	if (!dev->first) {
		dev->exempt_turn = false;
		return NULL;
	}
	rq = htbs_first_request(dev, now);
	if (!rq)
		return NULL;

	list_del_init(&rq->queuelist);
	dev->first--;
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
	struct htbs_extent extent = res->flow.head;
	struct htbs_sent sent;

	if (dev->policy.order != HTBS_ORDER_OLDEST)
		htbs_rq_extent(rq, htbs_rq_arrived(rq), &extent);
	if (htbs_policy_dispatch(&dev->policy, &res->flow, now, &extent, &sent))
		htbs_trace_overload(dev, now);
	htbs_rq_set_sent(rq, &sent);
	htbs_queue_update_head(dev, res);
	htbs_trace_dispatch(dev, res, rq, now, dev->policy.order);
	htbs_start_request(dev, res, rq);
}

/* Returns the flow that is chosen, or NULL. Sets @held if a request is held back. */
static struct htbs_flow *htbs_choose_once(struct htbs_device *dev, u64 now, bool *held)
{
	struct htbs_flow *was_active = dev->policy.active;
	struct htbs_choice choice;

	htbs_policy_choose(&dev->policy, now, &choice);
	htbs_trace_choice(dev, &choice, was_active, now);
	if (choice.wait_began) {
		htbs_flow_owner(dev->policy.active)->stats.waits++;
		htbs_idle_timer_arm(dev);
	}
	if (choice.held)
		htbs_idle_timer_arm(dev);
	*held = choice.held;
	return choice.flow;
}

/*
 * A request is held back in favour of others that may arrive. They cannot arrive if the queue
 * has to be drained, so choose again then.
 */
static noinline struct htbs_flow *htbs_choose(struct htbs_device *dev, u64 now)
{
	struct htbs_flow *flow;
	bool held;

	flow = htbs_choose_once(dev, now, &held);
	if (held && htbs_drain_begins(dev, now))
		flow = htbs_choose_once(dev, now, &held);
	return flow;
}

static struct request *htbs_dispatch_chosen(struct htbs_device *dev, u64 now)
{
	const struct htbs_flow *was_active = dev->policy.active;
	struct htbs_reservation *res;
	struct htbs_flow *flow;
	struct request *rq;

	htbs_unthrottle_due(dev, now);
	flow = htbs_policy_choose_only(&dev->policy, now);
	if (!flow)
		flow = htbs_choose(dev, now);
	else if (flow != was_active)
		htbs_trace_switch(dev, flow, now);
	if (!flow)
		return NULL;

	res = htbs_flow_owner(flow);
	rq = htbs_take_chosen(dev, res, dev->policy.order);
	htbs_account_dispatch(dev, res, rq, now);
	htbs_cap_timer_arm(dev);
	return rq;
}

/*
 * Return true if the driver has a tag for a request. Polled requests have tags of their own, and
 * keep them until their task polls.
 */
static bool htbs_has_tag(const struct htbs_device *dev, const struct blk_mq_hw_ctx *hctx)
{
	return dev->policy.in_flight - dev->polled <
	       htbs_tags_now(hctx, dev->hctx_tags) * dev->tag_sets;
}

/* Return true if a hardware queue runs and the driver has not refused requests recently. */
static bool htbs_passes_on(struct blk_mq_hw_ctx *hctx)
{
	return list_empty(&hctx->dispatch) && !hctx->dispatch_busy &&
	       !test_bit(BLK_MQ_S_STOPPED, &hctx->state) &&
	       !blk_queue_quiesced(hctx->queue);
}

/**
 * htbs_dispatch_room() - how many requests may be dispatched before blk-mq asks for them
 * @dev: the device, locked
 * @hctx: the hardware queue that is run next
 *
 * Each hardware queue has driver tags of its own. A request that finds no tag holds up those
 * behind it. So requests are dispatched ahead only while fewer are in flight on the device than
 * one hardware queue has tags.
 *
 * Return: number of requests; 0 if the driver is not known to take any now.
 */
__always_inline u32 htbs_dispatch_room(const struct htbs_device *dev,
				       struct blk_mq_hw_ctx *hctx)
{
	u32 in_flight = dev->policy.in_flight, most;

	if (!dev->dispatches_ahead || dev->first || !htbs_passes_on(hctx))
		return 0;
	most = htbs_tags_now(hctx, dev->hctx_tags);
	if (most <= in_flight)
		return 0;
	return min(most - in_flight, htbs_ahead_room(&dev->ahead));
}

/*
 * blk-mq asks for requests until it gets none. If it gets none at first, it runs the queue again
 * a moment later. So dispatch at once what blk-mq would get, but do not hold the lock for so long
 * that other CPUs have to wait for it.
 */
static void htbs_dispatch_ahead(struct htbs_device *dev, struct blk_mq_hw_ctx *hctx, u64 now)
{
	u32 room = min(htbs_dispatch_room(dev, hctx), HTBS_AHEAD_AT_ONCE);
	struct request *rq;

	for (; room && htbs_policy_has_work(&dev->policy); room--) {
		rq = htbs_dispatch_chosen(dev, now);
		if (rq)
			htbs_ahead_add(&dev->ahead, rq);
	}
}

/* Choose a request. */
static noinline struct request *htbs_dispatch_locked(struct htbs_device *dev,
						     struct blk_mq_hw_ctx *hctx)
{
	struct request *rq;
	unsigned long flags;
	bool overload;
	u64 now;

	now = htbs_device_lock(dev, &flags, ktime_get_ns());
	overload = dev->policy.overload.now;
	rq = htbs_dispatch_first(dev, now);
	if (!rq && htbs_has_tag(dev, hctx))
		rq = htbs_dispatch_chosen(dev, now);
	else if (!rq)
		htbs_policy_hold_for_tag(&dev->policy);
	if (rq)
		htbs_dispatch_ahead(dev, hctx, now);
	overload = !overload && dev->policy.overload.now;
	htbs_device_unlock(dev, flags);

	/* Not with interrupts off: a console may be slow. */
	if (overload)
		htbs_warn_overload(dev);
	return rq;
}

/**
 * htbs_dispatch_request() - get the request that the driver gets next
 * @hctx: the hardware queue that blk-mq runs
 *
 * There is one order for the whole device, so the request may belong to another
 * hardware queue. blk-mq passes it to the right one.
 *
 * blk-mq takes a request before it has a driver tag for it, and a request that gets no tag
 * stays ahead of all later ones. So while the driver has no tag, no request is chosen, and
 * the next completion runs the queue. (A driver with a budget is asked for it first.) When a
 * request finds no tag, blk-mq also stops asking for the hardware queue that it runs. A polled
 * request may find no tag in its own hardware queue, which says nothing about another one. So
 * the hardware queue that asked is run again.
 *
 * Return: the request, or NULL if none is to be dispatched now.
 */
struct request *htbs_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct htbs_device *dev = htbs_device_of(hctx->queue);
	struct request *rq = htbs_ahead_take(&dev->ahead) ?: htbs_dispatch_locked(dev, hctx);

	if (rq && unlikely(rq->cmd_flags & REQ_POLLED) && rq->mq_hctx != hctx)
		blk_mq_run_hw_queue(hctx, true);
	return rq;
}
