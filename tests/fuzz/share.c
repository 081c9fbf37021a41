// SPDX-License-Identifier: GPL-2.0
/*
 * Weights, by which surplus may go, and changes: of a weight, of the rule; a flow exits
 * and another one is created.
 *
 * Share tags are taken from the policy.  Checked is that the smallest is first, and
 * that a refund moves no tag ahead.
 */
#include <htbs/core/share.h>
#include <htbs/core/tagging.h>

#include "bench.h"

/* Does surplus go by weights? */
bool by_weight(const struct bench *bench)
{
	return htbs_policy_weighted(&bench->policy);
}

/* Flows backlogged when the first weight was given join with their next request. */
bool in_share_tree(const struct flow *flow)
{
	return !RB_EMPTY_NODE(&flow->c.share.rb);
}

/* Has no flow a smaller share tag?  free: of those not held back. */
bool first_by_share(const struct bench *bench, const struct flow *flow, bool free)
{
	u64 tag = flow->c.share.curve.tat;
	int i;

	for (i = 0; i < FLOWS - 1; i++) {
		const struct flow *other = &bench->flow[i];

		if (backlogged(other) && in_share_tree(other) &&
		    !(free && held_back(bench, other)) &&
		    (s64)(other->c.share.curve.tat - tag) < 0)
			return false;
	}
	return true;
}

/* A request was dispatched: if it was surplus, tags of later ones have moved back. */
void check_refund(struct bench *bench, struct flow *flow)
{
	int i;

	if (is_background(bench, flow))
		return;
	for (i = 0; i < flow->pending; i++) {
		struct request *request = &flow->queue[i];
		s64 ahead = htbs_flow_start_tag(&flow->c, &request->kept) -
			    (u64)request->start;

		must(!ahead || (bench->inexact && ahead < 0));
		request->start += ahead;
	}
}

static void set_weight(struct bench *bench, struct flow *flow, struct input *in)
{
	u32 weight = input_byte(in) & 3 ?
		     input_within(in, 1, HTBS_WEIGHT_MAX) : 0;

	htbs_policy_set_weight(&bench->policy, &flow->c, weight);
	must(flow->c.share.weight == weight);
	bench->inexact |= weight;
}

/* A flow with nothing pending or in flight exits, and another one is created. */
static void exit_and_init(struct bench *bench, struct flow *flow, struct input *in)
{
	struct htbs_policy *policy = &bench->policy;
	struct htbs_params params = input_promise(bench, in);
	bool was_active = active(bench) == flow;
	bool waited = was_active && policy->wait;

	if (flow->pending || flow->in_flight)
		return;
	must(htbs_policy_exit_flow(policy, &flow->c) == waited);
	must(policy->active != &flow->c);
	must(!was_active || !policy->wait);
	memset(flow, 0, sizeof(*flow));
	htbs_flow_init(&flow->c, policy, &params, bench->now);
	exact_init(flow, &params, bench->now + bench->drift);
	set_cap(bench, flow, 0);
	flow->idle_since = bench->now;
	flow->pace = bench->now;
}

/* A step about weights and changes; the background has no weight and never exits. */
void share_step(struct bench *bench, struct flow *flow, struct input *in, int what)
{
	if (is_background(bench, flow)) {
		bench->policy.rule ^= HTBS_RULE_PAPER ^ HTBS_RULE_SLACK;
		bench->inexact |= htbs_policy_overloaded(&bench->policy);
	} else if (what % 2) {
		set_weight(bench, flow, in);
	} else {
		exit_and_init(bench, flow, in);
	}
}
