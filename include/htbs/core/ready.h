/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Heads in an order of their own, of which those are looked for that are entitled.
 */
#ifndef HTBS_CORE_READY_H
#define HTBS_CORE_READY_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct htbs_ready_node - the head of a flow
 * @rb: its place
 * @key: where it is in the order
 * @start: when it is entitled, ns
 * @first: when the first head of the subtree is, ns
 */
struct htbs_ready_node {
	struct rb_node rb;
	u64 key;
	u64 start;
	u64 first;
};

/**
 * struct htbs_ready - heads by key
 * @root: struct htbs_ready_node, equal keys in order of insertion
 */
struct htbs_ready {
	struct rb_root root;
};

void htbs_ready_insert(struct htbs_ready *ready, struct htbs_ready_node *node);
void htbs_ready_remove(struct htbs_ready *ready, struct htbs_ready_node *node);
void htbs_ready_update(struct htbs_ready *ready, struct htbs_ready_node *node);
struct htbs_ready_node *htbs_ready_first(const struct htbs_ready *ready, u64 now);
struct htbs_ready_node *htbs_ready_nearest(const struct htbs_ready *ready,
					   u64 key, u64 now);

/**
 * htbs_ready_node_init() - a flow has no head
 * @node: the head
 */
static inline void htbs_ready_node_init(struct htbs_ready_node *node)
{
	RB_CLEAR_NODE(&node->rb);
}

#endif /* HTBS_CORE_READY_H */
