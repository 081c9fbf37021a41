// SPDX-License-Identifier: GPL-2.0
/*
 * Shares of surplus, by weight.
 *
 * Surplus is what flows ask for beyond their reservations. Without weights it
 * is shared in proportion to the reserved bandwidths: the virtual clock jumps
 * to the oldest start tag. Once a flow has a weight, surplus is shared by
 * weight, and a flow without one counts HTBS_WEIGHT_DEFAULT. Then
 *
 *  - a flow is entitled when its head's start tag has come. The entitled flow
 *    with the smallest finish tag goes first;
 *  - when no flow is entitled, the flow with the smallest share tag goes first,
 *    and what is dispatched advances the tag by its bytes over the weight
 *    (start-time fair queueing). An idle flow saves nothing: its tag is raised
 *    to the smallest tag of the flows that were not idle;
 *  - surplus is not charged to the reservation: the flow's curves are refunded,
 *    and its later start tags move back by the same, though not before now. So
 *    no flow owes for surplus, and the virtual clock has no reason to jump.
 *
 * A turn by share is a run like any other, and begins again as long as the
 * share tag is the smallest. An entitled flow's turn is a run only as far as
 * the start tags have come, or the share allows it.
 *
 * In an overload there is no surplus, and weights change nothing.
 */
#include <linux/string.h>

#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/share.h>
#include <htbs/core/tree.h>

static bool htbs_share_less(struct rb_node *a, const struct rb_node *b)
{
	return htbs_before(rb_entry(a, struct htbs_share, rb)->curve.tat,
			   rb_entry(b, struct htbs_share, rb)->curve.tat);
}

static struct htbs_share *htbs_shares_first(const struct htbs_shares *shares)
{
	return rb_entry_safe(rb_first_cached(&shares->root), struct htbs_share,
			     rb);
}

/**
 * htbs_share_init() - initialise a share, without a weight
 * @share: the share
 */
void htbs_share_init(struct htbs_share *share)
{
	memset(share, 0, sizeof(*share));
	RB_CLEAR_NODE(&share->rb);
	share->curve.params.bw = HTBS_WEIGHT_DEFAULT * HTBS_WEIGHT_RATE;
}

/**
 * htbs_share_link() - a flow becomes backlogged
 * @policy: the policy
 * @flow: the flow
 */
void htbs_share_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	struct htbs_shares *shares = &policy->shares;
	struct htbs_share *share = &flow->share;

	if (!shares->given)
		return;
	htbs_curve_arrive(&share->curve, &shares->clock, shares->clock.drift,
			  0);
	rb_add_cached(&share->rb, &shares->root, htbs_share_less);
}

/**
 * htbs_share_unlink() - a flow is no longer backlogged
 * @policy: the policy
 * @flow: the flow
 */
void htbs_share_unlink(struct htbs_policy *policy, struct htbs_flow *flow)
{
	struct htbs_share *share = &flow->share;

	if (RB_EMPTY_NODE(&share->rb))
		return;
	rb_erase_cached(&share->rb, &policy->shares.root);
	RB_CLEAR_NODE(&share->rb);
}

/**
 * htbs_policy_set_weight() - set the weight of a flow
 * @policy: the policy
 * @flow: the flow
 * @weight: the weight; 0: none
 *
 * With the first weight, a backlogged flow has a share from its next request
 * on: to link all flows at once would take long with interrupts off.
 */
void htbs_policy_set_weight(struct htbs_policy *policy, struct htbs_flow *flow,
			    u32 weight)
{
	struct htbs_shares *shares = &policy->shares;
	struct htbs_share *share = &flow->share;

	if (weight == share->weight)
		return;
	shares->given += !!weight - !!share->weight;
	share->weight = weight;
	share->curve.rem = 0;
	share->curve.params.bw = HTBS_WEIGHT_RATE *
				 (weight ? weight : HTBS_WEIGHT_DEFAULT);
}

/**
 * htbs_flow_store_tags() - convert start tags to their stored form
 * @flow: the flow
 * @tags: the tags as they are now
 * @kept: the tags to store; htbs_flow_start_tag() subtracts all refunds since
 */
void htbs_flow_store_tags(const struct htbs_flow *flow,
			  const struct htbs_start_tags *tags,
			  struct htbs_start_tags *kept)
{
	kept->bytes = tags->bytes + flow->share.refunded.bytes;
	kept->ops = tags->ops + flow->share.refunded.ops;
}

/**
 * htbs_flow_start_tag() - a request's start tag as it is now
 * @flow: its flow
 * @kept: its tags, as stored
 *
 * Return: S, virtual ns.
 */
