/* SPDX-License-Identifier: GPL-2.0 */
/* The model of the next policy, for sim.c. */
#ifndef HTBS_SIM_RULE_ENGINE_H
#define HTBS_SIM_RULE_ENGINE_H

#include "rule.h"

struct engine_flow {
	struct rule_flow flow;
};

struct engine_request {
	u64 arrived, due;
	struct rule_sent sent;
	bool conforming;
};

static struct rule_policy policy;

static void engine_init(const struct sim_setup *setup, bool rotational,
			struct engine_flow *background)
{
	const struct htbs_params least = {
		.bw = HTBS_BW_MIN,
		.burst = HTBS_BURST_MIN,
		.latency = HTBS_LATENCY_MIN,
	};

	rule_init(&policy, setup->seek, setup->t_wait, rotational);
	if (background)
		rule_add_flow(&policy, &background->flow, &least, true, 0);
}

static void engine_add_flow(struct engine_flow *flow,
			    const struct htbs_params *promise)
{
	rule_add_flow(&policy, &flow->flow, promise, false, 0);
}

static bool engine_arrive(struct engine_flow *flow, u64 now,
			  const struct sim_what *what,
			  struct engine_request *request)
{
	request->arrived = now;
	request->due = now + flow->flow.pace.params.latency;
	request->conforming = false;
	return rule_arrive(&policy, &flow->flow, now, htbs_cost(what->size),
			   what->write);
}

static struct engine_flow *engine_choose(u64 now, struct sim_choice *choice)
{
	struct rule_flow *was = policy.active;
	bool waits = policy.waits;
	struct rule_flow *flow = rule_choose(&policy, now);

	choice->switched = flow && flow != was;
	choice->wait_began = !waits && policy.waits;
	choice->nearest = policy.by_position;
	return (struct engine_flow *)flow;
}

static bool engine_passes(struct engine_request *request,
			  struct engine_request *older, u32 swaps)
{
	return false;
}

static void engine_dispatch(struct engine_flow *flow, u64 now,
			    const struct sim_what *what,
			    struct engine_request *request)
{
	const struct rule_extent extent = {
		.pos		= what->sector,
		.sectors	= what->size / 512,
		.cost		= htbs_cost(what->size),
		.sync		= !what->write,
		.write		= what->write,
	};

	rule_dispatch(&policy, &flow->flow, now, request->arrived, &extent,
		      &request->sent);
	request->due = request->sent.due;
	request->conforming = request->sent.conforms;
}

static void engine_set_head(struct engine_flow *flow,
			    const struct sim_what *what,
			    const struct engine_request *request)
{
	rule_set_head(&policy, &flow->flow, request->arrived,
		      htbs_cost(what->size), what->write);
}

static void engine_complete(struct engine_flow *flow, u64 now,
			    const struct sim_what *what,
			    const struct engine_request *request)
{
	rule_complete(&policy, &flow->flow, now, &request->sent);
}

/* When the policy has to be asked again, if nothing happens before. */
static u64 engine_timer(u64 now)
{
	return rule_timer(&policy, now) ?: NEVER;
}

static void engine_timeout(u64 now)
{
	rule_timeout(&policy, now);
}

static bool engine_overloaded(void)
{
	return policy.overload.now;
}

static u64 engine_seek(void)
{
	return policy.service.position;
}

static u64 engine_sweep(const struct engine_flow *flow)
{
	return flow->flow.sweep;
}

#endif /* HTBS_SIM_RULE_ENGINE_H */
