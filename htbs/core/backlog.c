// SPDX-License-Identifier: GPL-2.0
/*
 * The backlogged flows.
 *
 * A flow with requests pending is in the tree by finish tag and, once any flow
 * has a weight, in the tree by share tag; or it is throttled, and in the tree
 * of throttled flows.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/cap.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/share.h>
#include <htbs/core/tree.h>

/**
 * htbs_policy_link() - a flow becomes backlogged, or throttled
 * @policy: the policy
 * @flow: the flow, with the tags of its oldest request
 */
void htbs_policy_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (flow->cap.throttled) {
		htbs_cap_link(policy, flow);
		return;
	}
	htbs_tree_insert(&policy->tree, &flow->node);
	htbs_share_link(policy, flow);
}

/**
 * htbs_policy_unlink() - a flow is neither backlogged nor throttled any more
 * @policy: the policy
 * @flow: the flow
 *
 * Return: true if it was.
 */
bool htbs_policy_unlink(struct htbs_policy *policy, struct htbs_flow *flow)
{
	bool linked = htbs_flow_linked(flow);

	htbs_cap_unlink(policy, flow);
	if (RB_EMPTY_NODE(&flow->node.rb))
		return linked;
	htbs_tree_remove(&policy->tree, &flow->node);
	RB_CLEAR_NODE(&flow->node.rb);
	htbs_share_unlink(policy, flow);
	return linked;
}
