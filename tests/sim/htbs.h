/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's core, for sim.c; with SIM_PAPER tests/paper/paper.c chooses. */
#ifndef HTBS_SIM_HTBS_H
#define HTBS_SIM_HTBS_H

#include <htbs/core/choose.h>
#include <htbs/core/late.h>
#include <htbs/core/policy.h>
#include <htbs/core/wait.h>

struct engine_flow {
	struct htbs_flow flow;
};

struct engine_request {
	u64 arrived, due;
	struct htbs_sent sent;
	bool conforming;
};

#ifdef SIM_PAPER
extern unsigned int b_max;
#else
static unsigned int b_max;
#endif

static struct htbs_policy policy;
static u32 fixed_window;
static u64 fixed_quota;

static void engine_fix_limits(void)
{
	if (fixed_window)
		policy.limits.window.value = fixed_window * HTBS_LIMIT_ONE;
	if (fixed_quota)
		policy.limits.quota.limit.value = fixed_quota;
}

static struct engine_flow unused;

static void engine_init(const struct sim_setup *setup, bool rotational,
			struct engine_flow *background)
{
	const struct htbs_params least = {
		.bw = HTBS_BW_MIN,
		.burst = HTBS_BURST_MIN,
		.latency = HTBS_LATENCY_MIN,
	};

	b_max = setup->b_max;
	fixed_window = setup->window;
	fixed_quota = setup->quota;
	if (!background)
		background = &unused;
	htbs_policy_init(&policy, &background->flow, rotational, setup->seek,
			 setup->t_wait);
	htbs_policy_set_late(&policy, setup->late, setup->late_writes);
	htbs_flow_init(&background->flow, &policy, &least, 0);
	engine_fix_limits();
}

static void engine_add_flow(struct engine_flow *flow,
			    const struct htbs_params *promise, bool shares)
{
	htbs_flow_init(&flow->flow, &policy, shares ? NULL : promise, 0);
	if (shares)
		htbs_policy_configure_pool(&policy, &flow->flow, promise, 0);
}

static struct htbs_extent engine_extent(const struct sim_what *what, u64 arrived)
{
	return (struct htbs_extent){
		.arrived	= arrived,
		.pos		= what->sector,
		.sectors	= what->size / 512,
		.cost		= htbs_cost(what->size),
		.sync		= what->sync,
		.write		= what->write,
	};
}

static bool engine_arrive(struct engine_flow *flow, u64 now,
			  const struct sim_what *what,
			  struct engine_request *request)
{
	struct htbs_arrival arrival;

	request->arrived = now;
	request->due = now + htbs_flow_latency(&flow->flow);
	request->conforming = false;
	if (!flow->flow.pending)
		flow->flow.head = engine_extent(what, now);
	htbs_policy_arrive(&policy, &flow->flow, now, &arrival);
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

static void engine_dispatch(struct engine_flow *flow, u64 now,
			    const struct sim_what *what,
			    struct engine_request *request)
{
	const struct htbs_extent extent = engine_extent(what, request->arrived);

	htbs_policy_dispatch(&policy, &flow->flow, now, &extent,
			     &request->sent);
	request->due = request->sent.due;
	request->conforming = request->sent.flags & HTBS_SENT_CONFORMS;
}

static void engine_set_head(struct engine_flow *flow,
			    const struct sim_what *what,
			    const struct engine_request *request)
{
	flow->flow.head = engine_extent(what, request->arrived);
	htbs_policy_head_changed(&policy, &flow->flow);
}

static void engine_complete(struct engine_flow *flow, u64 now,
			    const struct sim_what *what,
			    const struct engine_request *request)
{
	htbs_policy_complete(&policy, &flow->flow, now, &request->sent);
	engine_fix_limits();
}

/* When the policy has to be asked again, if nothing happens before. */
static u64 engine_timer(u64 now)
{
	u64 at;

	return htbs_policy_timer(&policy, &at) ? at : NEVER;
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
	return htbs_service_time_longest(&policy.service);
}

static bool engine_seeks(void)
{
	return policy.seeks;
}

static u64 engine_sweep(const struct engine_flow *flow)
{
	return flow->flow.sweep;
}

#endif /* HTBS_SIM_HTBS_H */
