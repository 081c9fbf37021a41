// SPDX-License-Identifier: GPL-2.0
/*
 * What holds of every choice: the rule, by a walk over all flows.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expire.h>
#include <htbs/core/run.h>
#include <htbs/core/wait.h>

#include "bench.h"

#define HEADS_MAX	FLOWS

/* The heads that are owed, by deadline. */
static int heads_of(const struct bench *bench, const struct htbs_owed_head **heads)
{
	const struct rb_node *rb;
	int count = 0;

	for (rb = rb_first_cached(&bench->policy.owed.root); rb; rb = rb_next(rb))
		heads[count++] = rb_entry(rb, struct htbs_owed_head, rb);
	return count;
}

/* Has latest(Q) passed, with the margin of all, after what the device has? */
static bool must_begin_at(const struct bench *bench, u64 now)
{
	const struct htbs_owed_head *heads[HEADS_MAX];
	int count = heads_of(bench, heads), i;
	struct htbs_load load = bench->policy.load;
	u64 margin;

	for (i = 0; i < count; i++)
		load.variance += heads[i]->load.variance;
	margin = htbs_load_margin(load.variance, bench->policy.margin);
	for (i = 0; i < count; i++) {
		load.mean += heads[i]->load.mean;
		if (!htbs_before(now, heads[i]->deadline - load.mean - margin))
			return true;
	}
	return false;
}

bool must_begin(const struct bench *bench)
{
	return must_begin_at(bench, bench->now);
}

/* All other heads are in time on average after a flow and two positionings. */
static bool others_can_wait(const struct bench *bench, const struct htbs_flow *flow)
{
	const struct htbs_owed_head *heads[HEADS_MAX];
	u32 count = heads_of(bench, heads), i;
	struct htbs_load load = {};

	htbs_load_add(&load, &flow->service, 1 + HTBS_THERE_AND_BACK, flow->head.cost);
	for (i = 0; i < count; i++) {
		if (heads[i] == &flow->pool->head)
			continue;
		load.mean += heads[i]->load.mean;
		if (!htbs_before(bench->now, heads[i]->deadline - load.mean))
			return false;
	}
	return true;
}

/* An expired head was chosen, if not at this moment before. */
static bool expired(const struct bench *bench)
{
	u64 at = bench->policy.expired_at;

	return at == bench->now || at != bench->expired_at;
}

/* The flow that became active after latest(Q) is the most urgent one, or one of a batch. */
static void check_turn(const struct bench *bench, const struct htbs_flow *flow)
{
	const struct htbs_policy *policy = &bench->policy;
	const struct htbs_owed_head *heads[HEADS_MAX];
	const struct htbs_flow *first;

	if (!policy->rotational || policy->overload.now || policy->run ||
	    policy->in_flight || flow->background ||
	    expired(bench) || !must_begin(bench))
		return;
	heads_of(bench, heads);
	first = htbs_pool_of_head((struct htbs_owed_head *)heads[0]);
	/* A write that is not entitled yet has the quota. */
	if (first->head.write && !htbs_policy_owes(policy, first, bench->now))
		return;
	must(&flow->pool->head == heads[0] ||
	     (htbs_policy_owes(policy, flow, bench->now) && others_can_wait(bench, flow)));
}

void check_choice(const struct bench *bench, const struct htbs_choice *choice)
{
	const struct htbs_policy *policy = &bench->policy;
	const struct htbs_flow *flow = choice->flow;

	must(flow->pending && RB_EMPTY_NODE(&flow->cap.rb));
	must(!choice->wait_began && !choice->held);
	must(policy->active == (flow->background ? NULL : flow));
	must(choice->order == policy->order);
	if (choice->order == HTBS_ORDER_NEAREST)
		must(policy->rotational && flow->pending > 1 && flow->passed < 16 &&
		     (!policy->in_flight || (!flow->head.sync && !flow->background)));
	if (choice->switched)
		must(!policy->run);
	check_turn(bench, flow);
}

void check_wait(const struct bench *bench)
{
	const struct htbs_policy *policy = &bench->policy;
	const struct htbs_flow *flow = policy->active;
	u64 left = policy->wait_until - bench->now;

	must(policy->rotational && flow && !flow->pending && flow->sync);
	must(htbs_before(bench->now, policy->wait_until));
	if (policy->wait == HTBS_WAIT_ARRIVAL)
		must(left <= policy->t_wait && !flow->in_flight);
	else
		must(left <= HTBS_HORIZON + policy->t_wait && flow->in_flight);
}

/*
 * A device that seeks with nothing in flight is idle for the quota, no longer than until what is
 * owed has to begin.
 */
static void check_hold_end(const struct bench *bench)
{
	const struct htbs_policy *policy = &bench->policy;
	struct htbs_quota quota = policy->limits.quota;
	bool limited = htbs_quota_wait(&quota, bench->now);

	if (!policy->rotational || policy->in_flight)
		return;
	must(limited);
	must(must_begin(bench) || !must_begin_at(bench, policy->held_until - 1));
}

/*
 * A device that seeks is not idle then, but for a quota; on another no
 * reserved work is held back.
 */
void check_hold(const struct bench *bench)
{
	const struct htbs_policy *policy = &bench->policy;
	int i;

	must(!policy->drains);
	if (policy->rotational && !policy->held_until) {
		must(policy->in_flight);
		return;
	}
	must(htbs_before(bench->now, policy->held_until));
	must(policy->held_until - bench->now <= htbs_policy_hold_most(policy));
	check_hold_end(bench);
	if (policy->rotational)
		return;
	for (i = 0; i < FLOWS - 1; i++)
		if (bench->flow[i].pending)
			must(!htbs_policy_owes(policy, &bench->flow[i].c, bench->now));
}
