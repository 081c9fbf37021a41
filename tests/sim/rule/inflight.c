// SPDX-License-Identifier: GPL-2.0
/*
 * What a device that orders by itself may have.
 */
#include "flow.h"
#include "inflight.h"

/* A flow that had a conforming request may have another one for so long. */
#define HOLD		1000000000ULL	/* ns */

/*
 * A device that seeks may pass a conforming request for as long as it gets others.
 * What is owed is near, on the average: half as long.
 */
static bool risks_deadline(const struct rule_policy *policy,
			   const struct rule_flow *flow, u64 now)
{
	struct htbs_load load = rule_load_with(policy, flow, 2);
	u64 time = htbs_load_longest(&load);
	u32 i;

	if (rule_owed(flow, now)) {
		if (policy->overload.now)
			return false;
		time /= 2;
	}
	for (i = 0; i < policy->due_count; i++)
		if (htbs_before(policy->due[i], now + time))
			return true;
	return false;
}

static bool less_latency(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct rule_flow, expected)->pace.params.latency <
	       rb_entry(b, struct rule_flow, expected)->pace.params.latency;
}

/**
 * rule_expect_more() - a conforming request has arrived: others may
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 */
void rule_expect_more(struct rule_policy *policy, struct rule_flow *flow,
		      u64 now)
{
	policy->quota_until = now + HOLD;
	if (rule_impossible(flow))
		return;
	flow->expected_until = now + HOLD;
	if (RB_EMPTY_NODE(&flow->expected))
		rb_add_cached(&flow->expected, &policy->expected, less_latency);
}

/* The flow with the shortest latency of those of which one is expected. */
static struct rule_flow *first_expected(struct rule_policy *policy,
					const struct rule_flow *except, u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected), *next;
	struct rule_flow *flow;

	for (; rb; rb = next) {
		next = rb_next(rb);
		flow = rb_entry(rb, struct rule_flow, expected);
		if (!htbs_before(now, flow->expected_until)) {
			rb_erase_cached(rb, &policy->expected);
			RB_CLEAR_NODE(rb);
		} else if (flow != except) {
			return flow;
		}
	}
	return NULL;
}

/*
 * A conforming request may arrive at any time, of a flow that had one of late.  Is it
 * in time, behind all that the device has and this one?
 */
static bool leaves_room(struct rule_policy *policy,
			const struct rule_flow *flow, u64 now)
{
	struct htbs_load load = rule_load_with(policy, flow, 2);
	const struct rule_flow *other;

	/* Its own deadline is as near. */
	if (!policy->in_flight ||
	    (rule_owed(flow, now) &&
	     !htbs_before(now, flow->head.deadline - htbs_load_longest(&load))))
		return true;
	other = first_expected(policy, flow, now);
	if (!other)
		return true;
	htbs_load_add(&load, &other->service, 2, other->cost);
	return other->pace.params.latency >= htbs_load_longest(&load);
}

static bool in_quota(struct rule_policy *policy, const struct rule_flow *flow,
		     u64 now)
{
	return !htbs_before(now, policy->quota_until) ||
	       htbs_quota_allows(&policy->quota[flow->write], now);
}

/**
 * rule_can_dispatch() - whether the device may have the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it may.
 */
bool rule_can_dispatch(struct rule_policy *policy, struct rule_flow *flow,
		       u64 now)
{
	if (policy->rotational)
		return !risks_deadline(policy, flow, now) &&
		       leaves_room(policy, flow, now);
	return rule_owed(flow, now) || in_quota(policy, flow, now);
}

/**
 * rule_forget_due() - a conforming request has completed
 * @policy: the policy
 * @due: until when it had to, ns
 */
void rule_forget_due(struct rule_policy *policy, u64 due)
{
	u32 i;

	for (i = 0; i < policy->due_count; i++)
		if (policy->due[i] == due) {
			policy->due[i] = policy->due[--policy->due_count];
			break;
		}
	if (!policy->in_flight)
		policy->due_count = 0;
}

/*
 * Does surplus keep a flow behind its pace by more than a latency?  Not if it asks for
 * too few requests at a time to reach its bandwidth on an idle device.
 */
static bool held_up(const struct rule_flow *flow, u64 now,
		    const struct rule_sent *sent)
{
	return htbs_before(sent->pace_due, now) &&
	       htbs_fastest_time(&flow->fastest) <
	       sent->depth * htbs_pace_step(&flow->pace, sent->cost);
}

/**
 * rule_judge_quotas() - a request that conformed has completed
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @sent: the request
 *
 * A flow that is behind takes time to catch up.  So its pace lowers the quotas once in
 * a latency, and until then raises none.
 */
void rule_judge_quotas(struct rule_policy *policy, struct rule_flow *flow,
		       u64 now, const struct rule_sent *sent)
{
	bool late = htbs_before(sent->due, now);

	if (!late && held_up(flow, now, sent)) {
		if (now - flow->judged < flow->pace.params.latency)
			return;
		flow->judged = now;
		late = true;
	}
	htbs_quota_judge(&policy->quota[0], late);
	htbs_quota_judge(&policy->quota[1], late);
}
