// SPDX-License-Identifier: GPL-2.0
/*
 * The pending requests of a reservation. They are kept in order of arrival, in the block
 * layer's hash for back merges, and, on a device that claims to seek, by position for
 * sweeps and front merges.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>

#include <htbs/core/cap.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/*
 * A reservation with no merge among its last HTBS_MERGE_LOOKS requests looks for merges only
 * with the first HTBS_MERGE_LOOKS of every HTBS_MERGE_PERIOD requests.
 */
#define HTBS_MERGE_LOOKS	64
#define HTBS_MERGE_PERIOD	1024

/**
 * htbs_queue_merges() - whether requests are looked up for merges
 * @dev: the device, locked
 * @res: their reservation
 *
 * A device that does not seek gains little from a merge, and many flows have no merges. So
 * if lookups have found nothing for a long time, most requests are not looked up there. But
 * enough requests in a row still are looked up to find interleaved streams.
 *
 * Return: true if they are.
 */
bool htbs_queue_merges(const struct htbs_device *dev,
		       const struct htbs_reservation *res)
{
	return dev->policy.rotational ||
	       res->unmerged % HTBS_MERGE_PERIOD < HTBS_MERGE_LOOKS;
}

/**
 * htbs_queue_add() - queue a pending request
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request
 */
__always_inline void
htbs_queue_add(struct htbs_device *dev, struct htbs_reservation *res,
	       struct request *rq)
{
	list_add_tail(&rq->queuelist, &res->fifo);
	if (dev->policy.rotational)
		elv_rb_add(htbs_queue_by_pos(res, rq->cmd_flags), rq);
	if (htbs_queue_merges(dev, res) && htbs_rq_mergeable(rq)) {
		elv_rqhash_add(dev->queue, rq);
		if (!dev->queue->last_merge)
			dev->queue->last_merge = rq;
	}
	htbs_queue_count(dev, res, rq);
}

/**
 * htbs_queue_take() - remove a pending request from its queue
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request
 *
 * The caller has to tell the policy, and then call htbs_queue_update_head().
 */
__always_inline void
htbs_queue_take(struct htbs_device *dev, struct htbs_reservation *res,
		struct request *rq)
{
	struct request_queue *q = dev->queue;

	list_del_init(&rq->queuelist);
	dev->hctx_pending[rq->mq_hctx->queue_num]--;
	if (dev->policy.rotational)
		elv_rb_del(htbs_queue_by_pos(res, rq->cmd_flags), rq);
	elv_rqhash_del(q, rq);
	if (q->last_merge == rq)
		q->last_merge = NULL;
}

/**
 * htbs_queue_nearest() - the next pending request by position
 * @res: the reservation; it has requests pending
 *
 * Synchronous requests go before others.
 *
 * Return: the first request at or after the position of the sweep, or else the first of all.
 */
struct request *htbs_queue_nearest(struct htbs_reservation *res)
{
	bool sync = !RB_EMPTY_ROOT(&res->by_pos[true]);
	struct rb_root *by_pos = &res->by_pos[sync];
	struct rb_node *node = by_pos->rb_node;
	struct request *rq, *found = NULL;

