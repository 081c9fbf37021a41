/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy under test, its requests, and what has to hold of it at any time: events
 * (policy.c), its structure (structure.c), and its choices (choice.c).
 */
#ifndef HTBS_FUZZ_BENCH_H
#define HTBS_FUZZ_BENCH_H

#include <htbs/core/policy.h>

#include "fuzz.h"

#define FLOWS		5	/* the last is the background */
#define PENDING_MAX	16
#define SENT_MAX	64	/* of one flow; of all, more than HTBS_DEADLINES_MAX */

/**
 * struct flow - a flow and its requests
 * @c: the flow under test
 * @queue: pending requests, oldest first
 * @pending: number of pending requests
 * @sent: requests dispatched and not completed, oldest first
 * @in_flight: number of requests in flight
 * @returned: a request that the driver gave back
 * @comes_back: @returned is valid
 * @sweep: where the last request that was dispatched by position ended
 */
struct flow {
	struct htbs_flow c;
	struct htbs_extent queue[PENDING_MAX];
	int pending;
	struct htbs_sent sent[SENT_MAX];
	u32 in_flight;
	struct htbs_sent returned;
	bool comes_back;
	u64 sweep;
};

/**
 * struct bench - the policy under test
 * @policy: it
 * @flow: its flows
 * @now: real time, ns
 */
struct bench {
	struct htbs_policy policy;
	struct flow flow[FLOWS];
	u64 now;
	u64 expired_at;		/* before the choice */
};

static inline bool is_background(const struct bench *bench, const struct flow *flow)
{
	return flow == &bench->flow[FLOWS - 1];
}

void check_structure(struct bench *bench);
bool must_begin(const struct bench *bench);
void check_choice(const struct bench *bench, const struct htbs_choice *choice);
void check_wait(const struct bench *bench);
void check_hold(const struct bench *bench);

#endif /* HTBS_FUZZ_BENCH_H */
