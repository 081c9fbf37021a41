// SPDX-License-Identifier: GPL-2.0
/*
 * Tags: by which time they are given, and what is charged without one.
 *
 * Tags are given by the device's virtual clock. When the start tag of every
 * backlogged flow's head is in the future, no conforming request is waiting,
 * and the clock jumps to the nearest start tag. So surplus is not charged to
 * the future. The paper tests for it at each arrival. But a flow with one
 * request at a time is never backlogged when its request arrives, and would run
 * up a debt for capacity that no other flow wanted; so it is tested before each
 * choice as well. Where surplus is shared by weight it is refunded, and the
 * clock need not jump.
 *
 * In an overload all requests would conform, and a flow that asks for more
 * would get more. With policy=slack the time by which tags are given is then
 * held back to the oldest pending start tag (start-time fair queueing): shares
 * are in proportion to bandwidths, though no flow counts for more than the
 * whole device (device_share.c). The active flow counts even with nothing
 * pending: it would otherwise lose its part each time that all its requests are
 * in flight. Whether a request conforms and when it is due is judged by the
 * virtual clock as ever.
 */
#include <linux/string.h>

#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/device_share.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/share.h>
#include <htbs/core/tagging.h>
#include <htbs/core/throttle.h>
#include <htbs/core/tree.h>

/* Read the time by which tags are given; in an overload it is held back. */
static u64 htbs_policy_update_time(struct htbs_policy *policy, u64 now)
{
	u64 v = htbs_clock_read(&policy->clock, now);

	if (!htbs_policy_overloaded(policy))
		policy->v = v;
	return policy->v;
}

/**
 * htbs_flow_init() - initialise a flow
 * @flow: the flow
 * @policy: the policy of its device
 * @params: the reservation; valid
 * @now: real time, ns
 */
void htbs_flow_init(struct htbs_flow *flow, struct htbs_policy *policy,
		    const struct htbs_params *params, u64 now)
{
	memset(flow, 0, sizeof(*flow));
	RB_CLEAR_NODE(&flow->node.rb);
	RB_CLEAR_NODE(&flow->cap.rb);
	htbs_share_init(&flow->share);
	flow->idle_since = now;
	htbs_policy_configure(policy, flow, params, now);
}

/*
 * Whether the active flow's next request, not pending yet, will have an older
 * tag.
 */
static bool htbs_policy_expects(const struct htbs_policy *policy, u64 oldest)
{
	const struct htbs_flow *flow = policy->active;

	return flow && !flow->pending &&
	       htbs_flow_would_conform(policy, flow, oldest, flow->cost);
}

/**
 * htbs_policy_advance_clock() - let the virtual clock jump if nothing conforms
 * @policy: the policy
 * @now: real time, ns
 *
 * The paper's check_and_adjust_tags(). In an overload the time that is held
 * back moves on to the oldest pending start tag. Where surplus is shared by
 * weight it is refunded, and no jump is needed.
 *
 * Return: how far the virtual clock jumped, ns.
 */
u64 htbs_policy_advance_clock(struct htbs_policy *policy, u64 now)
{
	u64 jump = 0, oldest;

	if (!htbs_tree_empty(&policy->tree) && !htbs_policy_weighted(policy)) {
		oldest = htbs_tree_min_start(&policy->tree);
		jump = htbs_clock_advance(&policy->clock, now, oldest);
		if (htbs_policy_overloaded(policy) &&
		    htbs_before(policy->v, oldest) &&
		    !htbs_policy_expects(policy, oldest))
			policy->v = oldest;
	}
	htbs_policy_update_time(policy, now);
	return jump;
}

/**
 * htbs_policy_due() - when a request is due
 * @policy: the policy
 * @flow: its flow
 * @now: when it arrives, real ns
 * @start: its start tag, virtual ns
 *
 * Return: the latency after its arrival, or after the time at which its curve
 * entitles it, if that is later; real ns.
 */
u64 htbs_policy_due(struct htbs_policy *policy,
		    const struct htbs_flow *flow, u64 now, u64 start)
{
	u64 v = htbs_clock_read(&policy->clock, now);

	if (htbs_before(v, start))
		now += start - v;
	return now + flow->curve.params.latency;
}

/**
 * htbs_policy_charge() - charge what a merge added to a request
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @bytes: bytes added
 */
void htbs_policy_charge(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 now, u32 bytes)
{
	htbs_flow_charge_merge(policy, flow,
			       htbs_policy_update_time(policy, now), bytes);
}

/**
 * htbs_policy_charge_bypass() - charge a request that bypasses the policy
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @cost: bytes charged
 *
 * If surplus is shared by weight and the request would not conform, it is
 * charged to the flow's share.
 */
void htbs_policy_charge_bypass(struct htbs_policy *policy,
			       struct htbs_flow *flow, u64 now, u32 cost)
{
	u64 v = htbs_policy_update_time(policy, now);

	if (!flow->pending)
		htbs_device_share_wake(flow, v);
	if (htbs_policy_weighted(policy) && flow != policy->background &&
	    !htbs_flow_would_conform(policy, flow, v, cost))
		htbs_share_charge(policy, flow, cost);
	else
		htbs_flow_charge_untagged(policy, flow, v, cost);
	if (flow->cap.curve.params.bw)
		htbs_cap_charge_bypass(policy, flow, now, cost);
}

/**
 * htbs_policy_configure() - set what a flow's reservation promises
 * @policy: the policy
 * @flow: the flow
 * @params: the reservation; valid
 * @now: real time, ns
 *
 * The curves start with a full burst. htbs_policy_retag() must follow for each
 * pending request, oldest first, and then htbs_policy_set_head().
 */
void htbs_policy_configure(struct htbs_policy *policy, struct htbs_flow *flow,
			   const struct htbs_params *params, u64 now)
{
	htbs_flow_init_curves(flow, params, &policy->clock,
			      htbs_policy_update_time(policy, now));
	flow->pace = now;
	htbs_policy_set_weight(policy, flow, params->weight);
	htbs_policy_set_cap(policy, flow, params->max, now);
}

/**
 * htbs_policy_retag() - give a pending request tags by new curves
 * @policy: the policy
 * @flow: its flow, just configured
 * @now: real time, ns
 * @cost: bytes charged
 * @kept: its start tags, as stored
 * @due: when it is due, real ns
 *
 * A change makes no request later, so a tag only moves back. The order stands,
 * as the minimum of two rising sequences rises.
 */
void htbs_policy_retag(struct htbs_policy *policy, struct htbs_flow *flow,
		       u64 now, u32 cost, struct htbs_start_tags *kept,
		       u64 *due)
{
	u64 v = htbs_policy_update_time(policy, now), was, fresh_due;
	struct htbs_start_tags fresh;

	was = htbs_flow_start_tag(flow, kept);
	fresh_due = htbs_policy_due(policy, flow, now,
				    htbs_flow_arrive(policy, flow, v, cost,
						     &fresh));
	if (htbs_before(was, fresh.bytes))
		fresh.bytes = was;
	if (htbs_before(was, fresh.ops))
		fresh.ops = was;
	htbs_flow_store_tags(flow, &fresh, kept);
	if (htbs_before(fresh_due, *due))
		*due = fresh_due;
}
