/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fair queueing: flows in the order of the service that they have received over their
 * weight.
 */
#ifndef HTBS_CORE_FAIR_H
#define HTBS_CORE_FAIR_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct htbs_fair_node - a flow
 * @rb: its place in the tree while it is backlogged
 * @tag: the service that it has received over its weight
 */
struct htbs_fair_node {
	struct rb_node rb;
	u64 tag;
};

/**
 * struct htbs_fair - the backlogged flows
 * @root: struct htbs_fair_node by tag, equal ones in order of insertion
 * @clock: virtual time: where a flow that was idle begins
 */
struct htbs_fair {
	struct rb_root_cached root;
	u64 clock;
};

void htbs_fair_init(struct htbs_fair *fair);
void htbs_fair_insert(struct htbs_fair *fair, struct htbs_fair_node *node);
void htbs_fair_remove(struct htbs_fair *fair, struct htbs_fair_node *node);
void htbs_fair_advance(struct htbs_fair *fair, const struct htbs_fair_node *node,
		       u64 run);
void htbs_fair_charge(struct htbs_fair *fair, struct htbs_fair_node *node,
		      u64 had);
void htbs_fair_reset(struct htbs_fair *fair, struct htbs_fair_node *node);
void htbs_fair_pass(struct htbs_fair *fair, const struct htbs_fair_node *to);
void htbs_fair_busy(const struct htbs_fair *fair, struct htbs_fair_node *node, u64 keeps);

/**
 * htbs_fair_node_init() - initialise a flow that is not backlogged and has received no service
 * @node: the flow
 */
static inline void htbs_fair_node_init(struct htbs_fair_node *node)
{
	RB_CLEAR_NODE(&node->rb);
	node->tag = 0;
}

/**
 * htbs_fair_first() - the flow that has received the least service
 * @fair: the backlogged flows
 *
 * Return: the flow, or NULL if none is backlogged. O(1).
 */
static inline struct htbs_fair_node *
htbs_fair_first(const struct htbs_fair *fair)
{
	return rb_entry_safe(rb_first_cached(&fair->root),
			     struct htbs_fair_node, rb);
}

/**
 * htbs_fair_next() - the next flow by the service that it has received
 * @node: a backlogged flow
 *
 * Return: the flow, or NULL.
 */
static inline struct htbs_fair_node *
htbs_fair_next(const struct htbs_fair_node *node)
{
	return rb_entry_safe(rb_next(&node->rb), struct htbs_fair_node, rb);
}

#endif /* HTBS_CORE_FAIR_H */
