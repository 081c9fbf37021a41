// SPDX-License-Identifier: GPL-2.0
/*
 * What holds of the policy's structure between any two events: every flow is where it
 * belongs, trees are in order, and what is summed up is what a walk sums up.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expire.h>

#include "bench.h"

static bool list_has(const struct list_head *list, const struct list_head *entry)
{
	const struct list_head *at;

	for (at = list->next; at != list; at = at->next)
		if (at == entry)
			return true;
	return false;
}

static void check_place(const struct bench *bench, const struct flow *flow)
{
	const struct htbs_policy *policy = &bench->policy;
	const struct htbs_flow *c = &flow->c;
	bool backlogged = c->pending && RB_EMPTY_NODE(&c->cap.rb);
	bool shares = backlogged && !c->background;

	must(c->pending == (u32)flow->pending);
	must(c->in_flight == flow->in_flight);
	must(c->background == is_background(bench, flow));
	must(list_has(&policy->backlogged, &c->backlogged) == backlogged);
	must(c->pending || RB_EMPTY_NODE(&c->cap.rb));
	must(RB_EMPTY_NODE(&c->cap.rb) || c->cap.throttled);
	must(!RB_EMPTY_NODE(&c->share.rb) == (shares && policy->lone != c));
	must(!shares || !policy->lone || policy->lone == c);
	must(c->pool == &c->own || c->pool == &policy->pool);
	must(list_has(&c->pool->members, &c->member));
	must(list_has(&c->pool->backlog, &c->turn) == shares);
}

/* A pool is what its flows are, and is owed once. */
static void check_pool(struct bench *bench, struct htbs_pool *pool)
{
	const struct htbs_policy *policy = &bench->policy;
	const struct htbs_flow *first = htbs_pool_first(pool), *c;
	u32 pending = 0, in_flight = 0, busy = 0;
	struct htbs_paced paced = { };
	bool waits;
	int i;

	for (i = 0; i < FLOWS; i++) {
		c = &bench->flow[i].c;
		if (c->pool != pool)
			continue;
		pending += c->pending;
		in_flight += c->in_flight;
		paced.units += c->paced.units;
		paced.ops += c->paced.ops;
		must(c->paced.ops <= c->in_flight);
		if (policy->rotational)
			must(c->paced.units <= c->bytes / HTBS_PACED_UNIT);
		busy += c->pending || c->in_flight;
	}
	must(pool->pending == pending);
	must(pool->busy == busy);
	must(pool->in_flight == in_flight);
	must(pool->paced.units == paced.units);
	must(pool->paced.ops == paced.ops);
	must(!RB_EMPTY_NODE(&pool->proportion.rb) == (first && policy->overload.now));
	if (pool == policy->changed)
		return;
	must(htbs_owed_contains(&pool->head) == !!first);
	if (!first)
		return;
	must(pool->head.deadline == htbs_flow_deadline(first));
	waits = policy->rotational && htbs_flow_sequential(first);
	must(pool->head.pos == first->head.pos);
	must(pool->head.start == (pool->relaxed || waits ? pool->head.deadline + HTBS_FAR :
						  htbs_flow_start(first)));
}

/* The head is as its pace and its queue say. */
static void check_head(const struct bench *bench, const struct flow *flow)
{
	const struct htbs_flow *c = &flow->c;
	const struct htbs_extent *oldest = &flow->queue[0];
	u64 arrived = htbs_cap_waits_since(&c->cap, oldest->arrived);

	if (!flow->pending)
		return;
	must(c->head.cost == oldest->cost);
	must(c->head.write == oldest->write);
	must(c->head.pos == oldest->pos);
	if (RB_EMPTY_NODE(&c->cap.rb)) {
		must(c->head.arrived == arrived);
		must(!htbs_before(bench->now, c->head.arrived));
	}
}

static void check_load(const struct bench *bench)
{
	struct htbs_load load = {};
	u32 in_flight = 0, busy = 0, pending = 0, besides = 0;
	u32 j;
	int i;

	for (i = 0; i < FLOWS; i++) {
		for (j = 0; j < bench->flow[i].in_flight; j++)
			besides += !!(bench->flow[i].sent[j].flags & HTBS_SENT_BESIDE);
		load.mean += bench->flow[i].c.load.mean;
		load.variance += bench->flow[i].c.load.variance;
		in_flight += bench->flow[i].in_flight;
		pending += bench->flow[i].pending;
		busy += bench->flow[i].in_flight || bench->flow[i].pending;
	}
	must(bench->policy.load.mean == load.mean);
	must(bench->policy.load.variance == load.variance);
	must(bench->policy.in_flight == in_flight);
	must(bench->policy.pending == pending);
	must(bench->policy.busy == busy);
	must(in_flight || !load.mean);
	must(bench->policy.claim.besides == besides);
	if (bench->policy.rotational)
		must(bench->policy.deadlines.count + bench->policy.deadlines.later == in_flight);
}

/* Trees are in order, whatever was charged. */
static void check_order(const struct bench *bench)
{
	const struct rb_node *rb, *next;

	for (rb = rb_first_cached(&bench->policy.owed.root); rb; rb = next) {
		next = rb_next(rb);
		if (next)
			must(!htbs_before(rb_entry(next, struct htbs_owed_head, rb)->deadline,
					  rb_entry(rb, struct htbs_owed_head, rb)->deadline));
	}
	for (rb = rb_first_cached(&bench->policy.shares.root); rb; rb = next) {
		next = rb_next(rb);
		if (next)
			must(!htbs_before(rb_entry(next, struct htbs_fair_node, rb)->tag,
					  rb_entry(rb, struct htbs_fair_node, rb)->tag));
	}
	for (rb = rb_first_cached(&bench->policy.expected); rb; rb = next) {
		const struct htbs_flow *flow = rb_entry(rb, struct htbs_flow, expected);

		must(flow->pool->expects == flow);
		next = rb_next(rb);
		if (next)
			must(htbs_flow_latency(rb_entry(next, struct htbs_flow, expected)) >=
			     htbs_flow_latency(rb_entry(rb, struct htbs_flow, expected)));
	}
}

void check_structure(struct bench *bench)
{
	int i;

	for (i = 0; i < FLOWS; i++) {
		check_place(bench, &bench->flow[i]);
		check_head(bench, &bench->flow[i]);
		check_pool(bench, &bench->flow[i].c.own);
	}
	check_pool(bench, &bench->policy.pool);
	check_load(bench);
	check_order(bench);
	must(htbs_policy_has_work(&bench->policy) ==
	     (!bench->policy.wait && !bench->policy.held &&
	      !list_empty(&bench->policy.backlogged)));
	must(!bench->policy.wait || bench->policy.active);
}
