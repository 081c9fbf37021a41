// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints and blktrace messages.
 *
 * The messages carry no cgroup id, because blkparse does not print messages that do.
 * They name the group by the same number as the tracepoints, the inode number
 * of its directory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blktrace_api.h>
#include <linux/printk.h>

#include <htbs/core/policy.h>
#include <htbs/request.h>
#include <htbs/trace.h>

#define CREATE_TRACE_POINTS
#include <trace/events/htbs.h>

static u64 htbs_flow_id(const struct htbs_flow *flow)
{
	return flow ? container_of(flow, struct htbs_reservation, flow)->id : 0;
}

static void htbs_trace_arrived(struct htbs_device *dev, struct htbs_reservation *res,
			       struct request *rq, u64 now, u32 pending)
{
	u32 bytes = htbs_data_bytes(rq->cmd_flags, blk_rq_bytes(rq));

	trace_htbs_arrive(dev->devt, res->id, htbs_rq_id(rq), now,
			  blk_rq_pos(rq), bytes, op_is_write(rq->cmd_flags), pending,
			  op_is_sync(rq->cmd_flags));
	blk_add_trace_msg(dev->queue, "htbs arrive %llu %llu", res->id,
			  (u64)blk_rq_pos(rq));
}

void __htbs_trace_arrive(struct htbs_device *dev, struct htbs_reservation *res,
			 struct request *rq, u64 now,
			 const struct htbs_arrival *arrival)
{
	if (arrival->hit)
		htbs_trace_wait_end(dev, &res->flow, now, HTBS_WAIT_HIT);
	if (res->flow.pending == 1 && res->flow.cap.throttled)
		htbs_trace_stop(dev, res, now);
	htbs_trace_arrived(dev, res, rq, now, res->flow.pending);
}

/* Trace the arrival and the dispatch, as if the request had been pending for a moment. */
void __htbs_trace_arriving(struct htbs_device *dev, struct htbs_reservation *res,
			   struct request *rq, u64 now,
			   const struct htbs_flow *was_active)
{
	htbs_trace_arrived(dev, res, rq, now, 1);
	if (dev->policy.active != was_active)
		htbs_trace_switch(dev, dev->policy.active, now);
	__htbs_trace_dispatch(dev, res, rq, now, dev->policy.order);
}

/**
 * htbs_trace_merge() - a pending request has grown by a merge
 * @dev: the device, locked
 * @res: the reservation; of @gone, if there is one
 * @rq: the request
 * @gone: the pending request that was merged into it, or NULL
 */
void htbs_trace_merge(struct htbs_device *dev, struct htbs_reservation *res,
		      struct request *rq, struct request *gone)
{
	trace_htbs_merge(dev->devt, res->id, htbs_rq_id(rq),
			 gone ? htbs_rq_id(gone) : -1, blk_rq_pos(rq),
			 htbs_data_bytes(rq->cmd_flags, blk_rq_bytes(rq)),
			 res->flow.pending);
}

/**
 * htbs_trace_charge() - a request that bypasses the policy was charged
 * @dev: the device, locked
 * @res: the reservation
 * @now: real time, ns
 * @bytes: the bytes that it was charged
 */
void htbs_trace_charge(struct htbs_device *dev, struct htbs_reservation *res,
		       u64 now, u32 bytes)
{
	trace_htbs_charge(dev->devt, res->id, now, bytes);
}

/**
 * htbs_trace_switch() - the device is granted to another flow
 * @dev: the device, locked
 * @flow: the flow
 * @now: real time, ns
 */
void htbs_trace_switch(struct htbs_device *dev, const struct htbs_flow *flow, u64 now)
{
	trace_htbs_switch(dev->devt, htbs_flow_id(flow), now);
	blk_add_trace_msg(dev->queue, "htbs switch %llu", htbs_flow_id(flow));
}

void __htbs_trace_choice(struct htbs_device *dev,
			 const struct htbs_choice *choice,
			 const struct htbs_flow *was_active, u64 now)
{
	if (choice->timed_out)
		htbs_trace_wait_end(dev, was_active, now, HTBS_WAIT_TIMEOUT);
	if (choice->overload_ended)
		htbs_trace_overload(dev, now);
	if (choice->held)
		trace_htbs_hold(dev->devt, now,
				htbs_policy_in_flight(&dev->policy, false),
				htbs_policy_in_flight(&dev->policy, true),
				htbs_policy_window(&dev->policy),
				dev->policy.limits.quota.limit.value,
				dev->policy.held_until);
	if (choice->wait_began) {
		trace_htbs_wait_begin(dev->devt,
				      htbs_flow_id(dev->policy.active), now,
				      dev->policy.wait_until);
		blk_add_trace_msg(dev->queue, "htbs wait %llu",
				  htbs_flow_id(dev->policy.active));
	}
	if (choice->switched)
		htbs_trace_switch(dev, choice->flow, now);
}

