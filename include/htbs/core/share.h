/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares of the rest: what the device does beyond what is reserved, by weight.
 */
#ifndef HTBS_CORE_SHARE_H
#define HTBS_CORE_SHARE_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/curve.h>
#include <htbs/core/curves.h>

struct htbs_flow;
struct htbs_policy;

/* What a flow without a weight counts, while others have one. */
#define HTBS_WEIGHT_DEFAULT	100U

/* A weight of 1 is this rate, in a share's own time. */
#define HTBS_WEIGHT_RATE	65536ULL		/* bytes/s */

/**
 * struct htbs_share - a reservation's share of the rest
 * @rb: its place among the backlogged, by @curve's tat: its share tag
 * @curve: advances by what was served of it, over its weight
 * @weight: as given; 0: not given
 * @refunded: how far requests of it that were served from the rest have moved its
 *	later start tags back, together, virtual ns, by each curve
 * @refund_time: when one last did, virtual ns
 * @head_refunded: its oldest request was pending then
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
 * struct htbs_shares - how the rest is shared
 * @root: the backlogged by their share tags; among equals, the one that came first
 *	stands first.  Empty if no weight is given
 * @clock: the smallest share tag of the backlogged when one was last served from
 *	the rest; its drift, as real time doesn't matter
 * @given: how many were given a weight
 * @turn: the active reservation has its turn by its share
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
