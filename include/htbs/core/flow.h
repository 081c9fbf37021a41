/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow: the policy's view of a reservation on a device.
 */
#ifndef HTBS_CORE_FLOW_H
#define HTBS_CORE_FLOW_H

#include <linux/types.h>

#include <htbs/core/cap.h>
#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/share.h>
#include <htbs/core/tree.h>

/*
 * A request that begins this far after the end of the last one is sequential.
 */
#define HTBS_SEQ_GAP		128		/* sectors: 64 KiB */

/* A flow is sequential if this many of its last 8 requests were. */
#define HTBS_SEQ_MIN		5

/**
 * struct htbs_flow - the policy's view of a reservation on a device
 * @curve: its arrival curve of bytes; curve.params is all that is promised
 * @ops: its operations
 * @node: its place in the tree while it is backlogged
 * @share: its share of surplus
 * @cap: its cap
 * @pending: pending requests
 * @conforming: the conforming requests among @pending
 * @in_flight: requests dispatched and not completed
 * @cost: what its last request was charged, bytes
 * @pace: when its next request is eligible at the latest, real ns
 * @device_tag: its start tag by the device's time in an overload, virtual ns
 * @next_pos: sector after the end of the last request dispatched
 * @sweep: sector from which the next request by position is looked for
 * @idle_since: when its last request completed, or the flow began, real ns
 * @think: mean time from there to its next request, ns
 * @history: one bit for each of the last 8 dispatched requests, 1: sequential
 * @sync: a task waits for the last request dispatched
 * @known: a request was dispatched, so @next_pos is valid
 * @device_tagged: @device_tag is valid, and may be later than virtual time
 */
struct htbs_flow {
	struct htbs_curve curve;
	struct htbs_ops ops;
	struct htbs_node node;
	struct htbs_share share;
	struct htbs_cap cap;
	u32 pending;
	u32 conforming;
	u32 in_flight;
	u32 cost;
	u64 pace;
	u64 device_tag;
	u64 next_pos;
	u64 sweep;
	u64 idle_since;
	u64 think;
	u8 history;
	bool sync;
	bool known;
	bool device_tagged;
};

/**
 * struct htbs_extent - place and size of a dispatched request
 * @pos: first sector
 * @sectors: length
 * @cost: bytes charged
 * @sync: a task waits for it: a read or REQ_SYNC
 */
struct htbs_extent {
	u64 pos;
	u32 sectors;
	u32 cost;
	bool sync;
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
 * htbs_flow_linked() - whether a flow is in a tree
 * @flow: the flow
 *
 * Return: true if it is backlogged, or throttled with requests pending.
 */
static inline bool htbs_flow_linked(const struct htbs_flow *flow)
{
	return !RB_EMPTY_NODE(&flow->node.rb) || !RB_EMPTY_NODE(&flow->cap.rb);
}

bool htbs_flow_note_dispatch(struct htbs_flow *flow,
			     const struct htbs_extent *extent);
void htbs_flow_note_arrival(struct htbs_flow *flow, u64 now, u64 t_wait);

bool htbs_flow_sequential(const struct htbs_flow *flow);
bool htbs_flow_anticipates(const struct htbs_flow *flow, u64 think, bool deep);
u64 htbs_flow_max_wait(const struct htbs_flow *flow, u64 t_wait);
u32 htbs_flow_burst(const struct htbs_flow *flow);

#endif /* HTBS_CORE_FLOW_H */
