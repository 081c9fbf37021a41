// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints and blktrace messages.
 *
 * blktrace's messages carry no cgroup id: blkparse prints none that do.
 * They name the group by the same number as the tracepoints, the inode number
 * of its directory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blktrace_api.h>
#include <linux/printk.h>

#include <htbs/request.h>
#include <htbs/trace.h>

#define CREATE_TRACE_POINTS
#include <trace/events/htbs.h>

static dev_t htbs_devt(const struct htbs_device *dev)
{
	return disk_devt(dev->queue->disk);
}

static u64 htbs_flow_id(const struct htbs_flow *flow)
{
	return flow ? container_of(flow, struct htbs_reservation, flow)->id : 0;
}

static void htbs_trace_jump(struct htbs_device *dev, u64 now, u64 jump)
{
	if (!jump)
		return;
	trace_htbs_drift(htbs_devt(dev), now, jump, dev->policy.clock.drift);
	blk_add_trace_msg(dev->queue, "htbs drift %llu", jump);
}

/**
 * htbs_trace_tag() - a request arrived and has its tags
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request
 * @now: real time, ns
 * @arrival: what the policy made of it
 */
void htbs_trace_tag(struct htbs_device *dev, struct htbs_reservation *res,
		    struct request *rq, u64 now,
		    const struct htbs_arrival *arrival)
{
	u32 bytes = htbs_data_bytes(rq->cmd_flags, blk_rq_bytes(rq));

	if (arrival->hit)
		htbs_trace_wait_end(dev, &res->flow, now, HTBS_WAIT_HIT);
	htbs_trace_jump(dev, now, arrival->jump);
	trace_htbs_tag(htbs_devt(dev), res->id, now, arrival->v,
		       arrival->start,
		       arrival->start + res->flow.curve.params.latency,
		       blk_rq_pos(rq), bytes, htbs_cost(bytes),
		       res->flow.pending);
	blk_add_trace_msg(dev->queue, "htbs tag %llu %llu start %lld",
			  res->id, (u64)blk_rq_pos(rq),
			  (s64)(arrival->start - arrival->v));
}

/**
 * htbs_trace_merge() - bytes were charged for a merge
 * @dev: the device, locked
 * @res: the reservation
 * @sector: first sector of what was added
 * @bytes: its length
 */
void htbs_trace_merge(struct htbs_device *dev, struct htbs_reservation *res,
		      u64 sector, u32 bytes)
{
	trace_htbs_merge(htbs_devt(dev), res->id, sector, bytes,
			 res->flow.pending, res->flow.node.start);
}

/**
 * htbs_trace_choice() - the policy was asked whom to serve
 * @dev: the device, locked
 * @choice: the answer
 * @was_active: who was active when it was asked
 * @now: real time, ns
 */
void htbs_trace_choice(struct htbs_device *dev,
		       const struct htbs_choice *choice,
		       const struct htbs_flow *was_active, u64 now)
{
	if (choice->timed_out)
		htbs_trace_wait_end(dev, was_active, now, HTBS_WAIT_TIMEOUT);
	htbs_trace_jump(dev, now, choice->jump);
	if (choice->wait_began) {
		trace_htbs_wait_begin(htbs_devt(dev),
				      htbs_flow_id(dev->policy.active), now,
				      dev->policy.wait_until);
		blk_add_trace_msg(dev->queue, "htbs wait %llu",
				  htbs_flow_id(dev->policy.active));
	}
	if (choice->switched) {
		trace_htbs_switch(htbs_devt(dev), htbs_flow_id(choice->flow),
				  now);
		blk_add_trace_msg(dev->queue, "htbs switch %llu",
				  htbs_flow_id(choice->flow));
	}
}

/**
 * htbs_trace_dispatch() - a request goes to the driver
 * @dev: the device, locked
 * @res: its reservation, or NULL
 * @rq: the request
 * @now: real time, ns
 * @tagged: the policy chose it; else it went first
 */
void htbs_trace_dispatch(struct htbs_device *dev, struct htbs_reservation *res,
			 struct request *rq, u64 now, bool tagged)
{
	u64 id = res ? res->id : 0;

	trace_htbs_dispatch(htbs_devt(dev), id, now,
			    tagged ? htbs_rq_start(rq) : 0,
			    blk_rq_pos(rq), blk_rq_bytes(rq),
			    op_is_sync(rq->cmd_flags), tagged, dev->policy.run,
			    res ? res->flow.pending : 0);
	blk_add_trace_msg(dev->queue, "htbs dispatch %llu %llu run %u", id,
			  (u64)blk_rq_pos(rq), dev->policy.run);
}

/**
 * htbs_trace_complete() - a request is with the driver no more
 * @dev: the device, locked
 * @res: its reservation
 * @now: real time, ns
 * @requeued: the driver gave it back
 */
void htbs_trace_complete(struct htbs_device *dev, struct htbs_reservation *res,
			 u64 now, bool requeued)
{
	trace_htbs_complete(htbs_devt(dev), res->id, now, requeued,
			    res->flow.in_flight);
}

/**
 * htbs_trace_wait_end() - the device is kept idle no longer
 * @dev: the device, locked
 * @flow: the reservation it was kept for
 * @now: real time, ns
 * @outcome: why the wait ended
 */
void htbs_trace_wait_end(struct htbs_device *dev,
			 const struct htbs_flow *flow, u64 now,
			 enum htbs_outcome outcome)
{
	static const char *const names[] = { "hit", "timeout", "cancelled" };

	trace_htbs_wait_end(htbs_devt(dev), htbs_flow_id(flow), now, outcome);
	blk_add_trace_msg(dev->queue, "htbs wait end %llu %s",
			  htbs_flow_id(flow), names[outcome]);
}

/**
 * htbs_trace_late() - a conforming request completed after its latency
 * @dev: the device, locked
 * @res: its reservation
 * @now: real time, ns
 * @late: by how much, ns
 */
void htbs_trace_late(struct htbs_device *dev, struct htbs_reservation *res,
		     u64 now, u64 late)
{
	trace_htbs_late(htbs_devt(dev), res->id, now, late);
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

	trace_htbs_overload(htbs_devt(dev), now, begins);
	blk_add_trace_msg(dev->queue, "htbs overload %s",
			  begins ? "begins" : "ends");
	if (begins)
		pr_warn_ratelimited("%s: more is reserved than the disk can do now: deadlines are being lost\n",
				    dev->queue->disk->disk_name);
}

/**
 * htbs_trace_config() - a reservation promises something else
 * @dev: the device, locked
 * @res: the reservation
 */
void htbs_trace_config(struct htbs_device *dev, struct htbs_reservation *res)
{
	const struct htbs_params *params = &res->flow.curve.params;

	trace_htbs_config(htbs_devt(dev), res->id, params->bw, params->burst,
			  params->latency);
	blk_add_trace_msg(dev->queue,
			  "htbs config %llu bw %llu burst %llu latency %llu",
			  res->id, params->bw, params->burst, params->latency);
}
