// SPDX-License-Identifier: GPL-2.0
/*
 * Which heads are eligible at a choice, and which head has expired: that one is
 * dispatched, whatever else holds.
 */
#include <htbs/core/cap.h>
#include <htbs/core/eligible.h>

#include "bench.h"

/* The inverse of the background's part of the device's time. */
#define BACKGROUND_PART	16

/* How far a request advances the pace; each quotient is rounded down to full ns. */
static u64 part(const struct htbs_params *params, u32 cost)
{
	u64 bytes = params->bw ? (u128)cost * NSEC / params->bw : 0;
	u64 ops = params->iops ? NSEC / params->iops : 0;

	return bytes > ops ? bytes : ops;
}

/* A request is dispatched. */
void advance_pace(struct bench *bench, struct flow *flow, u32 cost)
{
	const struct htbs_params *params = &flow->c.curve.params;
	s64 ahead = flow->pace - (u64)bench->now;

	if (ahead > 0)
		ahead = 0;
	if (ahead < -(s64)params->latency)
		ahead = -(s64)params->latency;
	flow->pace = (u64)bench->now + ahead + part(params, cost);
	must(is_background(bench, flow) || flow->c.pace == flow->pace);
}

/* Since when the head is pending, not counting the time in which it is throttled. */
static u64 waits_since(const struct flow *flow)
{
	return htbs_flow_waits_since(&flow->c, flow->queue[0].arrived);
}

/* Is the head eligible? */
bool eligible(const struct bench *bench, const struct flow *flow)
{
	u64 now = bench->now;
	int i;

	if (is_background(bench, flow))
		return (s64)(bench->background_due - now) <= 0;
	if (flow->queue[0].conforms)
		return true;
	for (i = 0; i < flow->pending; i++)
		if (flow->queue[i].conforms)
			return (s64)(waits_since(flow) - now) <= 0;
	return (s64)(flow->pace - now) <= 0 ||
	       (s64)(due(flow) - flow->c.curve.params.latency - now) <= 0;
}

void defer_background(struct bench *bench)
{
	bench->background_due = bench->now + BACKGROUND_PART *
				(bench->policy.service.seek + 1);
}

/* The longest time that a head has been pending; false if it has not expired. */
static bool longest(const struct bench *bench, s64 *waited)
{
	int i;

	*waited = -1;
	for (i = 0; i < FLOWS; i++) {
		const struct flow *flow = &bench->flow[i];

		if (backlogged(flow) && (s64)((u64)bench->now - waits_since(flow)) > *waited)
			*waited = bench->now - waits_since(flow);
	}
	return *waited >= (s64)HTBS_EXPIRE;
}

/* Has a head expired, and had the others two seeks since the last one? */
bool some_expired(const struct bench *bench)
{
	u64 rest = 2 * bench->policy.service.seek;
	s64 waited;

	return longest(bench, &waited) &&
	       !(bench->expired && bench->now - bench->expired_at < rest);
}

/* The choice is the expired head. */
void check_expired(struct bench *bench, const struct flow *flow,
		   const struct htbs_choice *choice)
{
	s64 waited;

	longest(bench, &waited);
	must(flow && !choice->held && !choice->wait_began);
	must((s64)((u64)bench->now - waits_since(flow)) == waited);
	must(choice->order == HTBS_ORDER_OLDEST);
	bench->expired = true;
	bench->expired_at = bench->now;
}
