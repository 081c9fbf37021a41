// SPDX-License-Identifier: GPL-2.0
/*
 * The policy under any script of events, on any device.
 *
 * After each event the whole structure is checked (structure.c), and each choice against
 * the rule (choice.c).
 */
#include <htbs/core/choose.h>
#include <htbs/core/throttle.h>
#include <htbs/core/wait.h>

#include "bench.h"

/* The longest time between two events. */
#define STEP_MAX	1000000000000000ULL	/* ns: 11 days */

static void set_head(struct bench *bench, struct flow *flow)
{
	if (!flow->pending)
		return;
	flow->c.head = flow->queue[0];
	htbs_policy_head_changed(&bench->policy, &flow->c);
}

static struct htbs_extent drop(struct flow *flow, int at)
{
	struct htbs_extent request = flow->queue[at];

	flow->pending--;
	memmove(&flow->queue[at], &flow->queue[at + 1],
		(flow->pending - at) * sizeof(flow->queue[0]));
	return request;
}

/* A request, perhaps sequential to the last one of its flow. */
static struct htbs_extent request_of(const struct bench *bench,
				     const struct flow *flow, struct input *in)
{
	struct htbs_extent request = { .arrived = bench->now, .sectors = 8 };
	u8 shape = input_byte(in);

	request.pos = flow->c.next_pos;
	if (flow->pending) {
		const struct htbs_extent *last = &flow->queue[flow->pending - 1];

		request.pos = last->pos + last->sectors;
	}
	if (shape & 0x40)
		request.pos += shape % 4 + HTBS_SEQ_GAP - 2;
	if (shape & 0x80)
		request.pos = input_number(in) >> 12;
	request.sync = shape & 0x20 || shape < 0x10;
	request.write = shape & 0x08;
	request.cost = htbs_cost(input_within(in, 0, 1 << 20));
	return request;
}

static void arrive(struct bench *bench, struct flow *flow, struct input *in)
{
	bool waited = bench->policy.wait && bench->policy.active == &flow->c;
	struct htbs_extent request = request_of(bench, flow, in);
	u64 until = bench->policy.wait_until;
	struct htbs_arrival arrival;

	if (flow->pending == PENDING_MAX)
		return;
	if (!flow->pending)
		flow->c.head = request;
	htbs_policy_arrive(&bench->policy, &flow->c, bench->now, &arrival);
	must(arrival.hit == waited);
	if (arrival.wait_shortened)
		must(bench->policy.wait &&
		     htbs_before(bench->policy.wait_until, until));
	flow->queue[flow->pending++] = request;
}

/* The next request by position, from the sweep on; the first of equals. */
static int nearest(const struct flow *flow)
{
	int at, found = 0;

	for (at = 1; at < flow->pending; at++)
		if (flow->queue[at].pos - flow->sweep <
		    flow->queue[found].pos - flow->sweep)
			found = at;
	return found;
}

/* due: until when the oldest request of the flow had to be served. */
static void check_sent(const struct bench *bench, const struct flow *flow,
		       const struct htbs_extent *request,
		       const struct htbs_sent *sent, u64 due)
{
	must(sent->at == bench->now);
	must(sent->cost == request->cost);
	must(!!(sent->flags & HTBS_SENT_WRITE) == request->write);
	must(!htbs_before(sent->due, request->arrived + htbs_flow_latency(&flow->c)));
	must(!(sent->flags & HTBS_SENT_CONFORMS) || !is_background(bench, flow));
	must(!htbs_before(sent->due, due) || is_background(bench, flow));
}

static void dispatch(struct bench *bench, struct flow *flow, enum htbs_order order)
{
	int at = order == HTBS_ORDER_NEAREST ? nearest(flow) : 0;
	const struct htbs_extent request = drop(flow, at);
	struct htbs_sent *sent = &flow->sent[flow->in_flight++];
	u64 due = htbs_flow_start(&flow->c) + htbs_flow_latency(&flow->c);
	bool was = bench->policy.overload.now, began;

	began = htbs_policy_dispatch(&bench->policy, &flow->c, bench->now,
				     &request, sent);
	must(began == (!was && bench->policy.overload.now));
	check_sent(bench, flow, &request, sent, due);
	if (order == HTBS_ORDER_NEAREST)
		flow->sweep = request.pos + request.sectors;
	must(flow->c.sweep == flow->sweep);
	set_head(bench, flow);
}