	while (node) {
		rq = rb_entry(node, struct request, rb_node);
		if (blk_rq_pos(rq) >= res->flow.sweep) {
			found = rq;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	if (found)
		return found;
	return rb_entry(rb_first(by_pos), struct request, rb_node);
}

/**
 * htbs_queue_update_head() - tell the policy about the oldest request
 * @dev: the device, locked
 * @res: the reservation; its oldest request may have changed, or grown
 */
__always_inline void
htbs_queue_update_head(struct htbs_device *dev, struct htbs_reservation *res)
{
	struct request *rq = htbs_queue_oldest(res);

	if (!rq)
		return;
	htbs_rq_extent(rq, htbs_rq_arrived(rq), &res->flow.head);
	htbs_policy_head_changed(&dev->policy, &res->flow);
}

/**
 * htbs_queue_bypass() - charge a request that bypasses the policy
 * @dev: the device, locked
 * @res: its reservation
 * @cost: bytes charged
 * @now: real time, ns
 */
void htbs_queue_bypass(struct htbs_device *dev, struct htbs_reservation *res,
		       u32 cost, u64 now)
{
	htbs_policy_charge_bypass(&dev->policy, &res->flow, now, cost);
	if (res->flow.pending && res->flow.cap.throttled)
		htbs_trace_stop(dev, res, now);
	htbs_trace_charge(dev, res, now, cost);
}

/**
 * htbs_queue_exempt_pending() - exempt pending requests from a new cap
 * @dev: the device, locked
 * @res: the reservation, which gets a cap
 * @now: real time, ns
 *
 * Moves requests that other groups may wait for to dev->exempt. The caller has to
 * call htbs_queue_update_head() next.
 */
void htbs_queue_exempt_pending(struct htbs_device *dev,
			       struct htbs_reservation *res, u64 now)
{
	struct request *rq, *next;

	lockdep_assert_held(&dev->lock);

	list_for_each_entry_safe(rq, next, &res->fifo, queuelist) {
		if (!htbs_rq_issued_as_root(rq))
			continue;
		htbs_queue_take(dev, res, rq);
		htbs_policy_remove(&dev->policy, &res->flow);
		htbs_tags_account(dev, res);
		list_add_tail(&rq->queuelist, &dev->exempt);
		dev->first++;
		htbs_trace_pass(dev, res, rq, now);
	}
}

static void htbs_unhash_flow(struct htbs_device *dev, struct htbs_flow *flow)
{
	struct request *rq;

	list_for_each_entry(rq, &htbs_flow_owner(flow)->fifo, queuelist)
		elv_rqhash_del(dev->queue, rq);
}

/**
 * htbs_queue_unhash() - keep later requests from being merged into those that are pending now
 * @dev: the device, locked
 *
 * Called when later requests of a cgroup may be charged to another reservation than the pending
 * ones. When a request is merged as it is inserted, the block layer compares only cgroups, and does
 * not call htbs_allow_merge().
 */
void htbs_queue_unhash(struct htbs_device *dev)
{
	struct htbs_policy *policy = &dev->policy;
	struct htbs_flow *flow;
	struct rb_node *rb;

	lockdep_assert_held(&dev->lock);

	list_for_each_entry(flow, &policy->backlogged, backlogged)
		htbs_unhash_flow(dev, flow);
	for (rb = rb_first_cached(&policy->throttled); rb; rb = rb_next(rb))
		htbs_unhash_flow(dev, rb_entry(rb, struct htbs_flow, cap.rb));
	dev->queue->last_merge = NULL;
}

/**
 * htbs_queue_overdue() - count the pending conforming requests that are late
 * @res: the reservation; its device is locked
 * @now: real time, ns
 * @late: raised to the most by which one of them is late, ns
 *
 * These requests are late already, not only when they complete. A request counts as
 * conforming if it would conform provided that all requests before it were dispatched as
 * entitled, and no request of another flow of the pool was dispatched. Requests are in order
 * of arrival, so the walk ends at the first one that is not late.
 *
 * Return: number of requests.
 */
u32 htbs_queue_overdue(const struct htbs_reservation *res, u64 now, u64 *late)
{
	struct htbs_pace pace = res->flow.pool->pace;
	struct request *rq;
	u64 arrived, due;
	u32 count = 0;

	list_for_each_entry(rq, &res->fifo, queuelist) {
		arrived = htbs_cap_waits_since(&res->flow.cap,
					       htbs_rq_arrived(rq));
		due = arrived + pace.params.latency;
		if (!htbs_before(due, now))
			break;
		if (htbs_pace_start(&pace, arrived, htbs_rq_cost(rq)) == arrived) {
			count++;
			*late = max(*late, now - due);
		}
		htbs_pace_charge(&pace, arrived, htbs_rq_cost(rq));
	}
	return count;
}
