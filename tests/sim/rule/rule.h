/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The next policy, as a model: see rule.c.  It has the interface of htbs/core, but
 * tags no request: what a flow is owed is told of its head, when a choice is made.
 */
#ifndef HTBS_SIM_RULE_H
#define HTBS_SIM_RULE_H

#include <linux/list.h>
#include <linux/types.h>

#include <htbs/core/slack.h>

#include "owed.h"
#include "fair.h"
#include "pace.h"
#include "quota.h"
#include "service.h"

#define RULE_DEADLINES	32

/**
 * struct rule_flow - what the policy knows of a reservation
 * @pace: the reservation, and how far the flow has come
 * @background: it is IOPRIO_CLASS_IDLE
 * @pending: requests in the scheduler
 * @in_flight: requests with the device
 * @backlogged: its place among all backlogged flows, if one is pending
 * @head: its oldest request
 * @arrived: when that arrived, ns
 * @cost: what that is charged, bytes
 * @write: that writes
 * @expected: its place among flows of which conforming requests are expected
 * @expected_until: up to when they are, ns
 * @share: device time that it had over its weight
 * @proportion: the same over its reservation, for an overload, ns
 * @need: part of the device's time that its reservation takes, in 1/256
 * @service: what the device takes for its requests
 * @fastest: the same at best, on a device that does not seek
 * @judged: when its pace lowered the quota last, ns
 * @next_pos: sector behind its last request
 * @sweep: sector from which on the next by position is looked for
 * @idle_since: when it became idle, ns
 * @think: mean time from there to its next request, ns
 * @history: the last 8 requests, 1: sequential
 * @sync: a task waits for the last request
 * @known: one was dispatched
 */
struct rule_flow {
	struct htbs_pace pace;
	bool background;
	u32 pending;
	u32 in_flight;
	struct list_head backlogged;
	struct htbs_owed_head head;
	u64 arrived;
	u32 cost;
	bool write;
	struct rb_node expected;
	u64 expected_until;
	struct htbs_fair_node share;
	struct htbs_fair_node proportion;
	u64 need;
	struct htbs_service_time service;
	struct htbs_fastest fastest;
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
 * struct rule_policy - the policy's state
 * @rotational: the device seeks
 * @t_wait: the longest wait, ns
 * @backlogged: flows with requests pending, and the background
 * @background: the flow of IOPRIO_CLASS_IDLE, or NULL
 * @owed: heads by deadline, without those of flows that gave up
 * @expected: flows of which conforming requests are expected, by latency
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
 * @quota_until: up to when conforming requests are expected, ns
 * @due: deadlines of conforming requests in flight, on a device that seeks
 * @due_count: how many
 * @shares: backlogged flows by device time over weight
 * @proportions: the same by reservations, in an overload
 * @alone: reservations that alone need more than the device have given up
 * @gave_up: they had when turns came too late last
 * @overload: all have
 * @background_due: when a request of the background goes first, ns
 * @expired_at: when an expired head was chosen last, ns
 */
struct rule_policy {
	bool rotational;
	u64 t_wait;
	struct list_head backlogged;
	struct rule_flow *background;
	struct htbs_owed owed;
	struct rb_root_cached expected;
	struct rule_flow *active;
	u32 run;
	u64 run_since;
	bool surplus;
	enum { RULE_NO_WAIT, RULE_WAIT_SERVICE, RULE_WAIT_ARRIVAL } waits;
	u64 wait_until;
	u32 in_flight;
	struct htbs_load load;
	bool held;
	bool by_position;
	struct htbs_service_time service;
	u64 busy_since;
	struct htbs_quota quota[2];
	u64 quota_until;
	u64 due[RULE_DEADLINES];
	u32 due_count;
	struct htbs_fair shares;
	struct htbs_fair proportions;
	bool alone;
	bool gave_up;
	struct htbs_overload overload;
	u64 background_due;
	u64 expired_at;
};

/**
 * struct rule_sent - what the caller keeps of a dispatched request until it completes
 * @at: when it was dispatched, ns
 * @due: until when it has to complete, ns
 * @pace_due: when its flow is a latency behind its pace, ns
 * @depth: requests of its flow in flight, with it
 * @cost: what it was charged, bytes
 * @conforms: it was entitled when it arrived
 * @write: it writes
 * @far: the device positions for it
 * @load: what the device takes for it
 */
struct rule_sent {
	u64 at;
	u64 due;
	u64 pace_due;
	u32 depth;
	u32 cost;
	bool conforms;
	bool write;
	bool far;
	struct htbs_load load;
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
		   const struct htbs_params *promise, bool background, u64 now);
bool rule_arrive(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		 u32 cost, bool write);
void rule_set_head(struct rule_policy *policy, struct rule_flow *flow,
		   u64 arrived, u32 cost, bool write);
struct rule_flow *rule_choose(struct rule_policy *policy, u64 now);
void rule_dispatch(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		   u64 arrived, const struct rule_extent *extent,
		   struct rule_sent *sent);
void rule_complete(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		   const struct rule_sent *sent);
void rule_timeout(struct rule_policy *policy, u64 now);
u64 rule_timer(const struct rule_policy *policy, u64 now);

#endif /* HTBS_SIM_RULE_H */
