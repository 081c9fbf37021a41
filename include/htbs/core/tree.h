/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Backlogged flows, ordered by the finish tag of their oldest request. Each
 * node also has the minima of its subtree.
 */
#ifndef HTBS_CORE_TREE_H
#define HTBS_CORE_TREE_H

#include <linux/types.h>
#include <linux/rbtree.h>

/**
 * struct htbs_tree - the backlogged flows of a device
 * @root: nodes by finish tag, equal ones in order of insertion
 */
struct htbs_tree {
	struct rb_root_cached root;
};

/**
 * struct htbs_minima - the smallest values of a node and of all nodes below it
 * @start: start tag, virtual ns
 * @eligible: when the head is eligible, real ns
 * @arrived: when the head arrived, real ns
 */
struct htbs_minima {
	u64 start;
	u64 eligible;
	u64 arrived;
};

/**
 * struct htbs_node - a backlogged flow in the tree
 * @rb: its place
 * @start: start tag of the head (MinS), or in an overload its tag by the
 *	device's time, if that is later; virtual ns
 * @finish: @start and the latency (F), virtual ns
 * @eligible: from when on the head is reserved work, real ns
 * @arrived: when the head arrived, or was unthrottled, real ns
 * @min: the smallest of these in the subtree
 * @due: when the head is due, real ns
 * @count: how many requests may be due with the head
 * @conforms: the head conforms
 * @write: the head moves data to the device, or discards
 */
struct htbs_node {
	struct rb_node rb;
	u64 start;
	u64 finish;
	u64 eligible;
	u64 arrived;
	struct htbs_minima min;
	u64 due;
	u32 count;
	bool conforms;
	bool write;
};

void htbs_tree_init(struct htbs_tree *tree);
void htbs_tree_insert(struct htbs_tree *tree, struct htbs_node *node);
void htbs_tree_remove(struct htbs_tree *tree, struct htbs_node *node);
void htbs_tree_update(struct htbs_node *node);
struct htbs_node *htbs_tree_entitled(const struct htbs_tree *tree, u64 v);
struct htbs_node *htbs_tree_eligible(const struct htbs_tree *tree, u64 now);
struct htbs_node *htbs_tree_oldest(const struct htbs_tree *tree);

/**
 * htbs_tree_empty() - whether no flow is backlogged
 * @tree: the backlogged flows
 *
 * Return: true if none is.
 */
static inline bool htbs_tree_empty(const struct htbs_tree *tree)
{
	return RB_EMPTY_ROOT(&tree->root.rb_root);
}

/**
 * htbs_tree_first() - the flow with the smallest finish tag
 * @tree: the backlogged flows
 *
 * Return: the node, or NULL if no flow is backlogged. O(1).
 */
static inline struct htbs_node *htbs_tree_first(const struct htbs_tree *tree)
{
	return rb_entry_safe(rb_first_cached(&tree->root), struct htbs_node,
			     rb);
}

/**
 * htbs_tree_next() - the flow with the next finish tag
 * @node: a backlogged flow
 *
 * Return: the node, or NULL if there is none.
 */
static inline struct htbs_node *htbs_tree_next(const struct htbs_node *node)
{
	return rb_entry_safe(rb_next(&node->rb), struct htbs_node, rb);
}

/**
 * htbs_tree_min_start() - the smallest start tag
 * @tree: the backlogged flows; not empty
 *
 * Return: min(MinS), virtual ns. O(1).
 */
static inline u64 htbs_tree_min_start(const struct htbs_tree *tree)
{
	return rb_entry(tree->root.rb_root.rb_node, struct htbs_node,
			rb)->min.start;
}

#endif /* HTBS_CORE_TREE_H */
