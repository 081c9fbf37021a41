// SPDX-License-Identifier: GPL-2.0
/*
 * The policy under any script of events, by either rule.
 *
 * Checked at every step: tags and the virtual clock against exact arithmetic
 * (to the nanosecond, until an overload or a weight); each choice, against a search
 * through all flows; which flows a cap throttles, and for how long; and that the
 * policy never lets the clock jump while a conforming request is pending, idles the
 * device without a reason or longer than T_wait, holds back conforming requests,
 * exceeds B_max, or, by the rule of slack, continues a run while the head of another
 * flow is overdue, or passes the oldest request again and again.
 */
#include <htbs/core/cap.h>
#include <htbs/core/run.h>
#include <htbs/core/share.h>
#include <htbs/core/tagging.h>

#include "bench.h"

/* The longest time between two events; virtual time may also jump. */
#define STEP_MAX	1000000000000000ULL	/* ns: 11 days */

void set_head(struct bench *bench, struct flow *flow)
{
	const struct request *oldest = &flow->queue[0];
	const struct htbs_head head = {
		.kept		= oldest->kept,
		.due		= oldest->due,
		.arrived	= oldest->arrived,
		.conforms	= oldest->conforms,
		.write		= oldest->write,
	};

	if (flow->pending)
		htbs_policy_set_head(&bench->policy, &flow->c, &head);
}

static void drop(struct flow *flow, int at)
{
	flow->pending--;
	memmove(&flow->queue[at], &flow->queue[at + 1],
		(flow->pending - at) * sizeof(flow->queue[0]));
}

/* The position of a request, perhaps sequential to the last one of its flow. */
static void place(struct flow *flow, struct request *request, struct input *in)
{
	u8 shape = input_byte(in);
	u64 pos = flow->end;

	if (flow->pending) {
		const struct htbs_extent *last =
			&flow->queue[flow->pending - 1].extent;

		pos = last->pos + last->sectors;
	}
	if (shape & 0x40)
		pos += shape % 4 + HTBS_SEQ_GAP - 2;
	if (shape & 0x80)
		pos = input_number(in) >> 12;
	request->extent.pos = pos;
	request->extent.sectors = 8;
	request->extent.sync = shape & 0x20 || shape < 0x10;
	request->write = shape & 0x08;
}

static void arrive(struct bench *bench, struct flow *flow, struct input *in)
{
	bool waited = bench->policy.wait && active(bench) == flow;
	struct htbs_arrival arrival;
	struct htbs_incoming incoming;
	struct request request = {};

	if (flow->pending == PENDING_MAX)
		return;
	place(flow, &request, in);
	request.cost = htbs_cost(input_within(in, 0, 1 << 20));
	request.arrived = bench->now;
	incoming.arrived = request.arrived;
	incoming.cost = request.cost;
	incoming.write = request.write;
	htbs_policy_arrive(&bench->policy, &flow->c, bench->now, &incoming,
			   &arrival);
	must(arrival.hit == waited);
	check_arrival(bench, flow, &request, &arrival);
	bench->held = false;

	if (!flow->pending) {
		cap_begin(bench, flow);
		flow->entered = ++bench->entries;
		if (is_background(bench, flow))
			defer_background(bench);
	}
	flow->queue[flow->pending++] = request;
}

/* The next request by position, from the sweep on; the first of equals. */
static int nearest(const struct flow *flow)
{
	int at, found = 0;

	for (at = 1; at < flow->pending; at++)
		if (flow->queue[at].extent.pos - flow->sweep <
		    flow->queue[found].extent.pos - flow->sweep)
			found = at;
	return found;
}

static void swap_tags(struct request *one, struct request *other)
{
	struct request was = *one;

	one->start = other->start;
	one->kept = other->kept;
	one->due = other->due;
	other->start = was.start;
	other->kept = was.kept;
	other->due = was.due;
}

/* Remove a pending request.  A surplus request takes the tags of the oldest surplus one. */
static struct request take(struct flow *flow, int at)
{
	struct request request = flow->queue[at];
	int older = at;

	while (older-- && !request.conforms && !flow->queue[older].conforms)
		swap_tags(&request, &flow->queue[older]);
	drop(flow, at);
	return request;
}

static void dispatch(struct bench *bench, struct flow *flow,
		     enum htbs_order order)
{
	bool sweeps = order == HTBS_ORDER_NEAREST;
	const struct request request = take(flow, sweeps ? nearest(flow) : 0);
	const struct htbs_extent *extent = &request.extent;
	const struct htbs_sent sent = {
		bench->now, htbs_flow_due(&flow->c, request.due),
		request.conforms, request.write,
	};
	bool follows = flow->known && extent->pos >= flow->end &&
		       extent->pos - flow->end <= HTBS_SEQ_GAP;

