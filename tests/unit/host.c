// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests need beside the core's own functions: the sizes of the
 * structures, views of the opaque ones, and two loops that would be too slow
 * in Python.
 */
#include <stddef.h>

#include <htbs/core/admission.h>
#include <htbs/core/cap.h>
#include <htbs/core/curve.h>
#include <htbs/core/policy.h>
#include <htbs/core/slack.h>
#include <htbs/core/tree.h>

const size_t host_size_policy = sizeof(struct htbs_policy);
const size_t host_size_flow = sizeof(struct htbs_flow);
const size_t host_size_tree = sizeof(struct htbs_tree);
const size_t host_size_node = sizeof(struct htbs_node);

/* Mirrored in host.py, which compares the sizes. */
const size_t host_size_params = sizeof(struct htbs_params);
const size_t host_size_start_tags = sizeof(struct htbs_start_tags);
const size_t host_size_clock = sizeof(struct htbs_clock);
const size_t host_size_curve = sizeof(struct htbs_curve);
const size_t host_size_arrival = sizeof(struct htbs_arrival);
const size_t host_size_choice = sizeof(struct htbs_choice);
const size_t host_size_extent = sizeof(struct htbs_extent);
const size_t host_size_incoming = sizeof(struct htbs_incoming);
const size_t host_size_head = sizeof(struct htbs_head);
const size_t host_size_sent = sizeof(struct htbs_sent);
const size_t host_size_window = sizeof(struct htbs_window);
const size_t host_size_service = sizeof(struct htbs_service);
const size_t host_size_overload = sizeof(struct htbs_overload);
const size_t host_size_admission = sizeof(struct htbs_admission);

struct host_policy_view {
	const struct htbs_flow *active;
	u64 run;
	u64 wait;
	u64 wait_until;
	u64 has_work;
	u64 shared;
	u64 busy;
	u64 v;
	u64 background_due;
};

struct host_flow_view {
	u64 pending;
	u64 in_flight;
	u64 think;
	u64 burst;
	u64 sweep;
	u64 share;
	u64 cap_end;
	u64 throttled;
	u64 finish;
	u64 pace;
	u64 eligible;
};

void host_policy_view(const struct htbs_policy *policy,
		      struct host_policy_view *view)
{
	view->active = policy->active;
	view->run = policy->run;
	view->wait = policy->wait;
	view->wait_until = policy->wait_until;
	view->has_work = htbs_policy_has_work(policy);
	view->shared = policy->shares.clock.drift;
	view->busy = policy->busy;
	view->v = policy->v;
	view->background_due = policy->background_due;
}

void host_flow_view(const struct htbs_flow *flow, struct host_flow_view *view)
{
	view->pending = flow->pending;
	view->in_flight = flow->in_flight;
	view->think = flow->think;
	view->burst = flow->node.count;
	view->sweep = flow->sweep;
	view->share = flow->share.curve.tat;
	view->cap_end = htbs_cap_end(&flow->cap);
	view->throttled = flow->cap.throttled;
	view->finish = flow->node.finish;
	view->pace = flow->pace;
	view->eligible = flow->node.eligible;
}

struct htbs_clock *host_policy_clock(struct htbs_policy *policy)
{
	return &policy->clock;
}

struct htbs_service *host_policy_service(struct htbs_policy *policy)
{
	return &policy->service;
}

struct htbs_overload *host_policy_overload(struct htbs_policy *policy)
{
	return &policy->overload;
}

struct htbs_window *host_policy_window(struct htbs_policy *policy)
{
	return policy->window;
}

void host_policy_set_rotational(struct htbs_policy *policy, bool rotational)
{
	policy->rotational = rotational;
}

void host_policy_set_rule(struct htbs_policy *policy, enum htbs_rule rule)
{
	policy->rule = rule;
}

struct htbs_curve *host_flow_curve(struct htbs_flow *flow)
{
	return &flow->curve;
}

void host_node_set(struct htbs_node *node, u64 start, u64 finish)
{
	node->start = start;
	node->finish = finish;
}

void host_node_set_due(struct htbs_node *node, u64 due, u32 count)
{
	node->due = due;
	node->count = count;
}

void host_node_set_conforms(struct htbs_node *node, bool conforms)
{
	node->conforms = conforms;
}

struct htbs_node *host_tree_first(const struct htbs_tree *tree)
{
	return htbs_tree_first(tree);
}

struct htbs_node *host_tree_next(const struct htbs_node *node)
{
	return htbs_tree_next(node);
}

u64 host_tree_min_start(const struct htbs_tree *tree)
{
	return htbs_tree_min_start(tree);
}

void host_node_set_moments(struct htbs_node *node, u64 eligible, u64 arrived)
{
	node->eligible = eligible;
	node->arrived = arrived;
}

static void host_lower(u64 *min, u64 value)
{
	if (htbs_before(value, *min))
		*min = value;
}

/* Are the minima of this node and of each node below it correct? */
static bool host_node_consistent(const struct rb_node *rb)
{
	const struct rb_node *below[2];
	const struct htbs_node *node;
	struct htbs_minima min;
	int i;

	if (!rb)
		return true;

	node = rb_entry(rb, struct htbs_node, rb);
	below[0] = rb->rb_left;
	below[1] = rb->rb_right;
	min.start = node->start;
	min.eligible = node->eligible;
	min.arrived = node->arrived;
	for (i = 0; i < 2; i++) {
		const struct htbs_node *child;

		if (!host_node_consistent(below[i]))
			return false;
		child = rb_entry_safe(below[i], struct htbs_node, rb);
		if (!child)
			continue;
		host_lower(&min.start, child->min.start);
		host_lower(&min.eligible, child->min.eligible);
		host_lower(&min.arrived, child->min.arrived);
	}
	return node->min.start == min.start &&
	       node->min.eligible == min.eligible &&
	       node->min.arrived == min.arrived;
}

bool host_tree_consistent(const struct htbs_tree *tree)
{
	return host_node_consistent(tree->root.rb_root.rb_node);
}

/* Charge bytes, bytes + step, bytes + 2 * step, ... */
void host_curve_charge_many(struct htbs_curve *curve, u32 bytes, u32 step,
			    u32 count)
{
	for (; count; count--, bytes += step)
		htbs_curve_charge(curve, bytes);
}
