// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of backlogged reservations.  A pure room: an augmented rbtree.
 *
 * Ordered by finish tag, augmented with the smallest start tag of each
 * subtree: next to serve and the test for drift are O(1), insertion and
 * removal O(log n).
 */
#include <linux/rbtree_augmented.h>

#include <htbs/curve.h>
#include <htbs/tree.h>

static void htbs_node_lower(u64 *min, const struct rb_node *rb)
{
	const struct htbs_node *node;

	if (!rb)
		return;
	node = rb_entry(rb, struct htbs_node, rb);
	if (htbs_before(node->min_start, *min))
		*min = node->min_start;
}

/* Bring min_start up to date; true if it was, so that the walk can end. */
static bool htbs_node_update(struct htbs_node *node, bool exit)
{
	u64 min = node->start;

	htbs_node_lower(&min, node->rb.rb_left);
	htbs_node_lower(&min, node->rb.rb_right);
	if (exit && node->min_start == min)
		return true;
	node->min_start = min;
	return false;
}

RB_DECLARE_CALLBACKS(static, htbs_tree_callbacks, struct htbs_node, rb,
		     min_start, htbs_node_update);

/**
 * htbs_tree_init() - make an empty tree
 * @tree: the tree
 */
void htbs_tree_init(struct htbs_tree *tree)
{
	tree->root = RB_ROOT_CACHED;
}

/**
 * htbs_tree_insert() - a reservation becomes backlogged
 * @tree: the backlogged reservations
 * @node: the reservation, not in a tree, with its tags set
 */
void htbs_tree_insert(struct htbs_tree *tree, struct htbs_node *node)
{
	struct rb_node **link = &tree->root.rb_root.rb_node;
	struct rb_node *parent = NULL;
	bool leftmost = true;

	while (*link) {
		struct htbs_node *above;

		parent = *link;
		above = rb_entry(parent, struct htbs_node, rb);
		if (htbs_before(node->start, above->min_start))
			above->min_start = node->start;

		if (htbs_before(node->finish, above->finish)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}

	node->min_start = node->start;
	rb_link_node(&node->rb, parent, link);
	rb_insert_augmented_cached(&node->rb, &tree->root, leftmost,
				   &htbs_tree_callbacks);
}

/**
 * htbs_tree_remove() - a reservation is backlogged no more
 * @tree: the backlogged reservations
 * @node: the reservation
 */
void htbs_tree_remove(struct htbs_tree *tree, struct htbs_node *node)
{
	rb_erase_augmented_cached(&node->rb, &tree->root,
				  &htbs_tree_callbacks);
}

/**
 * htbs_tree_entitled() - who owns the smallest finish tag of those entitled
 * @tree: the backlogged reservations
 * @v: virtual time
 *
 * Return: the first node with a start tag that is not after @v, or NULL if there
 * is none.  O(log n).
 */
struct htbs_node *htbs_tree_entitled(const struct htbs_tree *tree, u64 v)
{
	struct rb_node *rb = tree->root.rb_root.rb_node;
	struct htbs_node *node, *left;

	if (!rb || htbs_before(v, rb_entry(rb, struct htbs_node, rb)->min_start))
		return NULL;
	/* One is at or below rb, and none stands before those. */
	for (;;) {
		node = rb_entry(rb, struct htbs_node, rb);
		left = rb_entry_safe(rb->rb_left, struct htbs_node, rb);
		if (left && !htbs_before(v, left->min_start)) {
			rb = rb->rb_left;
			continue;
		}
		if (!htbs_before(v, node->start))
			return node;
		rb = rb->rb_right;
	}
}
