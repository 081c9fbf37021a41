/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing: each decision is a tracepoint (htbs:*) and, while blktrace runs, also a
 * message in its stream.
 */
#ifndef HTBS_TRACE_H
#define HTBS_TRACE_H

#include <linux/blkdev.h>
#include <linux/tracepoint-defs.h>

#include <htbs/device.h>

DECLARE_TRACEPOINT(htbs_arrive);
DECLARE_TRACEPOINT(htbs_hold);
DECLARE_TRACEPOINT(htbs_stop);
DECLARE_TRACEPOINT(htbs_switch);
DECLARE_TRACEPOINT(htbs_wait_begin);
DECLARE_TRACEPOINT(htbs_wait_end);
DECLARE_TRACEPOINT(htbs_dispatch);
DECLARE_TRACEPOINT(htbs_complete);
DECLARE_TRACEPOINT(htbs_late);

void htbs_trace_merge(struct htbs_device *dev, struct htbs_reservation *res,
		      struct request *rq, struct request *gone);
void htbs_trace_charge(struct htbs_device *dev, struct htbs_reservation *res,
		       u64 now, u32 bytes);
void htbs_trace_give_back(struct htbs_device *dev,
			  struct htbs_reservation *res, struct request *rq,
			  u64 now);
void htbs_trace_wait_end(struct htbs_device *dev,
			 const struct htbs_flow *flow, u64 now,
			 enum htbs_outcome outcome);
void htbs_trace_switch(struct htbs_device *dev, const struct htbs_flow *flow, u64 now);
void htbs_trace_late(struct htbs_device *dev, struct htbs_reservation *res,
		     int id, u64 now, u64 late);
void htbs_trace_overload(struct htbs_device *dev, u64 now);
void htbs_warn_overload(const struct htbs_device *dev);
void htbs_trace_pass(struct htbs_device *dev, struct htbs_reservation *res,
		     struct request *rq, u64 now);
void htbs_trace_config_idle(struct htbs_device *dev, u64 id, const struct htbs_params *params,
			    bool pooled, u64 now);
void htbs_trace_config(struct htbs_device *dev, struct htbs_reservation *res,
		       u64 now);
void htbs_trace_share(struct htbs_device *dev, struct htbs_reservation *res,
		      u64 now);
void htbs_trace_stop(struct htbs_device *dev, struct htbs_reservation *res,
		     u64 now);
void htbs_trace_go(struct htbs_device *dev, struct htbs_reservation *res,
		   u64 now);
void htbs_trace_drain(struct htbs_device *dev, u64 now);
void htbs_trace_cap(struct htbs_device *dev, struct htbs_reservation *res,
		    u64 now);
void htbs_trace_join(struct htbs_device *dev, struct htbs_reservation *res);
void htbs_trace_leave(struct htbs_device *dev, struct htbs_reservation *res,
		      bool waited);
void htbs_trace_tunables(struct htbs_device *dev, bool attached);

/* Whether blktrace runs on the device. */
static inline bool htbs_blktraced(const struct htbs_device *dev)
{
#ifdef CONFIG_BLK_DEV_IO_TRACE
	return rcu_access_pointer(dev->queue->blk_trace);
#else
	return false;
#endif
}

/* Each request passes these. While nothing is traced, they only cost a test. */

void __htbs_trace_arrive(struct htbs_device *dev, struct htbs_reservation *res,
			 struct request *rq, u64 now,
			 const struct htbs_arrival *arrival);
void __htbs_trace_arriving(struct htbs_device *dev, struct htbs_reservation *res,
			   struct request *rq, u64 now,
			   const struct htbs_flow *was_active);
void __htbs_trace_choice(struct htbs_device *dev,
			 const struct htbs_choice *choice,
			 const struct htbs_flow *was_active, u64 now);
void __htbs_trace_dispatch(struct htbs_device *dev,
			   struct htbs_reservation *res, struct request *rq,
			   u64 now, enum htbs_order order);
