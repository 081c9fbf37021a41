/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy: which flow is dispatched next, and when the device is idled for a flow. It is a state
 * machine that is fed with time and events: it holds no requests, takes no locks and reads no
 * clock.
 */
#ifndef HTBS_CORE_POLICY_H
#define HTBS_CORE_POLICY_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/claim.h>
#include <htbs/core/deadlines.h>
#include <htbs/core/depth.h>
#include <htbs/core/fair.h>
#include <htbs/core/flow.h>
#include <htbs/core/limit.h>
#include <htbs/core/owed.h>
#include <htbs/core/params.h>
#include <htbs/core/pool.h>
#include <htbs/core/quota.h>
#include <htbs/core/service.h>
#include <htbs/core/stall.h>

/* The largest window: no device takes more requests. */
#define HTBS_WINDOW_MOST	(1024 * HTBS_LIMIT_ONE)

/**
 * enum htbs_wait - what the device is idled for while requests may be pending
 * @HTBS_WAIT_NONE: nothing, the device is not idled
 * @HTBS_WAIT_SERVICE: the next completion of a request of the active flow, after which the flow's
 *	next request is expected
 * @HTBS_WAIT_ARRIVAL: the arrival of the active flow's next request
 */
enum htbs_wait {
	HTBS_WAIT_NONE,
	HTBS_WAIT_SERVICE,
	HTBS_WAIT_ARRIVAL,
};

/**
 * enum htbs_outcome - how a wait ended
 * @HTBS_WAIT_HIT: the request arrived
 * @HTBS_WAIT_TIMEOUT: the request did not arrive in time
 * @HTBS_WAIT_CANCELLED: the flow or a tunable changed, or the driver requeued a request
 */
enum htbs_outcome {
	HTBS_WAIT_HIT,
	HTBS_WAIT_TIMEOUT,
	HTBS_WAIT_CANCELLED,
};

/**
 * enum htbs_order - which request of a flow is dispatched
 * @HTBS_ORDER_NONE: a request that bypasses the policy
 * @HTBS_ORDER_OLDEST: the oldest request
 * @HTBS_ORDER_NEAREST: the next request by position: a synchronous one if any is pending
 */
enum htbs_order {
	HTBS_ORDER_NONE,
	HTBS_ORDER_OLDEST,
	HTBS_ORDER_NEAREST,
};

/**
 * struct htbs_overload - whether the device cannot keep the reservations together
 * @late: moving average of the fraction of turns that are late, in units of 1/HTBS_OVERLOAD_ONE
 * @now: there is an overload
 * @lacked: the last time when not all owed heads could be in time, real ns
 */
struct htbs_overload {
	u32 late;
	bool now;
	u64 lacked;
};

/**
 * struct htbs_slow - when a pool had a slow conforming request, or was behind its pace, last
 * @pool: the pool, which may be gone
 * @at: when, real ns
 * @before: when any other pool than @pool did, real ns
 */
struct htbs_slow {
	const struct htbs_pool *pool;
	u64 at;
	u64 before;
};

/**
 * struct htbs_limits - how much surplus the device may have
 * @window: limits the reads in flight if the device does not seek; in units of 1/HTBS_LIMIT_ONE
 * @window_doubled: when @window doubled last, real ns
 * @quota: limits the writes
 * @raised: how often a conforming request raised the limits
 * @slow: the pools that had a slow request last
 * @hasty: the only pool that lowered the limits because of its pace before its demand was known, or
 *	NULL. The pool may be gone
 */
struct htbs_limits {
	struct htbs_limit window;
	u64 window_doubled;
	struct htbs_quota quota;
	u32 raised;
	struct htbs_slow slow;
	const struct htbs_pool *hasty;
};

