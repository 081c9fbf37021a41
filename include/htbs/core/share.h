/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares of surplus: what the device does beyond the reservations, by weight.
 */
#ifndef HTBS_CORE_SHARE_H
#define HTBS_CORE_SHARE_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/curve.h>
#include <htbs/core/curves.h>

struct htbs_flow;
struct htbs_policy;

/* The weight of a flow that has none, while another flow has one. */
#define HTBS_WEIGHT_DEFAULT	100U

/* The rate of a weight of 1, by the clock of the shares. */
#define HTBS_WEIGHT_RATE	65536ULL		/* bytes/s */

/**
 * struct htbs_share - a flow's share of surplus
 * @rb: place among the backlogged flows, by share tag: @curve's tat
 * @curve: advances by the surplus dispatched, over the weight
 * @weight: as given; 0: not given
 * @refunded: by how much all refunds so far have moved start tags back, by each
 *	curve, virtual ns
 * @refund_time: virtual time of the last refund, ns
 * @head_refunded: the oldest request was pending at the last refund
 */
struct htbs_share {
	struct rb_node rb;
	struct htbs_curve curve;
	u32 weight;
	struct htbs_start_tags refunded;
	u64 refund_time;
	bool head_refunded;
};

/**
 * struct htbs_shares - how surplus is shared
 * @root: the backlogged flows by share tag, equal ones in order of insertion;
 *	empty if no flow has a weight
 * @clock: the smallest share tag of the backlogged flows when surplus was last
 *	dispatched; kept in its drift, as real time does not matter
 * @given: number of flows with a weight
 * @turn: the active flow has its turn by its share
 */
struct htbs_shares {
	struct rb_root_cached root;
	struct htbs_clock clock;
	u32 given;
	bool turn;
};

void htbs_share_init(struct htbs_share *share);
void htbs_share_link(struct htbs_policy *policy, struct htbs_flow *flow);
void htbs_share_unlink(struct htbs_policy *policy, struct htbs_flow *flow);
void htbs_policy_set_weight(struct htbs_policy *policy, struct htbs_flow *flow,
			    u32 weight);
void htbs_flow_store_tags(const struct htbs_flow *flow,
			  const struct htbs_start_tags *tags,
			  struct htbs_start_tags *kept);
u64 htbs_flow_start_tag(const struct htbs_flow *flow,
			const struct htbs_start_tags *kept);
bool htbs_policy_is_surplus(const struct htbs_policy *policy,
			    const struct htbs_flow *flow);
struct htbs_flow *htbs_policy_next_flow(const struct htbs_policy *policy);
bool htbs_policy_renews_run(const struct htbs_policy *policy,
			    const struct htbs_flow *flow);
bool htbs_policy_run_in_share(struct htbs_policy *policy,
			      const struct htbs_flow *flow);
void htbs_share_charge(struct htbs_policy *policy, struct htbs_flow *flow,
		       u32 cost);
void htbs_policy_charge_surplus(struct htbs_policy *policy,
				struct htbs_flow *flow, u32 cost);

#endif /* HTBS_CORE_SHARE_H */