void __htbs_trace_dispatch(struct htbs_device *dev,
			   struct htbs_reservation *res, struct request *rq,
			   u64 now, enum htbs_order order)
{
	u64 id = res ? res->id : 0;

	if (order != HTBS_ORDER_NONE && res->flow.pending &&
	    res->flow.cap.throttled)
		htbs_trace_stop(dev, res, now);
	trace_htbs_dispatch(dev->devt, id, htbs_rq_id(rq), now,
			    res ? htbs_rq_due(rq) : 0,
			    res && htbs_rq_conforms(rq),
			    blk_rq_pos(rq), blk_rq_bytes(rq),
			    order, dev->policy.run,
			    res ? res->flow.pending : 0,
			    res ? res->flow.in_flight : 0);
	blk_add_trace_msg(dev->queue, "htbs dispatch %llu %llu run %u", id,
			  (u64)blk_rq_pos(rq), dev->policy.run);
}

void __htbs_trace_complete(struct htbs_device *dev,
			   struct htbs_reservation *res, int id,
			   u64 now, bool waits)
{
	trace_htbs_complete(dev->devt, res->id, id, now, false,
			    res->flow.in_flight,
			    waits ? dev->policy.wait_until : 0);
}

/**
 * htbs_trace_give_back() - the driver gave a request back
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request
 * @now: real time, ns
 */
void htbs_trace_give_back(struct htbs_device *dev,
			  struct htbs_reservation *res, struct request *rq,
			  u64 now)
{
	trace_htbs_complete(dev->devt, res->id, htbs_rq_id(rq), now, true,
			    res->flow.in_flight, 0);
}

/**
 * htbs_trace_wait_end() - the device is no longer idled
 * @dev: the device, locked
 * @flow: the flow it was idled for
 * @now: real time, ns
 * @outcome: why the wait ended
 */
void htbs_trace_wait_end(struct htbs_device *dev,
			 const struct htbs_flow *flow, u64 now,
			 enum htbs_outcome outcome)
{
	static const char *const names[] = { "hit", "timeout", "cancelled" };

	trace_htbs_wait_end(dev->devt, htbs_flow_id(flow), now, outcome);
	blk_add_trace_msg(dev->queue, "htbs wait end %llu %s",
			  htbs_flow_id(flow), names[outcome]);
}

/**
 * htbs_trace_late() - a conforming request completed late
 * @dev: the device, locked
 * @res: its reservation
 * @id: the request; see htbs_rq_id()
 * @now: real time, ns
 * @late: by how much, ns
 */
void htbs_trace_late(struct htbs_device *dev, struct htbs_reservation *res,
		     int id, u64 now, u64 late)
{
	trace_htbs_late(dev->devt, res->id, id, now, late);
	blk_add_trace_msg(dev->queue, "htbs late %llu %llu", res->id, late);
}

/**
 * htbs_trace_overload() - an overload began or ended
 * @dev: the device, locked
 * @now: real time, ns
 */
void htbs_trace_overload(struct htbs_device *dev, u64 now)
{
	bool begins = dev->policy.overload.now;

	trace_htbs_overload(dev->devt, now, begins);
	blk_add_trace_msg(dev->queue, "htbs overload %s",
			  begins ? "begins" : "ends");
}

/**
 * htbs_warn_overload() - log that an overload began
 * @dev: the device, not locked
 */
void htbs_warn_overload(const struct htbs_device *dev)
{
	pr_warn_ratelimited("%s: more is reserved than the disk can do now: deadlines are being lost\n",
			    dev->queue->disk->disk_name);
}

/**
 * htbs_trace_pass() - a request passes pending ones: it is urgent, or exempt from its cap
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request; it has been charged, unless it was pending when the cap was set
 * @now: real time, ns
 */
void htbs_trace_pass(struct htbs_device *dev, struct htbs_reservation *res,
		     struct request *rq, u64 now)
{
	trace_htbs_pass(dev->devt, res->id, htbs_rq_id(rq), now,
			blk_rq_bytes(rq), op_is_write(rq->cmd_flags),
			res->flow.pending);
}

/**
 * htbs_trace_stop() - a flow with requests pending is throttled
 * @dev: the device, locked
 * @res: its reservation
 * @now: real time, ns
 */
void htbs_trace_stop(struct htbs_device *dev, struct htbs_reservation *res,
		     u64 now)
{
	u64 until = htbs_cap_end(&res->flow.cap);

	trace_htbs_stop(dev->devt, res->id, now, until);
	blk_add_trace_msg(dev->queue, "htbs stop %llu %llu", res->id,
			  until - now);
}

/**
 * htbs_trace_go() - a flow is unthrottled
 * @dev: the device, locked
 * @res: its reservation
 * @now: real time, ns
 */