u64 htbs_flow_start_tag(const struct htbs_flow *flow,
			const struct htbs_start_tags *kept)
{
	const struct htbs_share *share = &flow->share;
	u64 start = kept->bytes - share->refunded.bytes;
	u64 ops = kept->ops - share->refunded.ops;

	if (htbs_before(start, ops))
		start = ops;
	if (share->head_refunded && htbs_before(start, share->refund_time))
		return share->refund_time;
	return start;
}

/**
 * htbs_policy_is_surplus() - whether a flow's head is surplus to be shared
 * @policy: the policy; its time is up to date
 * @flow: a flow with requests pending
 *
 * The head of a flow that waits for its share of the device's time
 * (device_share.c) is not surplus.
 *
 * Return: true if surplus is shared by weight, and the flow is not entitled.
 */
bool htbs_policy_is_surplus(const struct htbs_policy *policy,
			    const struct htbs_flow *flow)
{
	return htbs_policy_is_early(policy, flow) &&
	       flow != policy->background &&
	       !(flow->device_tagged && flow->device_tag == flow->node.start);
}

/**
 * htbs_policy_next_flow() - the next flow in turn, the background aside
 * @policy: the policy; its time is up to date
 *
 * Return: the flow, or NULL if no flow is backlogged.
 */
struct htbs_flow *htbs_policy_next_flow(const struct htbs_policy *policy)
{
	struct htbs_node *node = htbs_tree_first(&policy->tree), *entitled;
	struct htbs_share *share;

	if (node && htbs_policy_weighted(policy)) {
		entitled = htbs_tree_entitled(&policy->tree, policy->v);
		share = htbs_shares_first(&policy->shares);
		if (!entitled && share)
			return rb_entry(share, struct htbs_flow, share);
		if (entitled)
			node = entitled;
	}
	return node ? rb_entry(node, struct htbs_flow, node) : NULL;
}

/* Whether surplus would go to the active flow next, were its request there. */
static bool htbs_share_is_first(const struct htbs_policy *policy,
				const struct htbs_flow *flow)
{
	const struct htbs_share *first = htbs_shares_first(&policy->shares);

	return !first || !htbs_before(first->curve.tat, flow->share.curve.tat);
}

/**
 * htbs_policy_renews_run() - whether a run that is over begins again
 * @policy: the policy
 * @flow: the active flow
 *
 * A synchronous reader would lose a part of its share otherwise, each time that
 * a run ends while it thinks.
 *
 * Return: true if it does.
 */
bool htbs_policy_renews_run(const struct htbs_policy *policy,
			    const struct htbs_flow *flow)
{
	return htbs_policy_weighted(policy) && policy->shares.turn &&
	       htbs_share_is_first(policy, flow);
}

/**
 * htbs_policy_run_in_share() - whether weights allow a run or a wait to go on
 * @policy: the policy; its time is up to date
 * @flow: the active flow
 *
 * Return: true if the flow is entitled, or its share allows it.
 */
bool htbs_policy_run_in_share(struct htbs_policy *policy,
			      const struct htbs_flow *flow)
{
	if (!htbs_policy_weighted(policy) || policy->shares.turn)
		return true;
	if (flow->pending ? !htbs_policy_is_early(policy, flow) :
			    htbs_flow_would_conform(policy, flow, policy->v,
						    flow->cost))
		return true;
	policy->shares.turn = htbs_share_is_first(policy, flow);
	return policy->shares.turn;
}

/**
 * htbs_share_charge() - charge surplus to a flow's share
 * @policy: the policy
 * @flow: the flow
 * @cost: bytes
 */
void htbs_share_charge(struct htbs_policy *policy, struct htbs_flow *flow,
		       u32 cost)
{
	struct htbs_shares *shares = &policy->shares;
	struct htbs_share *share = &flow->share;
	const struct htbs_share *first = htbs_shares_first(shares);
	bool backlogged = !RB_EMPTY_NODE(&share->rb);
	u64 smallest = share->curve.tat;

	if (first && htbs_before(first->curve.tat, smallest))
		smallest = first->curve.tat;
	htbs_clock_advance(&shares->clock, 0, smallest);
	htbs_share_unlink(policy, flow);
	htbs_curve_arrive(&share->curve, &shares->clock, shares->clock.drift,
			  cost);
	if (backlogged)
		htbs_share_link(policy, flow);
}

/**
 * htbs_policy_charge_surplus() - charge a dispatched request if it is surplus
 * @policy: the policy; its time is up to date
 * @flow: its flow, not linked
 * @cost: bytes that its curves were charged
 *
 * The request had the oldest start tag, so the tags of all pending ones move
 * back.
 */
void htbs_policy_charge_surplus(struct htbs_policy *policy,
				struct htbs_flow *flow, u32 cost)
{
	struct htbs_share *share = &flow->share;

	if (!htbs_policy_is_surplus(policy, flow))
		return;
	htbs_share_charge(policy, flow, cost);
	htbs_flow_refund(flow, cost);
	share->refund_time = policy->v;
	share->head_refunded = true;
}
