/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow: the policy's view of a reservation on a device.
 */
#ifndef HTBS_CORE_FLOW_H
#define HTBS_CORE_FLOW_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/cap.h>
#include <htbs/core/fair.h>
#include <htbs/core/owed.h>
#include <htbs/core/pace.h>
#include <htbs/core/params.h>
#include <htbs/core/ready.h>
#include <htbs/core/service.h>

/* A request that begins this far after the end of the last one is sequential. */
#define HTBS_SEQ_GAP		128		/* sectors: 64 KiB */

/* A flow is sequential if this many of its last 8 requests were. */
#define HTBS_SEQ_MIN		5

/* How long a run lasts that nothing else ends, positionings. */
#define HTBS_RUN		8

/**
 * struct htbs_flow - the policy's view of a reservation on a device
 * @pace: its reservation, and how far the flow has come
 * @cap: its cap
 * @background: it is IOPRIO_CLASS_IDLE (constant)
 * @pending: pending requests
 * @in_flight: requests dispatched and not completed
 * @backlogged: its place among the backlogged flows, while it is one of them
 * @head: its oldest pending request
 * @start: when that is entitled, ns
 * @ready: the same among those that are served as soon as they are entitled
 * @arrived: when that arrived, or was no longer throttled; real ns
 * @cost: what that is charged, bytes
 * @write: that moves data to the device
 * @pos: the first sector of that
 * @expected: its place among the flows of which conforming requests are expected
 * @expected_until: up to when they are, real ns
 * @share: device time that it had over its weight
 * @proportion: device time that it had over its reservation, for an overload
 * @alone: what the device takes for its last request if it serves no other, ns
 * @impossible: its reservation takes all of the device's time, or more
 * @surplus_only: and so does what it asks for: it has no deadlines
 * @service: what the device takes for its requests
 * @fastest: the same at best
 * @far: its requests in flight for which the device positions
 * @bytes: what its requests in flight were charged
 * @load: what the device takes for them
 * @judged: when its pace lowered the quotas last, real ns
 * @next_pos: sector after the end of the last request dispatched
 * @sweep: sector from which the next request by position is looked for
 * @idle_since: when its last request completed, or the flow began, real ns
 * @think: mean time from there to its next request, ns
 * @history: one bit for each of the last 8 dispatched requests, 1: sequential
 * @sync: a task waits for the last request dispatched
 * @known: a request was dispatched, so @next_pos is valid
 */
struct htbs_flow {
	struct htbs_pace pace;
	struct htbs_cap cap;
	bool background;
	u32 pending;
	u32 in_flight;
	struct list_head backlogged;
	struct htbs_owed_head head;
	u64 start;
	struct htbs_ready_node ready;
	u64 arrived;
	u32 cost;
	bool write;
	u64 pos;
	struct rb_node expected;
	u64 expected_until;
	struct htbs_fair_node share;
	struct htbs_fair_node proportion;
	u64 alone;
	bool impossible;
	bool surplus_only;
	struct htbs_service_time service;
	struct htbs_fastest fastest;
	u32 far;
	u64 bytes;
	struct htbs_load load;
	u64 judged;
	u64 next_pos;
	u64 sweep;
	u64 idle_since;
	u64 think;
	u8 history;
	bool sync;
	bool known;
};

/**
 * struct htbs_extent - a request that is dispatched
 * @arrived: when it arrived, real ns
 * @pos: first sector
 * @sectors: length
 * @cost: bytes charged
 * @sync: a task waits for it: a read or REQ_SYNC
 * @write: moves data to the device
 */
struct htbs_extent {
	u64 arrived;
	u64 pos;
	u32 sectors;
	u32 cost;
	bool sync;
	bool write;
};

/**
 * htbs_flow_busy() - whether a flow has requests pending or in flight
 * @flow: the flow
 *
 * Return: true if it has.
 */
static inline bool htbs_flow_busy(const struct htbs_flow *flow)
{
	return flow->pending || flow->in_flight;
}

/**
 * htbs_flow_owed() - whether the head of a flow is entitled
 * @flow: the flow; it has requests pending
 * @now: real time, ns
 *
 * Return: true if it is.
 */
static inline bool htbs_flow_owed(const struct htbs_flow *flow, u64 now)
{
	return !htbs_before(now, flow->start);
}

/**
 * htbs_flow_greedy() - whether a flow asks for most of the device's time
 * @flow: the flow; it has requests pending
 *
 * Return: true if it has others pending, or thinks for less than it is served.
 */
static inline bool htbs_flow_greedy(const struct htbs_flow *flow)
{
	return flow->pending > 1 || flow->think < flow->alone;
}

bool htbs_flow_note_dispatch(struct htbs_flow *flow, const struct htbs_extent *extent);
void htbs_flow_note_arrival(struct htbs_flow *flow, u64 now, u64 t_wait);
void htbs_flow_note_service(struct htbs_flow *flow, u32 cost);
void htbs_flow_update_load(struct htbs_flow *flow);
bool htbs_flow_sequential(const struct htbs_flow *flow);
bool htbs_flow_behind(const struct htbs_flow *flow, u64 now);
u64 htbs_flow_share(const struct htbs_flow *flow, u64 time);
u64 htbs_flow_share_of_run(const struct htbs_flow *flow, u64 position);
struct htbs_flow *htbs_flow_of_head(struct htbs_owed_head *head);

#endif /* HTBS_CORE_FLOW_H */
