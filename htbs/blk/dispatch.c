// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch: what the driver gets next.
 *
 * Requests that were requeued or inserted at the head go first, then those that are
 * exempt from a cap or urgent, as far as they may. For all others the policy chooses a
 * flow and which of its requests to dispatch, or has the device idled for a moment; then
 * a timer ends the wait if the expected request does not arrive.
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

static __always_inline void
htbs_start_request(struct htbs_device *dev, struct htbs_reservation *res,
		   struct request *rq)
{
	u32 bytes = blk_rq_bytes(rq);
	enum htbs_op op;

	htbs_rq_set_flag(rq, HTBS_RQ_IN_FLIGHT);
	if (htbs_rq_flag(rq, HTBS_RQ_COUNTED))
		return;

	htbs_rq_set_flag(rq, HTBS_RQ_COUNTED);
	res->stats.conforming += htbs_rq_conforms(rq);
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
		.flags	= op_is_write(rq->cmd_flags) ? HTBS_SENT_WRITE : 0,
	};

	if (htbs_rq_flag(rq, HTBS_RQ_COUNTED))
		htbs_rq_sent(rq, now, &sent);
	sent.at = now;
	sent.cost = htbs_rq_cost(rq);
	sent.flags |= HTBS_SENT_FAR;
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
		htbs_rq_extent(rq, &extent);
	if (htbs_policy_dispatch(&dev->policy, &res->flow, now, &extent, &sent))
		htbs_trace_overload(dev, now);
	htbs_rq_set_sent(rq, &sent);
	htbs_queue_update_head(dev, res);
	htbs_trace_dispatch(dev, res, rq, now, dev->policy.order);
	htbs_start_request(dev, res, rq);
}

/* Returns the flow that is chosen, or NULL. */
static noinline struct htbs_flow *htbs_choose(struct htbs_device *dev, u64 now)
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
	return choice.flow;
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

/* The number of requests that the driver has tags for. */
static u32 htbs_in_flight_max(const struct htbs_device *dev,
			      const struct blk_mq_hw_ctx *hctx)
{
	return hctx->flags & BLK_MQ_F_TAG_QUEUE_SHARED ?
	       htbs_driver_tags(hctx) : dev->driver_tags;
}

/**
 * htbs_dispatch_request() - the request that the driver gets next
 * @hctx: the hardware queue that blk-mq runs
 *
 * There is one order for the whole device, so the request may be one of another
 * hardware queue. blk-mq sorts it out.
 *
 * blk-mq takes a request before it knows of a driver tag for it, and one without a tag
 * stays ahead of all that comes later.  So while the driver has no tag, no request is
 * chosen: the next completion runs the queue.  A driver with a budget is asked before.
 *
 * Return: the request, or NULL if none is to be dispatched now.
 */
struct request *htbs_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct htbs_device *dev = htbs_device_of(hctx->queue);
	struct request *rq;
	unsigned long flags;
	bool overload;
	u64 now;

	now = htbs_device_lock(dev, &flags, ktime_get_ns());
	overload = dev->policy.overload.now;
	rq = htbs_dispatch_first(dev, now);
	if (!rq && dev->policy.in_flight < htbs_in_flight_max(dev, hctx))
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
