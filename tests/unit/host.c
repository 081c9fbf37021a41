// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests need beside the core's own functions: the sizes of the
 * structures, and views of the opaque ones.
 */
#include <stddef.h>

#include <htbs/core/admission.h>
#include <htbs/core/cap.h>
#include <htbs/core/choose.h>
#include <htbs/core/expire.h>
#include <htbs/core/policy.h>

const size_t host_size_policy = sizeof(struct htbs_policy);
const size_t host_size_flow = sizeof(struct htbs_flow);

/* Mirrored in host.py, which compares the sizes. */
const size_t host_size_params = sizeof(struct htbs_params);
const size_t host_size_arrival = sizeof(struct htbs_arrival);
const size_t host_size_choice = sizeof(struct htbs_choice);
const size_t host_size_extent = sizeof(struct htbs_extent);
const size_t host_size_sent = sizeof(struct htbs_sent);
const size_t host_size_service_time = sizeof(struct htbs_service_time);
const size_t host_size_quota = sizeof(struct htbs_quota);
const size_t host_size_window = sizeof(struct htbs_limit);
const size_t host_size_admission = sizeof(struct htbs_admission);

struct host_policy_view {
	const struct htbs_flow *active;
	u64 run;
	u64 wait;
	u64 wait_until;
	u64 held;
	u64 held_until;
	u64 has_work;
	u64 pending;
	u64 in_flight;
	u64 busy;
	u64 overload;
	u64 surplus;
	u64 load;
	u64 deadline_count;
	u64 background_due;
	u64 bound;
	u64 margin;
	u64 seeks;
};

struct host_flow_view {
	u64 pending;
	u64 in_flight;
	u64 think;
	u64 sweep;
	u64 share;
	u64 relaxed;
	u64 reach_unhindered;
	u64 start;
	u64 deadline;
	u64 tag;
	u64 cap_end;
	u64 throttled;
	u64 backlogged;
	u64 sequential;
};

/* The device is what it claims to be. */
void host_policy_believe_claim(struct htbs_policy *policy)
{
	policy->claim = (struct htbs_claim){ };
}

void host_policy_view(const struct htbs_policy *policy,
		      struct host_policy_view *view)
{
	*view = (struct host_policy_view){
		.active		= policy->active,
		.run		= policy->run,
		.wait		= policy->wait,
		.wait_until	= policy->wait_until,
		.held		= policy->held,
		.held_until	= policy->held_until,
		.has_work	= htbs_policy_has_work(policy),
		.pending	= policy->pending,
		.in_flight	= policy->in_flight,
		.busy		= policy->busy,
		.overload	= policy->overload.now,
		.surplus	= policy->surplus,
		.load		= policy->load.mean,
		.deadline_count	= policy->deadlines.count,
		.background_due	= policy->background_due,
		.bound		= htbs_policy_bound(policy),
		.margin		= policy->margin,
		.seeks		= policy->seeks,
	};
}

void host_flow_view(const struct htbs_flow *flow, struct host_flow_view *view)
{
	*view = (struct host_flow_view){
		.pending	= flow->pending,
		.in_flight	= flow->in_flight,
		.think		= flow->think,
		.sweep		= flow->sweep,
		.share		= flow->share.tag,
		.relaxed	= flow->pool->relaxed,
		.reach_unhindered	= flow->pool->reach.unhindered,
		.start		= htbs_flow_start(flow),
		.deadline	= htbs_flow_deadline(flow),
		.tag		= htbs_pace_tag(&flow->pool->pace),
		.cap_end	= htbs_cap_end(&flow->cap),
		.throttled	= flow->cap.throttled,
		.backlogged	= !list_empty(&flow->backlogged),
		.sequential	= htbs_flow_sequential(flow),
	};
}

/* The oldest pending request of a flow is another one, or has grown. */
void host_set_head(struct htbs_policy *policy, struct htbs_flow *flow,
		   const struct htbs_extent *head)
{
	flow->head = *head;
	htbs_policy_head_changed(policy, flow);
}

void host_arrive(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
		 const struct htbs_extent *in, struct htbs_arrival *arrival)
{
	if (!flow->pending)
		flow->head = *in;
	htbs_policy_arrive(policy, flow, now, arrival);
}

/* A request arrives, and is dispatched at once if there is no choice. */
u32 host_dispatch_arriving(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
			   const struct htbs_extent *in, struct htbs_sent *sent)
{
	if (!htbs_policy_has_no_choice(policy, flow))
		return 0;
	flow->head = *in;
	return htbs_policy_dispatch_arriving(policy, flow, now, sent) ? 2 : 1;
}

struct htbs_depth *host_policy_depth(struct htbs_policy *policy)
{
	return &policy->depth;
}

struct htbs_service_time *host_policy_service(struct htbs_policy *policy)
{
	return &policy->service;
}

struct htbs_quota *host_policy_quota(struct htbs_policy *policy)
{
	return &policy->limits.quota;
}

struct htbs_limit *host_policy_window(struct htbs_policy *policy)
{
	return &policy->limits.window;
}

void host_policy_set_t_wait(struct htbs_policy *policy, u64 t_wait)
{
	policy->t_wait = t_wait;
}

void host_flow_set_weight(struct htbs_flow *flow, u32 weight)
{
	flow->pool->pace.params.weight = weight;
}
