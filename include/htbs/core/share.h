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

#endif /* HTBS_CORE_SHARE_H */