	htbs_policy_dispatch(&bench->policy, &flow->c, extent, &sent);
	bench->inexact |= htbs_policy_overloaded(&bench->policy);
	flow->history = flow->history << 1 | follows;
	flow->end = extent->pos + extent->sectors;
	flow->known = true;
	if (sweeps)
		flow->sweep = flow->end;
	must(flow->c.sweep == flow->sweep);
	add_sent(bench, flow, &sent);
	if (active(bench) == flow)
		bench->run++;
	advance_pace(bench, flow, extent->cost);
	cap_charge(bench, flow, extent->cost);
	flow->entered = ++bench->entries;
	set_head(bench, flow);
	check_refund(bench, flow);
}

static int pending(const struct bench *bench)
{
	int i, sum = 0;

	for (i = 0; i < FLOWS; i++)
		if (backlogged(&bench->flow[i]))
			sum += bench->flow[i].pending;
	return sum;
}

static struct flow *serve(struct bench *bench)
{
	struct htbs_policy *policy = &bench->policy;
	bool waited = policy->wait != HTBS_WAIT_NONE, over, expired;
	struct flow *was = active(bench), *flow;
	struct htbs_choice choice;

	if (!has_room(bench))
		return NULL;
	unthrottle(bench);
	over = (s64)(policy->wait_until - (u64)bench->now) <= 0;
	expired = some_expired(bench);
	htbs_policy_choose(policy, bench->now, &choice);
	must(choice.timed_out == (waited && over));
	if (choice.timed_out)
		was = NULL;
	if (!pending(bench) || (waited && !over) || bench->held) {
		must(!choice.flow && !choice.wait_began && !choice.jump);
		must(!choice.held);
		return NULL;
	}
	check_jump(bench, choice.jump);

	flow = (struct flow *)choice.flow;
	if (expired)
		check_expired(bench, flow, &choice);
	if (choice.wait_began || choice.held) {
		must(choice.wait_began != choice.held);
		must(!flow && active(bench) == was);
		bench->held = choice.held;
		/* A run that was over began again by its share tag. */
		if (by_weight(bench) && !policy->run)
			bench->run = 0;
		if (choice.held)
			check_hold(bench, was);
		else
			check_wait(bench);
		return NULL;
	}
	must(flow && backlogged(flow));
	if (expired) {
		bench->run = 0;
		if (is_background(bench, flow))
			defer_background(bench);
		must(active(bench) == (is_background(bench, flow) ? NULL : flow));
		dispatch(bench, flow, choice.order);
		return flow;
	}
	check_can_dispatch(bench, flow);
	check_order(bench, was, flow, choice.order);
	if (flow == was && policy->run) {
		check_keep_active(bench, flow, choice.order);
		must(!choice.switched);
	} else {
		must(choice.switched == (active(bench) != was));
		check_turn(bench, was, flow);
	}
	dispatch(bench, flow, choice.order);
	return flow;
}

/* The request that is kept has the earlier tags of the two. */
static void merge(struct bench *bench, struct flow *flow, struct input *in)
{
	struct request *kept;
	bool less;
	int at;

	if (flow->pending < 2 || is_background(bench, flow))
		return;
	at = input_byte(in) % (flow->pending - 1);
	kept = &flow->queue[at];
	if ((s64)(flow->queue[at + 1].due - kept->due) < 0)
		kept->due = flow->queue[at + 1].due;
	less = kept->conforms && flow->queue[at + 1].conforms;
	kept->conforms |= flow->queue[at + 1].conforms;
	drop(flow, at + 1);
	htbs_policy_remove(&bench->policy, &flow->c, less);
	flow->entered = ++bench->entries;
	set_head(bench, flow);
}

static void charge(struct bench *bench, struct flow *flow, struct input *in)
{
	u32 bytes = input_within(in, 0, 1 << 20);

	htbs_policy_charge(&bench->policy, &flow->c, bench->now, bytes);
	if (!is_background(bench, flow))
		exact_charge(flow, bench->now + bench->drift, bytes);
}

/* A reservation changes: no tag moves ahead. */
static void configure(struct bench *bench, struct flow *flow, struct input *in)
{
	struct htbs_params params = input_promise(bench, in);
	u128 v = bench->now + bench->drift, was = 0, was_start = 0;
	int i;

	if (is_background(bench, flow))
		return;
	if (flow->pending) {
		was = finish(flow);
		was_start = start(flow);
	}
	htbs_policy_configure(&bench->policy, &flow->c, &params, bench->now);
	set_cap(bench, flow, 0);
	flow->pace = bench->now;
	exact_init(flow, &params, v);
	for (i = 0; i < flow->pending; i++) {
		struct request *request = &flow->queue[i];
		u128 exact = exact_arrive(flow, v, request->cost);
		u64 now, due = request->due;

		htbs_policy_retag(&bench->policy, &flow->c, bench->now,
				  request->cost, &request->kept, &due);
		now = htbs_flow_start_tag(&flow->c, &request->kept);
		must((s64)(now - (u64)request->start) <= 0);
		must((s64)(due - request->due) <= 0);
		if (!bench->inexact)
			must(now == (u64)(exact < request->start ?
					  exact : request->start));
		request->start += (s64)(now - (u64)request->start);
		request->due = due;
	}
	if (flow->pending &&
	    (finish(flow) != was || start(flow) != was_start))
		flow->entered = ++bench->entries;
	set_head(bench, flow);
}

