/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow: the policy's view of a cgroup that requests are charged to, on one device.
 */
#ifndef HTBS_CORE_FLOW_H
#define HTBS_CORE_FLOW_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/cap.h>
#include <htbs/core/fair.h>
#include <htbs/core/params.h>
#include <htbs/core/pool.h>
#include <htbs/core/service.h>

/* A request that begins at most this far after the end of the last one of its flow is near. */
#define HTBS_SEQ_GAP		128		/* sectors: 64 KiB */

/**
 * struct htbs_extent - a request, as far as the policy needs to know it
 * @arrived: when it arrived, real ns
 * @pos: first sector
 * @sectors: length
 * @cost: bytes charged
 * @sync: a task waits for it: a read or REQ_SYNC
 * @write: it moves data to the device
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
 * struct htbs_flow - the policy's view of a cgroup that requests are charged to
 * @pool: the flows with which it shares a reservation
 * @own: the pool in which it is alone if it has a reservation of its own
 * @member: its place in @pool
 * @turn: its place among the backlogged flows of @pool, while it is one of them
 * @cap: its cap
 * @pending: pending requests
 * @in_flight: requests dispatched and not completed
 * @paced: requests in flight that were charged to the pace, and what they were charged
 * @conforming: number of requests in @paced that conformed
 * @backlogged: its place among the backlogged flows, while it is one of them
 * @head: its oldest pending request; it counts as arrived when the flow was unthrottled, if that
 *	was later
 * @far: its requests in flight for which the device positions, if it claims to seek
 * @background: it is the background, IOPRIO_CLASS_IDLE (constant)
 * @history: one bit for each of the last HTBS_HABIT dispatched requests, 1: the request was near
 * @sync: a task waits for the last request dispatched
 * @known: a request was dispatched, so @next_pos is valid
 * @expected: its place among the flows from which conforming requests are expected
 * @expected_until: until when they are expected, real ns
 * @expect_for: for how long they are expected after a conforming request, ns; 0: there was none
 * @share: device time that it had over its weight
 * @time_alone: how long the device takes for its last request if it serves no other, ns
 * @service: how long the device takes for its requests
 * @fastest: the shortest time that one of its requests took from its dispatch on
 * @bytes: what its requests in flight were charged, if the device claims to seek
 * @load: how long the device takes for its requests in flight
 * @next_pos: sector after the end of the last request dispatched
 * @sweep: sector from which on the next request by position is looked for
 * @idle_since: when its last request completed, or the flow began, real ns
 * @passed: how many of its requests in a row were dispatched before the oldest one
 * @think: mean time from a completion to its next request, ns
 */
struct htbs_flow {
	struct htbs_pool *pool;
	struct htbs_pool own;
	struct list_head member;
	struct list_head turn;
	struct htbs_cap cap;
	u32 pending;
	u32 in_flight;
	struct htbs_paced paced;
	u32 conforming;
	struct list_head backlogged;
	struct htbs_extent head;
	u32 far;
	bool background;
	u32 history;
	bool sync;
	bool known;
	struct rb_node expected;
	u64 expected_until;
	u64 expect_for;
	struct htbs_fair_node share;
	u64 time_alone;
	struct htbs_service_time service;
	struct htbs_fastest fastest;
	u64 bytes;
	struct htbs_load load;
	u64 next_pos;
	u64 sweep;
	u64 idle_since;
	u32 passed;
	u64 think;
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
 * htbs_flow_pooled() - whether a flow has no reservation of its own
 * @flow: the flow
 *
 * Return: true if it shares one.
 */
static inline bool htbs_flow_pooled(const struct htbs_flow *flow)
{
	return flow->pool != &flow->own;
}

/**
 * htbs_flow_turn_over() - a request of a flow was charged to the pace of its pool
 * @flow: the flow, backlogged
 *
 * It is the turn of the next backlogged flow of the pool. The caller has to update the head of the
 * pool.
 */
static inline void htbs_flow_turn_over(struct htbs_flow *flow)
{
	if (!list_is_singular(&flow->pool->backlog))
		list_move_tail(&flow->turn, &flow->pool->backlog);
}

/**
 * htbs_flow_alone() - whether no other flow of the pool has requests pending
 * @flow: the flow
 *
 * Return: true if this flow gets all that its pool is owed.
 */
static inline bool htbs_flow_alone(const struct htbs_flow *flow)
{
	return flow->pool->pending == flow->pending;
}

/**
 * htbs_flow_start() - from when on the head of a flow is entitled
 * @flow: the flow; it has requests pending
 *
 * Return: real ns.
 */
static inline u64 htbs_flow_start(const struct htbs_flow *flow)
{
	return htbs_pace_start(&flow->pool->pace, flow->head.arrived,
			       flow->head.cost);
}

/**
 * htbs_flow_owed_from() - whether a request of a flow is owed
 * @flow: the flow
 * @start: from when on the request is entitled, real ns
 * @now: real time, ns
 *
 * Requests of a relaxed flow are surplus, although its head has a deadline. So are those of the
 * background.
 *
 * Return: true if the request is owed.
 */
static inline bool htbs_flow_owed_from(const struct htbs_flow *flow, u64 start, u64 now)
{
	return !flow->pool->relaxed && !htbs_before(now, start);
}

/**
 * htbs_flow_owed() - whether the head of a flow is owed
 * @flow: the flow; it has requests pending
 * @now: real time, ns
 *
 * Return: true if the head is entitled, and its flow is not relaxed.
 */
static inline bool htbs_flow_owed(const struct htbs_flow *flow, u64 now)
{
	return htbs_flow_owed_from(flow, htbs_flow_start(flow), now);
}

/**
 * htbs_flow_latency() - how long a conforming request of a flow may take
 * @flow: the flow
 *
 * Return: ns.
 */
static inline u64 htbs_flow_latency(const struct htbs_flow *flow)
{
	return flow->pool->pace.params.latency;
}

bool htbs_flow_note_dispatch(struct htbs_flow *flow, const struct htbs_extent *extent);
void htbs_flow_note_arrival(struct htbs_flow *flow, u64 now, u64 t_wait);
void htbs_flow_note_service(struct htbs_flow *flow, u32 cost, u64 least);
void htbs_flow_update_load(struct htbs_flow *flow);
bool htbs_flow_sequential(const struct htbs_flow *flow);
bool htbs_flow_as_new(const struct htbs_flow *flow, u64 now);
bool htbs_flow_behind(const struct htbs_flow *flow, u64 now);

/**
 * htbs_flow_of_share() - the flow of a node in the tree of shares
 * @node: the node, or NULL
 *
 * Return: the flow, or NULL.
 */
static inline struct htbs_flow *htbs_flow_of_share(struct htbs_fair_node *node)
{
	return node ? container_of(node, struct htbs_flow, share) : NULL;
}

u64 htbs_flow_share(const struct htbs_flow *flow, u64 time);
u64 htbs_flow_share_of_run(const struct htbs_flow *flow, u64 position);
u64 htbs_flow_deadline_of(const struct htbs_flow *flow, u64 arrived, u64 start);

/**
 * htbs_flow_deadline() - until when the head of a flow has to be served
 * @flow: the flow; it has requests pending
 *
 * Return: real ns.
 */
static inline u64 htbs_flow_deadline(const struct htbs_flow *flow)
{
	return htbs_flow_deadline_of(flow, flow->head.arrived, htbs_flow_start(flow));
}

#endif /* HTBS_CORE_FLOW_H */