static bool has_room(const struct bench *bench)
{
	int i;

	for (i = 0; i < FLOWS; i++)
		if (bench->flow[i].in_flight == SENT_MAX)
			return false;
	return true;
}

static struct flow *serve(struct bench *bench)
{
	struct htbs_policy *policy = &bench->policy;
	bool waited = policy->wait, work;
	struct htbs_choice choice;
	u64 at;

	if (!has_room(bench))
		return NULL;
	while (htbs_policy_unthrottle(policy, bench->now))
		;
	work = htbs_policy_has_work(policy) ||
	       (htbs_policy_timer(policy, &at) && !htbs_before(bench->now, at) &&
		!list_empty(&policy->backlogged));
	bench->expired_at = policy->expired_at;
	htbs_policy_choose(policy, bench->now, &choice);
	must(!choice.timed_out || waited);
	must(work || (!choice.flow && !choice.held && !choice.wait_began));
	if (choice.flow) {
		check_choice(bench, &choice);
		dispatch(bench, (struct flow *)choice.flow, choice.order);
		return (struct flow *)choice.flow;
	}
	must(!work || choice.held || choice.wait_began);
	must(choice.held == (work && policy->held));
	must(!choice.wait_began || !bench->policy.drains);
	if (choice.wait_began)
		check_wait(bench);
	if (choice.held)
		check_hold(bench);
	return NULL;
}

static struct htbs_sent take_sent(struct flow *flow)
{
	struct htbs_sent sent = flow->sent[0];

	flow->in_flight--;
	memmove(&flow->sent[0], &flow->sent[1],
		flow->in_flight * sizeof(flow->sent[0]));
	return sent;
}

static void complete(struct bench *bench, struct flow *flow)
{
	struct htbs_policy *policy = &bench->policy;
	bool waits = policy->wait == HTBS_WAIT_SERVICE && policy->active == &flow->c;
	struct htbs_sent sent;

	if (!flow->in_flight)
		return;
	sent = take_sent(flow);
	must(htbs_policy_complete(policy, &flow->c, bench->now, &sent) == waits);
	must(!policy->held);
	if (waits)
		must(policy->wait_until - bench->now <= policy->t_wait);
}

/* The driver gives a request back; later the device gets it past the policy. */
static void requeue(struct bench *bench, struct flow *flow)
{
	if (!flow->comes_back && flow->in_flight) {
		flow->returned = take_sent(flow);
		flow->comes_back = true;
		htbs_policy_requeue(&bench->policy, &flow->c, &flow->returned);
	} else if (flow->comes_back && has_room(bench)) {
		flow->comes_back = false;
		flow->returned.at = bench->now;
		flow->sent[flow->in_flight++] = flow->returned;
		htbs_policy_redispatch(&bench->policy, &flow->c, &flow->returned);
	}
}

/* Two neighbours of the queue become one request. */
static void merge(struct bench *bench, struct flow *flow, struct input *in)
{
	struct htbs_extent gone;
	int at;

	if (flow->pending < 2)
		return;
	at = input_byte(in) % (flow->pending - 1);
	gone = drop(flow, at + 1);
	flow->queue[at].cost += gone.cost;
	htbs_policy_remove(&bench->policy, &flow->c);
	set_head(bench, flow);
}

static u64 input_cap(const struct htbs_params *params, struct input *in)
{
	u64 rate = htbs_params_rate(params);

	return input_byte(in) % 2 ? input_within(in, rate, HTBS_BW_MAX) : 0;
}

static struct htbs_params input_promise(struct input *in)
{
	struct htbs_params params = input_params(in);
	u8 shape = input_byte(in);

	if (shape & 1)
		params.weight = input_within(in, HTBS_WEIGHT_MIN, HTBS_WEIGHT_MAX);
	if (shape & 2)
		params.iops = input_within(in, 1, HTBS_IOPS_MAX);
	if (shape & 2 && shape & 4)
		params.bw = 0;
	params.max = input_cap(&params, in);
	must(htbs_params_valid(&params));
	return params;
}

