// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of every decision of the policy.
 */
#include <htbs/core/run.h>

#include "bench.h"

/* Of so many requests of a run, the first is the oldest. */
#define SWEEP		16

/* The smallest start tag of all flows; false if none is backlogged. */
static bool oldest_start(const struct bench *bench, u128 *oldest)
{
	bool any = false;
	int i;

	for (i = 0; i < FLOWS - 1; i++) {
		const struct flow *flow = &bench->flow[i];

		if (!backlogged(flow) ||
		    (any && start(flow) >= *oldest))
			continue;
		*oldest = start(flow);
		any = true;
	}
	return any;
}

/* Its start tag has come. */
static bool entitled(const struct bench *bench, const struct flow *flow)
{
	return start(flow) <= bench->now + bench->drift;
}

/* Which flows a search looks at. */
enum among {
	ALL,
	IN_TURN,	/* with weights, those with an entitled head; else all */
	FREE,		/* of these, those not held back */
	ELIGIBLE,
};

static bool is_among(const struct bench *bench, const struct flow *flow,
		     enum among among)
{
	if (!backlogged(flow))
		return false;
	if (among == ELIGIBLE)
		return eligible(bench, flow);
	if (among == FREE && held_back(bench, flow))
		return false;
	return among == ALL || !by_weight(bench) || entitled(bench, flow);
}

/* The smallest finish tag; among equals the flow that was inserted first. */
static const struct flow *smallest_finish(const struct bench *bench,
					  enum among among)
{
	const struct flow *first = NULL;
	int i;

	for (i = 0; i < FLOWS - 1; i++) {
		const struct flow *flow = &bench->flow[i];

		if (!is_among(bench, flow, among))
			continue;
		if (!first || finish(flow) < finish(first) ||
		    (finish(flow) == finish(first) &&
		     flow->entered < first->entered))
			first = flow;
	}
	return first;
}

/* check_and_adjust_tags(): the clock jumps to the smallest start tag, unless by weights. */
void check_jump(struct bench *bench, u64 jump)
{
	u128 v = bench->now + bench->drift, oldest;
	u64 want = 0;

	if (!by_weight(bench) && oldest_start(bench, &oldest) && oldest > v)
		want = oldest - v;
	must(jump == want);
	bench->drift += jump;
	must(bench->policy.clock.drift == (u64)bench->drift);
}

/* Check the tags of an arrival and store them. */
void check_arrival(struct bench *bench, struct flow *flow,
		   struct request *request, const struct htbs_arrival *arrival)
{
	u64 latency = flow->c.curve.params.latency;
	u128 v, due = bench->now + latency;

	check_jump(bench, arrival->jump);
	v = bench->now + bench->drift;
	must(arrival->v == (u64)v);

	/* Tags are close to the clock, so their distance to it extends them to 128 bits. */
	request->start = v + (s64)(arrival->start - arrival->v);
	request->kept = arrival->kept;
	request->due = arrival->due;
	request->conforms = arrival->conforming;
	if (flow->pending)
		must(request->start >= flow->queue[flow->pending - 1].start);
	if (is_background(bench, flow)) {
		must(!arrival->conforming);
		return;
	}
	if (!bench->inexact)
		must(request->start ==
		     exact_arrive(flow, v, request->cost));
	if (request->start > v)
		due += request->start - v;
	must(arrival->conforming == (request->start <= v));
	must(arrival->due == (u64)due);
	if (arrival->conforming)
		bench->window_until = bench->now + HTBS_WINDOW_HOLD;
}

/*
 * Is the head of another flow overdue?  The policy looks at more heads than
 * there are flows here.
 */
static bool another_overdue(const struct bench *bench, const struct flow *but)
{
	int i;

	for (i = 0; i < FLOWS - 1; i++) {
		const struct flow *flow = &bench->flow[i];

		if (flow != but && backlogged(flow) &&
		    (s64)(due(flow) - (u64)bench->now) <= 0)
			return true;
	}
	return false;
}

/* In a crowd the turn of a conforming flow goes on, though other heads may be late. */
static bool in_turn(const struct bench *bench, const struct flow *flow)
{
	return bench->policy.crowded &&
	       (!flow->pending || flow->queue[0].conforms) &&
	       (s64)(bench->policy.turn_until - (u64)bench->now) > 0;
}

/* The active flow keeps the device: it must be allowed to. */
void check_keep_active(struct bench *bench, const struct flow *flow,
		       enum htbs_order order)
{
	const struct flow *background = &bench->flow[FLOWS - 1];

	must(flow);
	must(!flow->pending || !flow->throttled);
	must(bench->run < bench->policy.b_max);
	must(!background->pending || !eligible(bench, background));
	must(sequential(flow) || order == HTBS_ORDER_NEAREST);
	if (!by_paper(bench) && !bench->policy.overload.now &&
	    !in_turn(bench, flow))
		must(!another_overdue(bench, flow));
}