/**
 * struct htbs_policy - the policy's state for one device
 * @rotational: the device claims to seek (constant)
 * @seeks: the device is treated as one that seeks, and that reorders requests by position
 * @t_wait: longest wait, ns; 0: never wait
 * @late_one_in: one in this many conforming requests may be late
 * @late_one_in_writes: the same, beside writes on a device that does not seek
 * @backlogged: the backlogged flows: those with requests pending that are not throttled
 * @background: the flow of IOPRIO_CLASS_IDLE, dispatched when @background_due has come, or after
 *	all others (constant)
 * @background_due: when its next request goes before others, real ns
 * @pool: the flows without a reservation of their own
 * @changed: the pool with a stale head in @owed, or NULL
 * @lone: the only backlogged flow, while it is not in @shares yet, or NULL
 * @owed: heads of pools by deadline
 * @next_pos: sector after the end of the last request dispatched
 * @shares: backlogged flows by device time over weight
 * @proportions: pools with backlogged flows by device time over reservation, in an overload
 * @expected: flows of which conforming requests are expected, by latency
 * @urgent_tag: virtual start of the next urgent request (urgent.c), real ns
 * @active: the flow that the device is granted to, or NULL
 * @run: number of requests of @active dispatched since it became active
 * @run_since: when @active became active, real ns
 * @surplus: @active became active without being owed a request; only if @seeks
 * @order: which request of its flow was chosen last
 * @wait: what the device is idled for
 * @wait_until: when the wait ends at the latest, real ns
 * @held: the chosen request is held back, and no choice is made before something changes
 * @held_until: when to choose again at the latest, real ns; 0: only after an event
 * @full: the request is held back because the driver has no tag
 * @pending: pending requests of all flows
 * @in_flight: requests of all flows that are dispatched and not completed
 * @writes: the writes among @in_flight
 * @busy: number of flows with requests pending or in flight
 * @load: service time of the requests in flight
 * @position: the longest positioning to assume before any is known, ns
 * @service: service times of the device, for requests of any flow
 * @depth: positioning times by queue depth
 * @stall: stalls of the device, if @seeks
 * @claim: what tells whether the device seeks, if @rotational
 * @busy_since: when the device completed a request last, or became busy, real ns
 * @reads: positioning time of reads, if @seeks
 * @unlearnt: completed requests that @service does not include yet, if not @seeks
 * @deadlines: deadlines of the requests in flight, if @rotational
 * @limits: how much surplus the device may have
 * @trust: how far the deviations are trusted to cover the worst case; @margin is HTBS_MARGIN
 *	divided by it
 * @margin: the worst case is this many mean deviations from the mean, in units of 1/HTBS_MARGIN_ONE
 * @overload: whether the device cannot keep the reservations together
 * @expired_at: when the last expired head was due to be chosen, real ns
 * @throttled: flows with requests pending that are throttled by their caps
 * @capped: number of flows with a cap
 * @drains: the queue has to be emptied: caps throttle nothing, surplus has no limits, and no wait
 *	begins
 */
struct htbs_policy {
	bool rotational;
	bool seeks;
	u64 t_wait;
	u32 late_one_in;
	u32 late_one_in_writes;
	struct list_head backlogged;
	struct htbs_flow *background;
	u64 background_due;
	struct htbs_pool pool;
	struct htbs_pool *changed;
	struct htbs_flow *lone;
	struct htbs_owed owed;
	u64 next_pos;
	struct htbs_fair shares;
	struct htbs_fair proportions;
	struct rb_root_cached expected;
	u64 urgent_tag;
	struct htbs_flow *active;
	u32 run;
	u64 run_since;
	bool surplus;
	enum htbs_order order;
	enum htbs_wait wait;
	u64 wait_until;
	bool held;
	u64 held_until;
	bool full;
	u32 pending;
	u32 in_flight;
	u32 writes;
	u32 busy;
	struct htbs_load load;
	u64 position;
	struct htbs_service_time service;
	struct htbs_service_time reads;
	struct htbs_depth depth;
	struct htbs_stall stall;
	struct htbs_claim claim;
	u64 busy_since;
	struct htbs_unlearnt unlearnt;
	struct htbs_deadlines deadlines;
	struct htbs_limits limits;
	struct htbs_limit trust;
	u32 margin;
	struct htbs_overload overload;
	u64 expired_at;
	struct rb_root_cached throttled;
	u32 capped;
	bool drains;
};

/**
 * struct htbs_arrival - what an arriving request changed
 * @hit: the request ended a wait
 * @wait_shortened: a wait for another flow ends earlier, see policy->wait_until
 */
struct htbs_arrival {
	bool hit;
	bool wait_shortened;
};

/**
 * struct htbs_choice - what to dispatch
 * @flow: dispatch a request of this flow; NULL: dispatch nothing
 * @order: the oldest request, or the next one by position: from flow->sweep on, then from the first
 *	sector on
 * @switched: @flow has just become active
 * @wait_began: the device is idled from now on
 * @timed_out: a wait ended without a request
 * @overload_ended: an overload ended
 * @held: a request is held back, see policy->held_until
 */
