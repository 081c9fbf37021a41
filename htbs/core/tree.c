// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of backlogged flows.
 *
 * It is ordered by finish tag and augmented with the smallest start tag, the
 * earliest time of eligibility and the earliest arrival of each subtree. The
 * flow with the smallest finish tag and the test for a jump are O(1), all else
 * is O(log n).
 */
#include <linux/rbtree_augmented.h>

#include <htbs/core/curve.h>
#include <htbs/core/tree.h>

static void htbs_lower(u64 *min, u64 value)
{
	if (htbs_before(value, *min))
		*min = value;
}

static void htbs_minima_lower(struct htbs_minima *min,
			      const struct htbs_minima *by)
{
	htbs_lower(&min->start, by->start);
	htbs_lower(&min->eligible, by->eligible);
	htbs_lower(&min->arrived, by->arrived);
}

static struct htbs_minima htbs_node_own(const struct htbs_node *node)
{
	return (struct htbs_minima){
		.start		= node->start,
		.eligible	= node->eligible,
		.arrived	= node->arrived,
	};
}

static void htbs_node_lower(struct htbs_minima *min, const struct rb_node *rb)
{
	if (rb)
		htbs_minima_lower(min,
				  &rb_entry(rb, struct htbs_node, rb)->min);
}

/*
 * Update the minima of a node. True if they have not changed: the walk can end.
 */
static bool htbs_node_update(struct htbs_node *node, bool exit)
{
	struct htbs_minima min = htbs_node_own(node);

	htbs_node_lower(&min, node->rb.rb_left);
	htbs_node_lower(&min, node->rb.rb_right);
	if (exit && node->min.start == min.start &&
	    node->min.eligible == min.eligible &&
	    node->min.arrived == min.arrived)
		return true;
	node->min = min;
	return false;
}

RB_DECLARE_CALLBACKS(static, htbs_tree_callbacks, struct htbs_node, rb,
		     min, htbs_node_update);

/**
 * htbs_tree_init() - make an empty tree
 * @tree: the tree
 */
void htbs_tree_init(struct htbs_tree *tree)
{
	tree->root = RB_ROOT_CACHED;
}

/**
 * htbs_tree_insert() - a flow becomes backlogged
 * @tree: the backlogged flows
 * @node: the flow, not in a tree, with its tags set
 */
void htbs_tree_insert(struct htbs_tree *tree, struct htbs_node *node)
{
	struct rb_node **link = &tree->root.rb_root.rb_node;
	struct rb_node *parent = NULL;
	bool leftmost = true;

	node->min = htbs_node_own(node);

	while (*link) {
		struct htbs_node *above;

		parent = *link;
		above = rb_entry(parent, struct htbs_node, rb);
		htbs_minima_lower(&above->min, &node->min);
		if (htbs_before(node->finish, above->finish)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}

	rb_link_node(&node->rb, parent, link);
	rb_insert_augmented_cached(&node->rb, &tree->root, leftmost,
				   &htbs_tree_callbacks);
}

/**
 * htbs_tree_remove() - a flow is no longer backlogged
 * @tree: the backlogged flows
 * @node: the flow
 */
void htbs_tree_remove(struct htbs_tree *tree, struct htbs_node *node)
{
	rb_erase_augmented_cached(&node->rb, &tree->root,
				  &htbs_tree_callbacks);
}

/**
 * htbs_tree_update() - update the minima after a change of a node's own values
 * @node: a node in the tree with another eligible or arrived
 */
void htbs_tree_update(struct htbs_node *node)
{
	htbs_tree_callbacks.propagate(&node->rb, NULL);
}

/* The minimum by which a search goes. */
typedef u64 (*htbs_minimum_t)(const struct htbs_minima *min);

static u64 htbs_minimum_start(const struct htbs_minima *min)
{
	return min->start;
}

static u64 htbs_minimum_eligible(const struct htbs_minima *min)
{
	return min->eligible;
}

/* The first node in order with a value not after @most, or NULL. */
static __always_inline struct htbs_node *
htbs_tree_search(const struct htbs_tree *tree, htbs_minimum_t value, u64 most)
{
	struct htbs_node *node, *left;
	struct rb_node *rb = tree->root.rb_root.rb_node;
	struct htbs_minima own;

	if (!rb || htbs_before(most, value(&rb_entry(rb, struct htbs_node,
						     rb)->min)))
		return NULL;
	/* The first such node is at or below rb. */
	for (;;) {
		node = rb_entry(rb, struct htbs_node, rb);
		left = rb_entry_safe(rb->rb_left, struct htbs_node, rb);
		if (left && !htbs_before(most, value(&left->min))) {
			rb = rb->rb_left;
			continue;
		}
		own = htbs_node_own(node);
		if (!htbs_before(most, value(&own)))
			return node;
		rb = rb->rb_right;
	}
}

/**
 * htbs_tree_entitled() - the first flow by finish tag that is entitled
 * @tree: the backlogged flows
 * @v: virtual time
 *
 * Return: the first node with a start tag not after @v, or NULL if there is
 * none. O(log n).
 */
struct htbs_node *htbs_tree_entitled(const struct htbs_tree *tree, u64 v)
{
	return htbs_tree_search(tree, htbs_minimum_start, v);
}

/**
 * htbs_tree_eligible() - the first flow by finish tag that is eligible
 * @tree: the backlogged flows
 * @now: real time, ns
 *
 * Return: the first node with an eligible head, or NULL if there is none. O(log
 * n).
 */
struct htbs_node *htbs_tree_eligible(const struct htbs_tree *tree, u64 now)
{
	return htbs_tree_search(tree, htbs_minimum_eligible, now);
}

/**
 * htbs_tree_oldest() - the flow with the head that arrived first
 * @tree: the backlogged flows
 *
 * Return: the node, the first of equal ones; NULL if the tree is empty. O(log
 * n).
 */
struct htbs_node *htbs_tree_oldest(const struct htbs_tree *tree)
{
	struct rb_node *rb = tree->root.rb_root.rb_node;
	struct htbs_node *node, *left;
	u64 arrived;

	if (!rb)
		return NULL;
	arrived = rb_entry(rb, struct htbs_node, rb)->min.arrived;
	for (;;) {
		node = rb_entry(rb, struct htbs_node, rb);
		left = rb_entry_safe(rb->rb_left, struct htbs_node, rb);
		if (left && left->min.arrived == arrived) {
			rb = rb->rb_left;
			continue;
		}
		if (node->arrived == arrived)
			return node;
		rb = rb->rb_right;
	}
}