void __htbs_trace_complete(struct htbs_device *dev,
			   struct htbs_reservation *res, int id,
			   u64 now, bool waits);

/**
 * htbs_rq_id() - the number of a request in the traces
 * @rq: the request
 *
 * Return: its tag combined with its hardware queue, which has tags of its own.
 */
static inline int htbs_rq_id(const struct request *rq)
{
	return rq->mq_hctx->queue_num << 16 | rq->internal_tag;
}

/**
 * htbs_completions_traced() - whether completions have to be traced at once
 *
 * Return: true if they have to be.
 */
static inline bool htbs_completions_traced(void)
{
	return tracepoint_enabled(htbs_complete) || tracepoint_enabled(htbs_late);
}

/**
 * htbs_trace_arrive() - a request arrived
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request
 * @now: real time, ns
 * @arrival: what its arrival changed
 */
static inline void htbs_trace_arrive(struct htbs_device *dev,
				     struct htbs_reservation *res,
				     struct request *rq, u64 now,
				     const struct htbs_arrival *arrival)
{
	if (tracepoint_enabled(htbs_arrive) ||
	    tracepoint_enabled(htbs_wait_end) ||
	    tracepoint_enabled(htbs_stop) || htbs_blktraced(dev))
		__htbs_trace_arrive(dev, res, rq, now, arrival);
}

/**
 * htbs_trace_arriving() - a request arrived, and was dispatched at once
 * @dev: the device, locked
 * @res: its reservation
 * @rq: the request
 * @now: real time, ns
 * @was_active: the flow that was active before
 */
static inline void htbs_trace_arriving(struct htbs_device *dev,
				       struct htbs_reservation *res,
				       struct request *rq, u64 now,
				       const struct htbs_flow *was_active)
{
	if (tracepoint_enabled(htbs_arrive) || tracepoint_enabled(htbs_switch) ||
	    tracepoint_enabled(htbs_dispatch) || htbs_blktraced(dev))
		__htbs_trace_arriving(dev, res, rq, now, was_active);
}

/**
 * htbs_trace_choice() - the policy chose what to dispatch
 * @dev: the device, locked
 * @choice: the choice
 * @was_active: the flow that was active before
 * @now: real time, ns
 */
static inline void htbs_trace_choice(struct htbs_device *dev,
				     const struct htbs_choice *choice,
				     const struct htbs_flow *was_active,
				     u64 now)
{
	if (tracepoint_enabled(htbs_switch) || tracepoint_enabled(htbs_hold) ||
	    tracepoint_enabled(htbs_wait_begin) ||
	    tracepoint_enabled(htbs_wait_end) || htbs_blktraced(dev))
		__htbs_trace_choice(dev, choice, was_active, now);
}

/**
 * htbs_trace_dispatch() - a request is dispatched
 * @dev: the device, locked
 * @res: its reservation, or NULL
 * @rq: the request
 * @now: real time, ns
 * @order: which of its flow's requests it is
 */
static inline void htbs_trace_dispatch(struct htbs_device *dev,
				       struct htbs_reservation *res,
				       struct request *rq, u64 now,
				       enum htbs_order order)
{
	if (tracepoint_enabled(htbs_dispatch) ||
	    tracepoint_enabled(htbs_stop) || htbs_blktraced(dev))
		__htbs_trace_dispatch(dev, res, rq, now, order);
}

/**
 * htbs_trace_complete() - a request completed
 * @dev: the device, locked
 * @res: its reservation
 * @id: the request; see htbs_rq_id()
 * @now: real time, ns
 * @waits: the device is now idled
 */
static inline void htbs_trace_complete(struct htbs_device *dev,
				       struct htbs_reservation *res,
				       int id, u64 now, bool waits)
{
	if (tracepoint_enabled(htbs_complete))
		__htbs_trace_complete(dev, res, id, now, waits);
}

#endif /* HTBS_TRACE_H */
