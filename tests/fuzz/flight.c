// SPDX-License-Identifier: GPL-2.0
/*
 * Requests in flight, and when they may hold a head back: never if there are none;
 * else a full window holds back surplus, and a conforming request that may become
 * late holds back any head if the device is rotational.
 */
#include "bench.h"

/* The number of requests in flight. */
u32 in_flight(const struct bench *bench)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < FLOWS; i++)
		sum += bench->flow[i].in_flight;
	return sum;
}

/* The number of conforming requests in flight. */
static int conforming(const struct bench *bench)
{
	int i, sum = 0;
	u32 at;

	for (i = 0; i < FLOWS; i++)
		for (at = 0; at < bench->flow[i].in_flight; at++)
			sum += bench->flow[i].sent[at].conforms;
	return sum;
}

/* Is there room for another request in flight of any flow? */
bool has_room(const struct bench *bench)
{
	int i;

	for (i = 0; i < FLOWS; i++)
		if (bench->flow[i].in_flight == SENT_MAX)
			return false;
	return true;
}

/* A request is dispatched. */
void add_sent(struct bench *bench, struct flow *flow, const struct htbs_sent *sent)
{
	flow->sent[flow->in_flight++] = *sent;
	if (conforming(bench) > HTBS_DEADLINES_MAX)
		bench->unsure = true;
}

/* The oldest request in flight of a flow completes, or is given back. */
static struct htbs_sent remove_sent(struct bench *bench, struct flow *flow)
{
	struct htbs_sent sent = flow->sent[0];

	flow->in_flight--;
	memmove(&flow->sent[0], &flow->sent[1],
		flow->in_flight * sizeof(flow->sent[0]));
	if (!conforming(bench))
		bench->unsure = false;
	bench->held = false;
	return sent;
}

/* In an overload a second tag advances by the time that the device took. */
static void charge_device_share(struct bench *bench, struct flow *flow, u64 took)
{
	const struct htbs_policy *policy = &bench->policy;
	u128 v = bench->now + bench->drift, was = 0;

	if (!htbs_policy_overloaded(policy) || is_background(bench, flow))
		return;
	v -= (u64)v - policy->v;
	if (flow->pending)
		was = start(flow);
	if (flow->device_tag < v)
		flow->device_tag = v;
	flow->device_tag += took < 1000000000ULL ? took : 1000000000ULL;
	if (flow->pending && start(flow) != was)
		flow->entered = ++bench->entries;
}

void complete(struct bench *bench, struct flow *flow)
{
	struct htbs_policy *policy = &bench->policy;
	bool expected = policy->wait == HTBS_WAIT_SERVICE &&
			active(bench) == flow;
	u64 took = (u64)bench->now - policy->service.since, left;
	struct htbs_sent sent;

	if (!flow->in_flight)
		return;
	sent = remove_sent(bench, flow);
	flow->idle_since = bench->now;
	must(htbs_policy_complete(policy, &flow->c, bench->now, &sent) ==
	     expected);
	charge_device_share(bench, flow, took);
	if (!expected)
		return;
	left = policy->wait_until - (u64)bench->now;
	must(policy->wait == HTBS_WAIT_ARRIVAL);
	must(left == policy->t_wait ||
	     (!by_paper(bench) && (s64)left < (s64)policy->t_wait));
}

void requeue(struct bench *bench, struct flow *flow)
{
	bool waited = bench->policy.wait && active(bench) == flow;

	if (!flow->in_flight)
		return;
	flow->returned = remove_sent(bench, flow);
	flow->comes_back = true;
	must(htbs_policy_requeue(&bench->policy, &flow->c, &flow->returned) ==
	     waited);
	must(!waited || !bench->policy.wait);
}

/* A request that was given back bypasses the policy; its due time stays. */
void redispatch(struct bench *bench, struct flow *flow)
{
	if (!has_room(bench))
		return;
	flow->comes_back = false;
	flow->returned.at = bench->now;
	htbs_policy_redispatch(&bench->policy, &flow->c, &flow->returned);
	add_sent(bench, flow, &flow->returned);
}

/* The writes, or the other requests, in flight. */
static u32 in_flight_of(const struct bench *bench, bool write)
{
	u32 at, sum = 0;
	int i;

	for (i = 0; i < FLOWS; i++)
		for (at = 0; at < bench->flow[i].in_flight; at++)
			sum += bench->flow[i].sent[at].write == write;
	return sum;
}

static bool window_full(const struct bench *bench, bool write)
{
	const struct htbs_window *window = &bench->policy.window[write];

	must(window->limit >= HTBS_WINDOW_ONE);
	must(window->limit <= HTBS_WINDOW_MAX * HTBS_WINDOW_ONE);
	return (s64)(bench->window_until - (u64)bench->now) > 0 &&
	       in_flight_of(bench, write) * HTBS_WINDOW_ONE >= window->limit;
}

/* Might another request in flight make a conforming one late? */
static bool risks_deadline(const struct bench *bench, bool reserved)
{
	u64 worst = (in_flight(bench) + 1) * bench->policy.service.seek;
	bool some = false;
	int i;
	u32 at;

	if (reserved)
		worst = (in_flight(bench) + 2) * bench->policy.service.seek / 2;

	for (i = 0; i < FLOWS; i++) {
		const struct flow *flow = &bench->flow[i];

		for (at = 0; at < flow->in_flight; at++)
			some |= flow->sent[at].conforms &&
				(s64)(flow->sent[at].due - worst -
				      (u64)bench->now) < 0;
	}
	return some && bench->policy.rotational;
}

/* Is the head of a flow held back? */
bool held_back(const struct bench *bench, const struct flow *flow)
{
	bool reserved = eligible(bench, flow);

	if (by_paper(bench) || (reserved && bench->policy.overload.now))
		return false;
	return risks_deadline(bench, reserved) ||
	       (!reserved && window_full(bench, flow->queue[0].write));
}

/*
 * A head is held back: that of the active flow or of the next one.  Then no eligible
 * head may be dispatched, and on a device that does not seek no other one, either.
 */
void check_hold(const struct bench *bench, const struct flow *was)
{
	bool may_stay = was && backlogged(was) && sequential(was) &&
			(bench->run < bench->policy.b_max || by_weight(bench));
	bool has_to = may_stay && held_back(bench, was);
	int i;

	must(in_flight(bench));
	for (i = 0; i < FLOWS; i++)
		has_to |= has_turn(bench, &bench->flow[i]) &&
			  held_back(bench, &bench->flow[i]);
	must(has_to);
	for (i = 0; i < FLOWS - 1; i++)
		must(!backlogged(&bench->flow[i]) ||
		     (bench->policy.rotational &&
		      !eligible(bench, &bench->flow[i])) ||
		     (by_weight(bench) && !in_share_tree(&bench->flow[i])) ||
		     held_back(bench, &bench->flow[i]));
}

/* The head that is dispatched must not be held back. */
void check_can_dispatch(const struct bench *bench, const struct flow *flow)
{
	must(bench->unsure || !held_back(bench, flow));
}
