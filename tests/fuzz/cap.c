// SPDX-License-Identifier: GPL-2.0
/*
 * Caps: exactly which flows are throttled, and until when.
 */
#include <htbs/core/cap.h>
#include <htbs/core/tagging.h>
#include <htbs/core/throttle.h>

#include "bench.h"

/* When a flow is unthrottled, plus HTBS_CAP_AHEAD, so that it is not below 0. */
static u128 end(const struct flow *flow)
{
	return reference_tat(&flow->cap);
}

/* Is the flow throttled now? */
bool throttles(const struct bench *bench, const struct flow *flow)
{
	return flow->throttled && !bench->drains &&
	       bench->now + HTBS_CAP_AHEAD < end(flow);
}

/* The first pending request of a flow has arrived. */
void cap_begin(struct bench *bench, struct flow *flow)
{
	flow->throttled = throttles(bench, flow);
}

/* A request is dispatched, or bypasses the policy. */
void cap_charge(struct bench *bench, struct flow *flow, u32 cost)
{
	struct reference *cap = &flow->cap;
	u128 most = bench->now + HTBS_CAP_DEBT;

	if (!cap->params.bw)
		return;
	reference_arrive(cap, bench->now, cost);
	if (reference_tat(cap) > most)
		cap->ticks = most * cap->params.bw;
	flow->throttled = true;
	flow->throttled = throttles(bench, flow);
}

/* When the head is due. */
u64 due(const struct flow *flow)
{
	u64 due = flow->queue[0].due, least;

	if (!flow->cap.params.bw)
		return due;
	least = end(flow) - HTBS_CAP_AHEAD + flow->c.curve.params.latency;
	must(htbs_flow_due(&flow->c, due) ==
	     ((s64)(due - least) < 0 ? least : due));
	return (s64)(due - least) < 0 ? least : due;
}

static void unthrottle_flow(struct bench *bench, struct flow *flow)
{
	flow->throttled = false;
	flow->entered = ++bench->entries;
	bench->held = false;
}

void set_cap(struct bench *bench, struct flow *flow, u64 max)
{
	if (flow->pending && flow->throttled)
		unthrottle_flow(bench, flow);
	flow->throttled = false;
	flow->cap.params.bw = max;
	flow->cap.ticks = bench->now * max;
}

/* The flow that is unthrottled first; of equals, the one that was inserted first. */
static struct flow *first_throttled(struct bench *bench)
{
	struct flow *first = NULL;
	int i;

	for (i = 0; i < FLOWS; i++) {
		struct flow *flow = &bench->flow[i];

		if (!flow->pending || !flow->throttled)
			continue;
		if (!first || end(flow) < end(first) ||
		    (end(flow) == end(first) && flow->entered < first->entered))
			first = flow;
	}
	return first;
}

/* Exactly the flows that are throttled no longer are unthrottled, in order. */
void unthrottle(struct bench *bench)
{
	struct flow *first = first_throttled(bench);
	u64 at = 0;

	must(htbs_policy_next_unthrottle(&bench->policy, &at) == !!first);
	if (first)
		must(at == (u64)(end(first) - HTBS_CAP_AHEAD));
	for (; first && !throttles(bench, first); first = first_throttled(bench)) {
		must(htbs_policy_unthrottle(&bench->policy, bench->now) ==
		     &first->c);
		unthrottle_flow(bench, first);
	}
	must(!htbs_policy_unthrottle(&bench->policy, bench->now));
}

/* Time passes until a flow is unthrottled, or 1 ns before or after that. */
static void wait_for_cap(struct bench *bench, struct input *in)
{
	const struct flow *first = first_throttled(bench);
	u128 at = bench->now + HTBS_CAP_AHEAD;

	if (first && end(first) + 1 > at)
		bench->now += end(first) + input_byte(in) % 3 - at;
}

static void change(struct bench *bench, struct flow *flow, struct input *in)
{
	u64 max = input_byte(in) & 3 ?
		  input_within(in, HTBS_BW_MIN, HTBS_BW_MAX) : 0;

	htbs_policy_set_cap(&bench->policy, &flow->c, max, bench->now);
	set_cap(bench, flow, max);
	set_head(bench, flow);
}

/* A request bypasses the policy, and is charged. */
static void charge_bypass(struct bench *bench, struct flow *flow, struct input *in)
{
	u32 cost = htbs_cost(input_within(in, 0, 1 << 20));

	htbs_policy_charge_bypass(&bench->policy, &flow->c, bench->now, cost);
	exact_charge_untagged(flow, bench->now + bench->drift, cost);
	cap_charge(bench, flow, cost);
	if (flow->pending && flow->cap.params.bw)
		flow->entered = ++bench->entries;
}

/* A step about caps; the background has none. */
void cap_step(struct bench *bench, struct flow *flow, struct input *in, int what)
{
	if (is_background(bench, flow)) {
		bench->drains = what & 1;
		htbs_policy_drain(&bench->policy, bench->drains);
	} else if (what % CAP_STEPS == 0) {
		change(bench, flow, in);
	} else if (what % CAP_STEPS == 1) {
		charge_bypass(bench, flow, in);
	} else {
		wait_for_cap(bench, in);
	}
	unthrottle(bench);
}