static void configure(struct bench *bench, struct flow *flow, struct input *in)
{
	struct htbs_policy *policy = &bench->policy;
	struct htbs_params params = input_promise(in);
	u8 how = input_byte(in);

	if (is_background(bench, flow))
		return;
	if (how % 4 == 1)
		htbs_policy_configure(policy, &flow->c, &params, bench->now);
	else if (how % 4 == 3)
		htbs_policy_configure(policy, &flow->c, NULL, bench->now);
	else if (how % 4 == 2 && htbs_flow_pooled(&flow->c))
		htbs_policy_configure_pool(policy, &flow->c, &params, bench->now);
	else
		htbs_policy_set_cap(policy, &flow->c, params.max, bench->now);
	set_head(bench, flow);
}

/* A wait ends by the timer, or because a tunable changed. */
static void end_wait(struct bench *bench, bool by_timer)
{
	struct htbs_policy *policy = &bench->policy;
	bool waited = policy->wait, over;

	over = waited && !htbs_before(bench->now, policy->wait_until);
	if (by_timer)
		must(htbs_policy_timeout(policy, bench->now) == over);
	else
		must(htbs_policy_cancel_wait(policy) == waited);
	if (waited && (over || !by_timer))
		must(!policy->wait && !policy->active);
}

/* Time passes until the timer expires, or 1 ns before or after it. */
static void wait_out(struct bench *bench, struct input *in)
{
	u64 at;

	if (htbs_policy_timer(&bench->policy, &at) &&
	    htbs_before(bench->now + 1, at))
		bench->now = at + input_byte(in) % 3 - 1;
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

/* A flow without requests ends; its place is taken by one without a reservation. */
static void begin_again(struct bench *bench, struct flow *flow)
{
	htbs_policy_exit_flow(&bench->policy, &flow->c);
	flow->sweep = 0;
	htbs_flow_init(&flow->c, &bench->policy, NULL, bench->now);
}

static void step_seldom(struct bench *bench, struct flow *flow, struct input *in,
			u8 what)
{
	switch (what % 6) {
	case 0:
		requeue(bench, flow);
		break;
	case 1:
		merge(bench, flow, in);
		break;
	case 2:
		htbs_policy_charge_bypass(&bench->policy, &flow->c, bench->now,
					  htbs_cost(input_within(in, 0, 1 << 20)));
		break;
	case 3:
		htbs_policy_drain(&bench->policy, input_byte(in) % 2);
		break;
	case 4:
		if (!flow->pending && !flow->in_flight && !is_background(bench, flow))
			begin_again(bench, flow);
		break;
	default:
		configure(bench, flow, in);
		break;
	}
}

static void step(struct bench *bench, struct input *in)
{
	u8 what = input_byte(in);
	struct flow *flow = &bench->flow[what % FLOWS], *served;

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
	case 8 ... 9:
		complete(bench, flow);
		break;
	case 10:
		bench->now += input_within(in, 0, STEP_MAX);
		break;
	case 11:
		read_on(bench, flow, input_byte(in) % 16);
		break;
	case 12:
		wait_out(bench, in);
		end_wait(bench, what & 1);
		break;
	default:
		step_seldom(bench, flow, in, input_byte(in));
		break;
	}
}

static void begin(struct bench *bench, struct input *in)
{
	static const struct htbs_params least = {
		.bw = HTBS_BW_MIN,
		.burst = HTBS_BURST_MIN,
		.latency = HTBS_LATENCY_MIN,
	};
	int i;

	memset(bench, 0, sizeof(*bench));
	bench->now = input_number(in);
	htbs_policy_init(&bench->policy, &bench->flow[FLOWS - 1].c,
			 input_byte(in) % 2, input_within(in, 0, NSEC),
			 input_within(in, 0, NSEC));
	htbs_pool_configure(&bench->policy.pool, &least, bench->now);
	for (i = 0; i < FLOWS; i++) {
		struct htbs_params params = least;

		if (i < FLOWS - 1)
			params = input_promise(in);
		htbs_flow_init(&bench->flow[i].c, &bench->policy, &params,
			       bench->now);
	}
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, data + size };
	static struct bench bench;

	begin(&bench, &in);
	while (!input_empty(&in)) {
		step(&bench, &in);
		check_structure(&bench);
	}
	return 0;
}