/* A wait ends by the timer, or because a tunable changed. */
static void end_wait(struct bench *bench, bool by_timer)
{
	struct htbs_policy *policy = &bench->policy;
	bool waited = policy->wait != HTBS_WAIT_NONE;
	bool over = (s64)(policy->wait_until - (u64)bench->now) <= 0;

	if (by_timer)
		must(htbs_policy_timeout(policy, bench->now) ==
		     (waited && over));
	else
		must(htbs_policy_cancel_wait(policy) == waited);
	bench->held &= by_timer;
	if (waited && (over || !by_timer)) {
		must(!policy->wait && !policy->active);
		must(htbs_policy_has_work(policy) == !!pending(bench));
	}
}

/* Time passes until the end of a wait, or 1 ns before or after it. */
static void wait_out(struct bench *bench, struct input *in)
{
	s64 left = bench->policy.wait_until - (u64)bench->now +
		   input_byte(in) % 3 - 1;

	if (bench->policy.wait && left > 0)
		bench->now += left;
}

/* Sequential reads, one at a time, until a reader is known to be sequential. */
static void read_on(struct bench *bench, struct flow *flow, int count)
{
	static const u8 next[2];
	struct input in;

	for (; count; count--) {
		struct flow *served;

		in.at = next;
		in.end = next + sizeof(next);
		arrive(bench, flow, &in);
		served = serve(bench);
		if (served)
			complete(bench, served);
	}
}

static void step(struct bench *bench, struct input *in)
{
	u8 what = input_byte(in);
	struct flow *flow = &bench->flow[what % FLOWS], *served;

	if (what / FLOWS >= 48) {
		cap_step(bench, flow, in, what / FLOWS);
		return;
	}
	if (what / FLOWS >= 48 - SHARE_STEPS) {
		share_step(bench, flow, in, what / FLOWS);
		if (is_background(bench, flow))
			end_wait(bench, false);
		return;
	}
	switch (what / FLOWS % 16) {
	case 0 ... 3:
		arrive(bench, flow, in);
		break;
	case 4 ... 5:
		serve(bench);
		break;
	case 6 ... 7:
		served = serve(bench);
		if (served)
			complete(bench, served);
		break;
	case 8:
		complete(bench, flow);
		break;
	case 9:
		bench->now += input_within(in, 0, STEP_MAX);
		break;
	case 10:
		read_on(bench, flow, input_byte(in) % 16);
		break;
	case 11:
		wait_out(bench, in);
		end_wait(bench, what & 1);
		break;
	case 12:
		if (flow->comes_back)
			redispatch(bench, flow);
		else
			requeue(bench, flow);
		break;
	case 13:
		merge(bench, flow, in);
		break;
	case 14:
		charge(bench, flow, in);
		break;
	default:
		configure(bench, flow, in);
		break;
	}
}

static void check(struct bench *bench)
{
	int i;

	for (i = 0; i < FLOWS; i++) {
		must(bench->flow[i].c.pending == (u32)bench->flow[i].pending);
		must(bench->flow[i].c.in_flight == bench->flow[i].in_flight);
	}
	must(htbs_policy_has_work(&bench->policy) ==
	     (!bench->policy.wait && !bench->held && pending(bench)));
}

static void begin(struct bench *bench, struct input *in)
{
	static const struct htbs_params least = {
		.bw = HTBS_BW_MIN,
		.burst = HTBS_BURST_MIN,
		.latency = HTBS_LATENCY_MIN,
	};
	struct htbs_policy *policy = &bench->policy;
	u8 knobs = input_byte(in);
	int i;

	memset(bench, 0, sizeof(*bench));
	bench->now = input_number(in);
	bench->drift = input_number(in);
	htbs_policy_init(policy, &bench->flow[FLOWS - 1].c,
			 input_within(in, 1, 65536),
			 input_within(in, 0, NSEC));
	policy->rule = knobs & 1 ? HTBS_RULE_SLACK : HTBS_RULE_PAPER;
	policy->rotational = knobs & 2;
	bench->operations = knobs >= 0xc0;
	policy->clock.drift = bench->drift;
	htbs_service_init(&policy->service, input_within(in, 0, NSEC));
	for (i = 0; i < FLOWS; i++) {
		struct htbs_params params = least;

		if (i < FLOWS - 1)
			params = input_promise(bench, in);
		htbs_flow_init(&bench->flow[i].c, policy, &params, bench->now);
		exact_init(&bench->flow[i], &params,
			   bench->now + bench->drift);
		bench->flow[i].idle_since = bench->now;
		bench->flow[i].pace = bench->now;
	}
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, data + size };
	static struct bench bench;

	begin(&bench, &in);
	while (!input_empty(&in)) {
		step(&bench, &in);
		check(&bench);
	}
	return 0;
}