struct htbs_choice {
	struct htbs_flow *flow;
	enum htbs_order order;
	bool switched;
	bool wait_began;
	bool timed_out;
	bool overload_ended;
	bool held;
};

/**
 * struct htbs_sent - what the caller keeps of a dispatched request
 * @at: when it was dispatched, real ns; to within 1024 ns
 * @due: when it is due, real ns: its latency after it is entitled; for the background, when it
 *	expires
 * @cost: bytes charged
 * @flags: HTBS_SENT_*
 */
struct htbs_sent {
	u64 at;
	u64 due;
	u32 cost;
	u8 flags;
};

/* It was entitled when it arrived. */
#define HTBS_SENT_CONFORMS	0x01
/* It moves data to the device. */
#define HTBS_SENT_WRITE		0x02
/* The device positions for it. */
#define HTBS_SENT_FAR		0x04
/* It was charged to the pace of its pool. */
#define HTBS_SENT_PACED		0x08
/*
 * A read that is not near to the last one of its flow: the device has three other reads, or
 * nothing.
 */
#define HTBS_SENT_BESIDE	0x10
#define HTBS_SENT_ALONE		0x40

void htbs_policy_init(struct htbs_policy *policy, struct htbs_flow *background,
		      bool rotational, u64 position, u64 t_wait);
void htbs_flow_init(struct htbs_flow *flow, struct htbs_policy *policy,
		    const struct htbs_params *params, u64 now);
void htbs_policy_configure(struct htbs_policy *policy, struct htbs_flow *flow,
			   const struct htbs_params *params, u64 now);
void htbs_policy_configure_pool(struct htbs_policy *policy, struct htbs_flow *flow,
				const struct htbs_params *params, u64 now);
bool htbs_policy_exit_flow(struct htbs_policy *policy, struct htbs_flow *flow);

void htbs_policy_arrive(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 now, struct htbs_arrival *arrival);
void htbs_policy_head_changed(struct htbs_policy *policy,
			      struct htbs_flow *flow);
bool htbs_policy_dispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			  u64 now, const struct htbs_extent *extent,
			  struct htbs_sent *sent);
bool htbs_policy_dispatch_arriving(struct htbs_policy *policy,
				   struct htbs_flow *flow, u64 now,
				   struct htbs_sent *sent);
void htbs_policy_remove(struct htbs_policy *policy, struct htbs_flow *flow);
bool htbs_policy_complete(struct htbs_policy *policy, struct htbs_flow *flow,
			  u64 now, const struct htbs_sent *sent);
bool htbs_policy_requeue(struct htbs_policy *policy, struct htbs_flow *flow,
			 const struct htbs_sent *sent);
void htbs_policy_redispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			    const struct htbs_sent *sent);
void htbs_policy_charge_bypass(struct htbs_policy *policy,
			       struct htbs_flow *flow, u64 now, u32 cost);

/**
 * htbs_policy_in_flight() - the number of requests of a kind in flight
 * @policy: the policy
 * @write: true: count writes; false: count all other requests
 *
 * Return: requests.
 */
static inline u32 htbs_policy_in_flight(const struct htbs_policy *policy,
					bool write)
{
	return write ? policy->writes : policy->in_flight - policy->writes;
}

/**
 * htbs_policy_window() - the number of reads in flight at which reads of surplus are held back
 * @policy: the policy
 *
 * Return: whole requests.
 */
static inline u32 htbs_policy_window(const struct htbs_policy *policy)
{
	return policy->limits.window.value / HTBS_LIMIT_ONE;
}

/**
 * htbs_policy_waits() - whether no choice is made until something happens
 * @policy: the policy
 *
 * Return: true if a request is held back, or the device is idled.
 */
static inline bool htbs_policy_waits(const struct htbs_policy *policy)
{
	return policy->held || policy->wait != HTBS_WAIT_NONE;
}

/**
 * htbs_policy_has_work() - whether a choice would find a request to dispatch
 * @policy: the policy
 *
 * Return: true if a flow is backlogged, no request is held back, and the device is not idled.
 */
static inline bool htbs_policy_has_work(const struct htbs_policy *policy)
{
	return !htbs_policy_waits(policy) && !list_empty(&policy->backlogged);
}

#endif /* HTBS_CORE_POLICY_H */