void htbs_trace_go(struct htbs_device *dev, struct htbs_reservation *res,
		   u64 now)
{
	trace_htbs_go(dev->devt, res->id, now);
	blk_add_trace_msg(dev->queue, "htbs go %llu", res->id);
}

/**
 * htbs_trace_drain() - a drain of the queue began or ended
 * @dev: the device, locked
 * @now: real time, ns
 */
void htbs_trace_drain(struct htbs_device *dev, u64 now)
{
	bool begins = dev->policy.drains;

	trace_htbs_drain(dev->devt, now, begins);
	blk_add_trace_msg(dev->queue, "htbs drain %s",
			  begins ? "begins" : "ends");
}

/* 0: a reservation of its own; 1: the pool's; 2: the root's, which is the pool's. */
static u32 htbs_pool_role(const struct htbs_reservation *res)
{
	return htbs_flow_pooled(&res->flow) + htbs_reservation_is_root(res);
}

static void htbs_trace_params(struct htbs_device *dev, u64 id, const struct htbs_params *params,
			      u32 role, u64 now)
{
	trace_htbs_config(dev->devt, id, now, params->bw, params->burst,
			  params->latency, params->iops, role);
	blk_add_trace_msg(dev->queue,
			  "htbs config %llu bw %llu burst %llu latency %llu iops %u",
			  id, params->bw, params->burst, params->latency, params->iops);
}

/**
 * htbs_trace_config() - a reservation changed
 * @dev: the device, locked
 * @res: the reservation
 * @now: real time, ns
 */
void htbs_trace_config(struct htbs_device *dev, struct htbs_reservation *res,
		       u64 now)
{
	htbs_trace_params(dev, res->id, &res->flow.pool->pace.params, htbs_pool_role(res), now);
}

/**
 * htbs_trace_config_idle() - the promise to a group without requests changed
 * @dev: the device, locked
 * @id: the group's cgroup id
 * @params: the reservation
 * @pooled: it is the reservation that all groups without one share
 * @now: real time, ns
 */
void htbs_trace_config_idle(struct htbs_device *dev, u64 id, const struct htbs_params *params,
			    bool pooled, u64 now)
{
	htbs_trace_params(dev, id, params, pooled, now);
}

/**
 * htbs_trace_share() - the weight of a reservation changed
 * @dev: the device, locked
 * @res: the reservation
 * @now: real time, ns
 */
void htbs_trace_share(struct htbs_device *dev, struct htbs_reservation *res,
		      u64 now)
{
	u32 weight = htbs_reservation_weight(res);

	trace_htbs_share(dev->devt, res->id, now, weight);
	blk_add_trace_msg(dev->queue, "htbs share %llu weight %u", res->id,
			  weight);
}

/**
 * htbs_trace_cap() - the cap of a reservation changed
 * @dev: the device, locked
 * @res: the reservation
 * @now: real time, ns
 */
void htbs_trace_cap(struct htbs_device *dev, struct htbs_reservation *res,
		    u64 now)
{
	u64 max = res->flow.cap.max;

	trace_htbs_cap(dev->devt, res->id, now, max);
	blk_add_trace_msg(dev->queue, "htbs cap %llu max %llu", res->id, max);
}

/**
 * htbs_trace_join() - a group has come to the device
 * @dev: the device, locked
 * @res: its reservation, new
 */
void htbs_trace_join(struct htbs_device *dev, struct htbs_reservation *res)
{
	const struct htbs_params *params = &res->flow.pool->pace.params;

	trace_htbs_join(dev->devt, res->id, res->flow.idle_since, params->bw,
			params->burst, params->latency, params->iops,
			htbs_pool_role(res));
	if (htbs_reservation_weight(res))
		htbs_trace_share(dev, res, res->flow.idle_since);
	if (res->flow.cap.max)
		htbs_trace_cap(dev, res, res->flow.idle_since);
}

/**
 * htbs_trace_leave() - a group is gone from the device
 * @dev: the device, locked
 * @res: its reservation
 * @waited: a wait for it was cancelled
 */
void htbs_trace_leave(struct htbs_device *dev, struct htbs_reservation *res,
		      bool waited)
{
	if (waited)
		htbs_trace_wait_end(dev, &res->flow, dev->now,
				    HTBS_WAIT_CANCELLED);
	trace_htbs_leave(dev->devt, res->id);
}

/**
 * htbs_trace_tunables() - a tunable changed, or the device is new
 * @dev: the device; locked, unless it is new
 * @attached: the device is new
 */
void htbs_trace_tunables(struct htbs_device *dev, bool attached)
{
	trace_htbs_tunables(dev->devt, attached, dev->policy.t_wait,
			    dev->policy.service.position,
			    dev->policy.rotational, dev->policy.late_one_in,
			    dev->policy.late_one_in_writes);
}