/*
 * Which request of the flow is dispatched.  The next one by position only in a run, on an
 * idle rotational device, and not every time; and not before a conforming head if that or
 * another head is overdue.
 */
void check_order(const struct bench *bench, const struct flow *was,
		 const struct flow *flow, enum htbs_order order)
{
	const struct htbs_policy *policy = &bench->policy;
	bool may = !by_paper(bench) && policy->rotational && flow == was &&
		   policy->run && flow->pending > 1 && !in_flight(bench) &&
		   bench->run % SWEEP;
	bool bound = flow->queue[0].conforms && !policy->overload.now;

	if (order == HTBS_ORDER_NEAREST)
		must(may && !(bound && another_overdue(bench, NULL)));
	else
		must(order == HTBS_ORDER_OLDEST && (!may || bound));
}

void check_wait(struct bench *bench)
{
	const struct htbs_policy *policy = &bench->policy;
	const struct flow *flow = active(bench);
	u64 until = policy->wait_until, most;

	check_keep_active(bench, flow, HTBS_ORDER_OLDEST);
	must(!flow->pending);
	must(flow->c.sync);
	must(flow->c.think < policy->t_wait);
	if (policy->wait == HTBS_WAIT_SERVICE) {
		must(flow->in_flight == 1 ||
		     (flow->in_flight && !by_paper(bench) &&
		      policy->rotational));
		most = flow->c.curve.params.latency;
		if (most > HTBS_RUN_MAX)
			most = HTBS_RUN_MAX;
		most += (u64)bench->now + policy->t_wait;
		must(until == most ||
		     (!by_paper(bench) && (s64)(until - most) < 0));
		return;
	}
	must(!flow->in_flight ||
	     (!by_paper(bench) && policy->rotational));
	must((s64)(until - (u64)bench->now) > 0);
	must((s64)(flow->idle_since + policy->t_wait - until) >= 0);
	if (by_paper(bench))
		must(until == flow->idle_since + policy->t_wait);
}

/* By the paper's rule a flow that may keep the device has to keep it. */
static bool has_to_keep_active(const struct bench *bench, const struct flow *flow)
{
	const struct flow *background = &bench->flow[FLOWS - 1];
	const struct htbs_policy *policy = &bench->policy;

	if (background->pending && eligible(bench, background))
		return false;
	if (!by_paper(bench) || by_weight(bench) || !flow || bench->run >= policy->b_max ||
	    !sequential(flow) || throttles(bench, flow))
		return false;
	if (flow->pending)
		return true;
	if (!flow->c.sync || flow->in_flight > 1 ||
	    flow->c.think >= policy->t_wait)
		return false;
	return flow->in_flight ||
	       (s64)(flow->idle_since + policy->t_wait - (u64)bench->now) > 0;
}

/* Is a flow other than the background backlogged? */
static bool any_backlogged(const struct bench *bench)
{
	u128 oldest;

	return oldest_start(bench, &oldest);
}

/*
 * Is the flow next if none stays active: the background in its turn; else the smallest
 * finish tag; with weights, if no head is entitled, the smallest share tag.
 */
bool has_turn(const struct bench *bench, const struct flow *flow)
{
	const struct flow *background = &bench->flow[FLOWS - 1];
	const struct flow *first = smallest_finish(bench, IN_TURN);
	bool shared = false;
	int i;

	if (background->pending &&
	    (!any_backlogged(bench) ||
	     (s64)(bench->background_due - (u64)bench->now) <= 0))
		return flow == background;
	if (first || !by_weight(bench))
		return flow == first;
	for (i = 0; i < FLOWS - 1; i++)
		shared |= in_share_tree(&bench->flow[i]);
	if (!shared)
		return flow == smallest_finish(bench, ALL);
	return in_share_tree(flow) && first_by_share(bench, flow, false);
}

/* The next flow is held back: may this one be dispatched instead? */
static bool may_pass(const struct bench *bench, const struct flow *flow)
{
	const struct flow *first = smallest_finish(bench, ELIGIBLE);

	if (by_paper(bench))
		return false;
	if (first && !held_back(bench, first))
		return flow == first;
	if (bench->policy.rotational)
		return false;
	first = smallest_finish(bench, FREE);
	if (first || !by_weight(bench))
		return flow == first;
	return in_share_tree(flow) && first_by_share(bench, flow, true);
}

/* A flow becomes active, or begins another run. */
void check_turn(struct bench *bench, const struct flow *was,
		const struct flow *flow)
{
	bool renewed = by_weight(bench) && flow == was &&
		       first_by_share(bench, flow, false);

	/* A run that began again without a dispatch so far goes on. */
	renewed |= flow == was && !bench->run;
	must(renewed || !has_to_keep_active(bench, was));
	must(has_turn(bench, flow) || renewed || may_pass(bench, flow));
	if (is_background(bench, flow)) {
		must(!bench->policy.active);
		defer_background(bench);
	} else {
		must(active(bench) == flow);
	}
	bench->run = 0;
}
