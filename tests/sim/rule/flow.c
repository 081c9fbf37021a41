// SPDX-License-Identifier: GPL-2.0
/*
 * What a flow is owed: its head, by its pace.
 */
#include <linux/string.h>

#include "flow.h"

/* Sequential: so many of the last 8 requests. */
#define SEQ_MIN		5
/* No choice looks further ahead. */
#define HORIZON		1000000000ULL	/* ns */

/**
 * rule_flow_of() - the flow of a head
 * @head: the head, or NULL
 *
 * Return: the flow, or NULL.
 */
struct rule_flow *rule_flow_of(struct htbs_owed_head *head)
{
	return head ? container_of(head, struct rule_flow, head) : NULL;
}

/**
 * rule_sequential() - whether a flow reads or writes in sequence
 * @flow: the flow
 *
 * Return: true if most of its last requests did.
 */
bool rule_sequential(const struct rule_flow *flow)
{
	return __builtin_popcount(flow->history) >= SEQ_MIN;
}

/**
 * rule_impossible() - whether a reservation alone takes more than the device has
 * @flow: the flow
 *
 * Return: true if it does: its pace cannot be kept.
 */
bool rule_impossible(const struct rule_flow *flow)
{
	return flow->need >= 256;
}

/**
 * rule_gives_up() - whether a flow has no deadlines, as they could not be kept
 * @policy: the policy
 * @flow: the flow
 *
 * Return: true if its reservation is impossible and turns came too late.
 */
bool rule_gives_up(const struct rule_policy *policy,
		   const struct rule_flow *flow)
{
	return policy->alone && rule_impossible(flow);
}

/**
 * rule_owed() - whether the head of a flow is entitled
 * @flow: the flow; it has requests pending
 * @now: real time, ns
 *
 * Return: true if it is.
 */
bool rule_owed(const struct rule_flow *flow, u64 now)
{
	return !htbs_before(now, flow->head.start);
}

/**
 * rule_behind() - whether a flow is at or behind its pace
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it is, and the pace can be kept.
 */
bool rule_behind(const struct rule_flow *flow, u64 now)
{
	return !rule_impossible(flow) && !htbs_before(now, htbs_pace_tag(&flow->pace));
}

static u64 head_deadline(const struct rule_flow *flow)
{
	/* A pace that cannot be kept would make all that others are owed late. */
	if (rule_impossible(flow))
		return flow->head.start + flow->pace.params.latency;
	return htbs_pace_deadline(&flow->pace, flow->arrived, flow->cost);
}

/* What the device takes for the head, and for those that are due with it. */
static void set_head_load(const struct rule_policy *policy,
			  struct rule_flow *flow)
{
	struct htbs_owed_head *head = &flow->head;
	u32 together = htbs_pace_due_together(&flow->pace, head->deadline,
					      flow->cost, flow->pending);

	head->last = policy->rotational && rule_sequential(flow);
	memset(&head->load, 0, sizeof(head->load));
	htbs_load_add(&head->load, &flow->service,
		      head->last ? 2 : 2 * together,
		      (u64)together * flow->cost);
}

/**
 * rule_update_head() - the head, the pace, or what is pending behind it have changed
 * @policy: the policy
 * @flow: the flow
 */
void rule_update_head(struct rule_policy *policy, struct rule_flow *flow)
{
	struct htbs_owed_head *head = &flow->head;

	if (htbs_owed_contains(head))
		htbs_owed_remove(&policy->owed, head);
	if (!flow->pending)
		return;
	head->start = htbs_pace_start(&flow->pace, flow->arrived, flow->cost);
	head->deadline = head_deadline(flow);
	set_head_load(policy, flow);
	if (!flow->background && !rule_gives_up(policy, flow))
		htbs_owed_insert(&policy->owed, head);
}

/**
 * rule_update_heads() - the flows that give up their deadlines have changed
 * @policy: the policy
 */
void rule_update_heads(struct rule_policy *policy)
{
	struct rule_flow *flow;

	list_for_each_entry(flow, &policy->backlogged, backlogged)
		rule_update_head(policy, flow);
}

/**
 * rule_become_backlogged() - a flow has a request pending
 * @policy: the policy
 * @flow: the flow; it had none
 */
void rule_become_backlogged(struct rule_policy *policy,
			    struct rule_flow *flow)
{
	list_add_tail(&flow->backlogged, &policy->backlogged);
	if (flow->background)
		return;
	htbs_fair_insert(&policy->shares, &flow->share);
	if (policy->overload.now)
		htbs_fair_insert(&policy->proportions, &flow->proportion);
}

/**
 * rule_end_backlog() - a flow has no more requests pending
 * @policy: the policy
 * @flow: the flow
 */
void rule_end_backlog(struct rule_policy *policy, struct rule_flow *flow)
{
	list_del_init(&flow->backlogged);
	rule_update_head(policy, flow);
	if (flow->background)
		return;
	htbs_fair_remove(&policy->shares, &flow->share);
	if (policy->overload.now)
		htbs_fair_remove(&policy->proportions, &flow->proportion);
}

/**
 * rule_load_with() - what the device has, and the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @halves: the positioning for it, in halves
 *
 * Return: the load.
 */
struct htbs_load rule_load_with(const struct rule_policy *policy,
				const struct rule_flow *flow, u32 halves)
{
	struct htbs_load load = policy->load;

	htbs_load_add(&load, &flow->service, halves, flow->cost);
	return load;
}

/**
 * rule_latest() - latest(Q): when the device has to begin with what is owed
 * @policy: the policy
 * @except: a flow that is left out, or NULL
 * @load: what the device serves before
 * @now: real time, ns
 * @at_worst: with the margin; else in the mean
 *
 * Return: real time, ns; at most a second from now.
 */
u64 rule_latest(const struct rule_policy *policy,
		const struct rule_flow *except, struct htbs_load load, u64 now,
		bool at_worst)
{
	u64 most = now + HORIZON, end = most;

	htbs_owed_latest(&policy->owed, except ? &except->head : NULL, &load,
			 at_worst, &end);
	return htbs_before(end, most) ? end : most;
}

/* What the device takes for a request of the flow if it has no other. */
static u64 own_service(const struct rule_policy *policy,
		       const struct rule_flow *flow)
{
	return policy->rotational ? flow->service.position :
				    htbs_fastest_time(&flow->fastest);
}

/**
 * rule_become_busy() - a request arrives, and the flow had none
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 */
void rule_become_busy(struct rule_policy *policy, struct rule_flow *flow,
		      u64 now)
{
	u64 idle = now - flow->idle_since;
	u64 pause = idle < 2 * policy->t_wait ? idle : 2 * policy->t_wait;

	if (flow->known)
		flow->think = (7 * flow->think + pause) / 8;
	htbs_pace_busy(&flow->pace, now, idle, own_service(policy, flow));
	htbs_fair_busy(&policy->shares, &flow->share);
	htbs_fair_busy(&policy->proportions, &flow->proportion);
}
