/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The next policy, as a model: see rule.c.  It has the interface of htbs/core, but
 * tags no request: what a flow is owed is told of its head, when a choice is made.
 */
#ifndef HTBS_SIM_RULE_H
#define HTBS_SIM_RULE_H

#include <linux/types.h>

#include <htbs/core/curve.h>
#include <htbs/core/slack.h>

#define RULE_FLOWS	64
#define RULE_DEADLINES	32

/**
 * struct rule_cost - what the device is seen to take for a request
 * @position: to position, if it does, ns
 * @deviation: the mean deviation from that, ns
 * @stream: to transfer 1024 bytes, ns
 */
struct rule_cost {
	u64 position;
	u64 deviation;
	u64 stream;
};

/**
 * struct rule_load - what the device takes for some requests
 * @mean: ns
 * @variance: the sum of the squares of the deviations, in 1024 ns
 */
struct rule_load {
	u64 mean;
	u64 variance;
};

/**
 * struct rule_flow - what the policy knows of a reservation
 * @promise: the reservation
 * @background: it is IOPRIO_CLASS_IDLE
 * @pending: requests in the scheduler
 * @in_flight: requests with the device
 * @tag: the pace: when its next request is due to start by the arrival curve, ns
 * @busy_tag: @tag when it became busy
 * @start: when its head is entitled, ns
 * @deadline: when its head has to be served, ns
 * @arrived: when its head arrived, ns
 * @cost: what its head is charged, bytes
 * @write: its head writes
 * @expected_until: up to then conforming requests are expected, ns
 * @share: device time that it had over its weight, fair queueing's start tag
 * @proportion: the same of its reservation, for an overload, ns
 * @need: part of the device's time that its reservation takes, in 1/256
 * @service: what the device takes for its requests
 * @next_pos: sector behind its last request
 * @sweep: sector from which on the next by position is looked for
 * @idle_since: when it became idle, ns
 * @think: mean time from there to its next request, ns
 * @history: the last 8 requests, 1: sequential
 * @sync: a task waits for the last request
 * @known: one was dispatched
 */
struct rule_flow {
	struct htbs_params promise;
	bool background;
	u32 pending;
	u32 in_flight;
	u64 tag;
	u64 busy_tag;
	u64 start;
	u64 deadline;
	u64 arrived;
	u32 cost;
	bool write;
	u64 expected_until;
	u64 share;
	u64 proportion;
	u64 need;
	struct rule_cost service;
	u64 next_pos;
	u64 sweep;
	u64 idle_since;
	u64 think;
	u8 history;
	bool sync;
	bool known;
};

/**
 * struct rule_quota - how much surplus a device that does not seek may have
 * @rate: bytes/s
 * @tokens: bytes that may be dispatched now
 * @at: when @tokens was brought up to date, ns
 * @until: up to then conforming requests are expected, ns
 * @full: a request was held since the last verdict
 * @bytes: dispatched since @since
 * @since: begin of the interval, ns
 * @used: bytes/s in the interval before
 */
struct rule_quota {
	u64 rate;
	s64 tokens;
	u64 at;
	u64 until;
	bool full;
	u64 bytes;
	u64 since;
	u64 used;
};

/**
 * struct rule_policy - the policy's state
 * @flows: all flows
 * @count: how many
 * @rotational: the device seeks
 * @t_wait: the longest wait, ns
 * @active: the flow that the device is granted to
 * @run: its requests since then
 * @run_since: since when, ns
 * @surplus: it was granted as surplus
 * @waits: the device is kept idle for it: until a completion, or an arrival
 * @wait_until: at most so long, ns
 * @in_flight: requests with the device
 * @load: what it takes to serve them
 * @held: nothing may be dispatched before something changes
 * @by_position: the request chosen is the next by position, not the oldest
 * @service: what it takes for a request, of any flow
 * @busy_since: when it completed a request last, or became busy, ns
 * @quota: of reads, and of writes
 * @deadlines: of conforming requests in flight, on a device that seeks
 * @deadline_count: how many
 * @share: fair queueing's virtual time, by device time over weight
 * @proportion: the same, by reservations
 * @alone: reservations that alone need more than the device have given up
 * @gave_up: they had when turns came too late last
 * @overload: all have
 * @background_due: when a request of the background goes first, ns
 * @expired_at: when an expired head was chosen last, ns
 */
struct rule_policy {
	struct rule_flow *flows[RULE_FLOWS];
	u32 count;
	bool rotational;
	u64 t_wait;
	struct rule_flow *active;
	u32 run;
	u64 run_since;
	bool surplus;
	enum { RULE_NO_WAIT, RULE_WAIT_SERVICE, RULE_WAIT_ARRIVAL } waits;
	u64 wait_until;
	u32 in_flight;
	struct rule_load load;
	bool held;
	bool by_position;
	struct rule_cost service;
	u64 busy_since;
	struct rule_quota quota[2];
	u64 deadlines[RULE_DEADLINES];
	u32 deadline_count;
	u64 share;
	u64 proportion;
	bool alone;
	bool gave_up;
	struct htbs_overload overload;
	u64 background_due;
	u64 expired_at;
};

/* What the caller keeps of a dispatched request until it completes. */
struct rule_sent {
	u64 at;
	u64 due;
	u32 cost;
	bool conforms;
	bool write;
	bool far;
	struct rule_load load;
};

/* A request: where, and how large. */
struct rule_extent {
	u64 pos;
	u32 sectors;
	u32 cost;
	bool sync;
	bool write;
};

void rule_init(struct rule_policy *policy, u64 seek, u64 t_wait,
	       bool rotational);
void rule_add_flow(struct rule_policy *policy, struct rule_flow *flow,
		   const struct htbs_params *promise, bool background);
bool rule_arrive(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		 u32 cost, bool write);
void rule_set_head(struct rule_flow *flow, u64 arrived, u32 cost, bool write);
struct rule_flow *rule_choose(struct rule_policy *policy, u64 now);
void rule_dispatch(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		   u64 arrived, const struct rule_extent *extent,
		   struct rule_sent *sent);
void rule_complete(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		   const struct rule_sent *sent);
void rule_timeout(struct rule_policy *policy, u64 now);
u64 rule_timer(const struct rule_policy *policy, u64 now);

#endif /* HTBS_SIM_RULE_H */
