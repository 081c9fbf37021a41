// SPDX-License-Identifier: GPL-2.0
/*
 * Tags: by which time they are given, and what is charged without one.
 *
 * The time is the device's virtual clock, which never lags behind all that is
 * pending: when the start tag of every backlogged flow's head lies in the future, no
 * conforming request is waiting, and the clock jumps to the nearest.  So surplus is
 * not charged to the future.  The paper tests for it at each arrival.  A flow with
 * one request at a time is never backlogged when its request arrives, though, and
 * would run up a debt for capacity that no other flow wanted; so it is tested before
 * each choice as well.  Where surplus goes by weights it is refunded, and the clock
 * need not jump.
 *
 * In an overload all requests would conform, and a flow that asks for more would get
 * more.  With policy=slack the time by which tags are given is then held back to the
 * oldest pending start tag (start-time fair queueing): shares are in proportion to
 * bandwidths, though no flow counts for more than the whole device (device_share.c).
 * The active flow counts although it has nothing pending: it would else lose its
 * part each time that all its requests are in flight together.  Whether a request
 * conforms and when it is due is told by the virtual clock as ever.
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

/* The virtual time by which tags are given; in an overload it is held back. */
static u64 htbs_policy_update_time(struct htbs_policy *policy, u64 now)
{
	u64 v = htbs_clock_read(&policy->clock, now);

	if (!htbs_policy_overloaded(policy))
		policy->v = v;
	return policy->v;
}

/**
 * htbs_flow_init() - a new reservation
 * @flow: what the policy is to know of it
 * @policy: the policy of its device
 * @params: what it promises; valid
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

/* Will the active reservation's next request, not pending yet, have an older tag? */
static bool htbs_policy_expects(const struct htbs_policy *policy, u64 oldest)
{
	const struct htbs_flow *flow = policy->active;

	return flow && !flow->pending &&
	       htbs_flow_would_conform(policy, flow, oldest, flow->cost);
}

/**
 * htbs_policy_advance_clock() - if nothing conforms, let time jump
 * @policy: the policy
 * @now: real time, ns
 *
 * The paper's check_and_adjust_tags().  In an overload the time that is held back
 * moves on to the oldest pending start tag.  Where surplus goes by weights it is
 * refunded, and time needs no jump.
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
 * htbs_policy_due() - when is a request due
 * @policy: the policy
 * @flow: its reservation
 * @now: when it arrives, real ns
 * @start: its start tag, virtual ns
 *
 * Return: when it would be due had it come when the curve entitles it, real ns.
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
 * htbs_policy_charge() - bytes that have no tag of their own
 * @policy: the policy
 * @flow: the reservation they are charged to
 * @now: real time, ns
 * @bytes: what a merge added to a request
 */
void htbs_policy_charge(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 now, u32 bytes)
{
	htbs_flow_charge_merge(policy, flow,
			       htbs_policy_update_time(policy, now), bytes);
}

/**
 * htbs_policy_charge_bypass() - a request goes past the policy
 * @policy: the policy
 * @flow: its reservation
 * @now: real time, ns
 * @cost: what it is charged, bytes
 *
 * If the rest goes by weights and it isn't entitled, it is served from that.
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
 * htbs_policy_configure() - a reservation promises something else
 * @policy: the policy
 * @flow: the reservation
 * @params: what it promises from now on; valid
 * @now: real time, ns
 *
 * The curves start afresh.  htbs_policy_retag() must follow for each pending
 * request, oldest first, and then htbs_policy_set_head().
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
 * htbs_policy_retag() - the tags of a pending request on new curves
 * @policy: the policy
 * @flow: its reservation, just configured
 * @now: real time, ns
 * @cost: what it is charged, bytes
 * @kept: its start tags as they are kept
 * @due: when it is due, real ns
 *
 * No request loses by a change, so a tag only moves back; two rising
 * sequences have a rising minimum, so the order stands.
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
