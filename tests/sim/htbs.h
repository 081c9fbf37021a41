/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's core, for sim.c. */
#ifndef HTBS_SIM_HTBS_H
#define HTBS_SIM_HTBS_H

#include <htbs/core/run.h>
#include <htbs/core/sweep.h>
#include <htbs/core/tagging.h>

struct engine_flow {
	struct htbs_flow flow;
};

struct engine_request {
	u64 arrived, due;
	struct htbs_start_tags kept;
	struct htbs_sent sent;
	bool conforming;
};

static struct htbs_policy policy;
static struct engine_flow unused;

static void engine_init(const struct sim_setup *setup, bool rotational,
			struct engine_flow *background)
{
	const struct htbs_params least = {
		.bw = HTBS_BW_MIN,
		.burst = HTBS_BURST_MIN,
		.latency = HTBS_LATENCY_MIN,
	};

	if (!background)
		background = &unused;
	htbs_policy_init(&policy, &background->flow, setup->b_max,
			 setup->t_wait);
	htbs_flow_init(&background->flow, &policy, &least, 0);
	htbs_service_init(&policy.service, setup->seek);
	policy.rule = setup->rule;
	policy.rotational = rotational;
}

static void engine_add_flow(struct engine_flow *flow,
			    const struct htbs_params *promise)
{
	htbs_flow_init(&flow->flow, &policy, promise, 0);
}

static bool engine_arrive(struct engine_flow *flow, u64 now,
			  const struct sim_what *what,
			  struct engine_request *request)
{
	const struct htbs_incoming in = {
		.arrived	= now,
		.cost		= htbs_cost(what->size),
		.write		= what->write,
	};
	struct htbs_arrival arrival;

	htbs_policy_arrive(&policy, &flow->flow, now, &in, &arrival);
	request->arrived = now;
	request->kept = arrival.kept;
	request->due = arrival.due;
	request->conforming = arrival.conforming;
	return arrival.hit;
}

static struct engine_flow *engine_choose(u64 now, struct sim_choice *choice)
{
	struct htbs_choice chosen;

	htbs_policy_choose(&policy, now, &chosen);
	choice->switched = chosen.switched;
	choice->wait_began = chosen.wait_began;
	choice->nearest = chosen.order == HTBS_ORDER_NEAREST;
	return (struct engine_flow *)chosen.flow;
}

/* A request goes before an older one that doesn't conform: with that one's tags. */
static bool engine_passes(struct engine_request *request,
			  struct engine_request *older, u32 swaps)
{
	struct htbs_start_tags kept = request->kept;
	u64 due = request->due;

	if (request->conforming || older->conforming || swaps >= HTBS_TAG_SWAPS)
		return false;
	request->kept = older->kept;
	request->due = older->due;
	older->kept = kept;
	older->due = due;
	return true;
}

static void engine_dispatch(struct engine_flow *flow, u64 now,
			    const struct sim_what *what,
			    struct engine_request *request)
{
	const struct htbs_extent extent = {
		.pos		= what->sector,
		.sectors	= what->size / 512,
		.cost		= htbs_cost(what->size),
		.sync		= !what->write,
	};

	request->sent = (struct htbs_sent){
		.at		= now,
		.due		= request->due,
		.conforms	= request->conforming,
		.write		= what->write,
	};
	htbs_policy_dispatch(&policy, &flow->flow, &extent, &request->sent);
}

static void engine_set_head(struct engine_flow *flow,
			    const struct sim_what *what,
			    const struct engine_request *request)
{
	htbs_policy_set_head(&policy, &flow->flow, &(struct htbs_head){
		.kept		= request->kept,
		.due		= request->due,
		.arrived	= request->arrived,
		.conforms	= request->conforming,
		.write		= what->write,
	});
}

static void engine_complete(struct engine_flow *flow, u64 now,
			    const struct sim_what *what,
			    const struct engine_request *request)
{
	htbs_policy_complete(&policy, &flow->flow, now, &request->sent);
}

/* When the policy has to be asked again, if nothing happens before. */
static u64 engine_timer(u64 now)
{
	return policy.wait != HTBS_WAIT_NONE ? policy.wait_until : NEVER;
}

static void engine_timeout(u64 now)
{
	htbs_policy_timeout(&policy, now);
}

static bool engine_overloaded(void)
{
	return policy.overload.now;
}

static u64 engine_seek(void)
{
	return policy.service.seek;
}

static u64 engine_sweep(const struct engine_flow *flow)
{
	return flow->flow.sweep;
}

#endif /* HTBS_SIM_HTBS_H */
