// SPDX-License-Identifier: GPL-2.0
/*
 * More is reserved than the device can do.
 */
#include "flow.h"
#include "overload.h"

/* Flows are served by what they had of their reservations, or no longer are. */
static void set_overload(struct rule_policy *policy, bool overload)
{
	struct rule_flow *flow;

	policy->proportions.root = RB_ROOT_CACHED;
	list_for_each_entry(flow, &policy->backlogged, backlogged) {
		RB_CLEAR_NODE(&flow->proportion.rb);
		if (overload && !flow->background)
			htbs_fair_insert(&policy->proportions,
					 &flow->proportion);
	}
}

/**
 * rule_end_overload() - no flow gives up its deadlines once all can be in time
 * @policy: the policy
 * @now: real time, ns
 */
void rule_end_overload(struct rule_policy *policy, u64 now)
{
	if (!policy->alone && !policy->overload.now)
		return;
	if (policy->overload.now &&
	    htbs_before(now, rule_latest(policy, NULL, policy->load, now, true)) &&
	    htbs_overload_end(&policy->overload))
		set_overload(policy, false);
	if (!policy->alone || policy->overload.now)
		return;
	/* Would what has given up be in time as well? */
	policy->alone = false;
	rule_update_heads(policy);
	if (htbs_before(now, rule_latest(policy, NULL, policy->load, now, true)))
		return;
	policy->alone = true;
	rule_update_heads(policy);
}

/**
 * rule_account_turn() - the device was granted to a flow
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * If that is too late too often, more is reserved than the device can do.  Reservations
 * that no device could keep give up first.
 */
void rule_account_turn(struct rule_policy *policy,
		       const struct rule_flow *flow, u64 now)
{
	u64 position = flow->service.position;
	u64 latency = flow->pace.params.latency;
	struct rule_flow *other;
	bool found = false;

	if (rule_gives_up(policy, flow))
		return;
	if (policy->rotational && latency > 2 * position)
		now += position;
	if (!htbs_overload_account(&policy->overload,
				   htbs_before(flow->head.start + latency, now)))
		return;
	if (!policy->alone) {
		list_for_each_entry(other, &policy->backlogged, backlogged)
			found |= rule_impossible(other);
		policy->alone = found;
		rule_update_heads(policy);
	}
	if (policy->alone && !policy->gave_up)
		htbs_overload_end(&policy->overload);
	policy->gave_up = policy->alone;
	if (policy->overload.now)
		set_overload(policy, true);
}
