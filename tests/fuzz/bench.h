/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy under test and a plain model of it (policy.c), with arrival curves (ops.c),
 * requests in flight (flight.c), caps (cap.c), weights (share.c) and eligible heads
 * (eligible.c); and the checks of each decision (judge.c).
 */
#ifndef HTBS_FUZZ_BENCH_H
#define HTBS_FUZZ_BENCH_H

#include <htbs/core/policy.h>

#include "fuzz.h"

#define FLOWS		5	/* the last is the background */
#define SHARE_STEPS	3	/* of 48 kinds of steps, those about weights and changes */
#define CAP_STEPS	3	/* kinds of steps about caps */
#define PENDING_MAX	16
#define SENT_MAX	64	/* of one flow; more than HTBS_DEADLINES_MAX */

/**
 * struct request - a pending request
 * @start: start tag, virtual ns
 * @kept: the same by both curves, as the policy keeps them
 * @arrived: when it arrived, real ns
 * @due: when it is due, real ns
 * @conforms: it did when it arrived
 * @write: it writes
 * @cost: bytes charged
 * @extent: where it is
 */
struct request {
	u128 start;
	struct htbs_start_tags kept;
	u64 arrived;
	u64 due;
	bool conforms;
	bool write;
	u32 cost;
	struct htbs_extent extent;
};

/**
 * struct flow - a flow and the model of it
 * @c: the flow under test
 * @exact: its arrival curve of bytes; its bw is 0: they don't count
 * @operations: the same of operations
 * @cap: its cap, in real time; its bw: 0: none
 * @throttled: its cap throttles it
 * @queue: pending requests, oldest first
 * @pending: number of pending requests
 * @sent: requests dispatched and not completed, oldest first
 * @in_flight: number of requests in flight
 * @returned: a request that the driver gave back
 * @comes_back: @returned is valid
 * @entered: order of insertion, for flows with equal tags
 * @history: one bit for each of the last 8 requests dispatched, 1: sequential
 * @end: where the last request dispatched ended
 * @known: a request was dispatched
 * @sweep: where the last request that was dispatched by position ended
 * @idle_since: when its last request completed, ns
 * @device_tag: its start tag by the device's time in an overload
 * @pace: when its next request is eligible at the latest
 */
struct flow {
	struct htbs_flow c;
	struct reference exact;
	struct reference operations;
	struct reference cap;
	bool throttled;
	struct request queue[PENDING_MAX];
	int pending;
	struct htbs_sent sent[SENT_MAX];
	u32 in_flight;
	struct htbs_sent returned;
	bool comes_back;
	u64 entered;
	u8 history;
	u64 end;
	bool known;
	u64 sweep;
	u64 idle_since;
	u128 device_tag;
	u64 pace;
};

/**
 * struct bench - the policy under test and the model of it
 * @policy: under test
 * @flow: its flows
 * @now: real time, ns
 * @drift: of the virtual clock, ns
 * @entries: places assigned so far
 * @run: requests of the active reservation since it became active
 * @background_due: when the head of the background is eligible, ns
 * @expired: an expired head was chosen before
 * @expired_at: when an expired head was chosen last
 * @window_until: the window is up until then, ns
 * @held: a head is held back until something changes
 * @drains: the queue has to be emptied
 * @operations: some reservations promise operations
 * @inexact: tags were refunded, or there was an overload
 * @unsure: more conforming requests are in flight than the policy keeps deadlines of
 */
struct bench {
	struct htbs_policy policy;
	struct flow flow[FLOWS];
	u128 now;
	u128 drift;
	u64 entries;
	u32 run;
	u64 background_due;
	bool expired;
	u128 expired_at;
	u64 window_until;
	bool held;
	bool drains;
	bool operations;
	bool inexact;
	bool unsure;
};

static inline bool is_background(const struct bench *bench, const struct flow *flow)
{
	return flow == &bench->flow[FLOWS - 1];
}

static inline bool by_paper(const struct bench *bench)
{
	return bench->policy.rule == HTBS_RULE_PAPER;
}

static inline struct flow *active(struct bench *bench)
{
	return (struct flow *)bench->policy.active;
}

/* The start tag of its head, or the tag by the device's time if that is later. */
static inline u128 start(const struct flow *flow)
{
	return flow->queue[0].start > flow->device_tag ? flow->queue[0].start :
						   flow->device_tag;
}

static inline u128 finish(const struct flow *flow)
{
	return start(flow) + flow->c.curve.params.latency;
}

/* Requests are pending and no cap throttles them. */
static inline bool backlogged(const struct flow *flow)
{
	return flow->pending && !flow->throttled;
}

static inline bool sequential(const struct flow *flow)
{
	return __builtin_popcount(flow->history) >= HTBS_SEQ_MIN;
}

void check_jump(struct bench *bench, u64 jump);
void check_arrival(struct bench *bench, struct flow *flow,
		   struct request *request, const struct htbs_arrival *arrival);
void check_keep_active(struct bench *bench, const struct flow *flow,
		       enum htbs_order order);
void check_order(const struct bench *bench, const struct flow *was,
		 const struct flow *flow, enum htbs_order order);
void check_wait(struct bench *bench);
void check_turn(struct bench *bench, const struct flow *was,
		const struct flow *flow);

void advance_pace(struct bench *bench, struct flow *flow, u32 cost);
bool eligible(const struct bench *bench, const struct flow *flow);
void defer_background(struct bench *bench);
bool some_expired(const struct bench *bench);
void check_expired(struct bench *bench, const struct flow *flow,
		   const struct htbs_choice *choice);

bool has_turn(const struct bench *bench, const struct flow *flow);

bool in_share_tree(const struct flow *flow);
bool by_weight(const struct bench *bench);
bool first_by_share(const struct bench *bench, const struct flow *flow, bool free);
void check_refund(struct bench *bench, struct flow *flow);
void share_step(struct bench *bench, struct flow *flow, struct input *in, int what);

void add_sent(struct bench *bench, struct flow *flow, const struct htbs_sent *sent);
void complete(struct bench *bench, struct flow *flow);
void requeue(struct bench *bench, struct flow *flow);
void redispatch(struct bench *bench, struct flow *flow);
u32 in_flight(const struct bench *bench);
bool has_room(const struct bench *bench);
bool held_back(const struct bench *bench, const struct flow *flow);
void check_hold(const struct bench *bench, const struct flow *was);
void check_can_dispatch(const struct bench *bench, const struct flow *flow);

struct htbs_params input_promise(const struct bench *bench, struct input *in);
void exact_init(struct flow *flow, const struct htbs_params *params, u128 v);
u128 exact_charge(struct flow *flow, u128 v, u32 bytes);
void exact_charge_untagged(struct flow *flow, u128 v, u32 cost);
u128 exact_arrive(struct flow *flow, u128 v, u32 cost);

bool throttles(const struct bench *bench, const struct flow *flow);
void cap_begin(struct bench *bench, struct flow *flow);
void cap_charge(struct bench *bench, struct flow *flow, u32 cost);
void set_cap(struct bench *bench, struct flow *flow, u64 max);
u64 due(const struct flow *flow);
void unthrottle(struct bench *bench);
void cap_step(struct bench *bench, struct flow *flow, struct input *in, int what);
void set_head(struct bench *bench, struct flow *flow);

#endif /* HTBS_FUZZ_BENCH_H */
