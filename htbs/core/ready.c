// SPDX-License-Identifier: GPL-2.0
/*
 * Entitled heads in the order that suits the device.
 *
 * A device that seeks is given entitled heads by position, in one direction, then
 * again from the first sector on. On any other device the order is that of deadlines.
 * Each node of the tree knows when the first head below it is entitled, so a head that
 * is not entitled yet is not looked at.
 */
#include <linux/rbtree_augmented.h>

#include <htbs/core/params.h>
#include <htbs/core/ready.h>

static struct htbs_ready_node *htbs_ready_entry(const struct rb_node *rb)
{
	return rb_entry(rb, struct htbs_ready_node, rb);
}

static bool htbs_ready_update(struct htbs_ready_node *node, bool exit)
{
	const struct rb_node *left = node->rb.rb_left;
	const struct rb_node *right = node->rb.rb_right;
	u64 first = node->start;

	if (left && htbs_before(htbs_ready_entry(left)->first, first))
		first = htbs_ready_entry(left)->first;
	if (right && htbs_before(htbs_ready_entry(right)->first, first))
		first = htbs_ready_entry(right)->first;
	if (exit && node->first == first)
		return true;
	node->first = first;
	return false;
}

RB_DECLARE_CALLBACKS(static, htbs_ready_callbacks, struct htbs_ready_node, rb,
		     first, htbs_ready_update);

/**
 * htbs_ready_insert() - a flow has a head
 * @ready: the heads
 * @node: one that is not among them, with @key and @start set
 */
void htbs_ready_insert(struct htbs_ready *ready, struct htbs_ready_node *node)
{
	struct rb_node **link = &ready->root.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = htbs_before(node->key, htbs_ready_entry(parent)->key) ?
		       &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&node->rb, parent, link);
	node->first = node->start;
	htbs_ready_callbacks.propagate(parent, NULL);
	rb_insert_augmented(&node->rb, &ready->root, &htbs_ready_callbacks);
}

/**
 * htbs_ready_remove() - a head is dispatched, or has changed
 * @ready: the heads
 * @node: one of them, or none
 */
void htbs_ready_remove(struct htbs_ready *ready, struct htbs_ready_node *node)
{
	if (RB_EMPTY_NODE(&node->rb))
		return;
	rb_erase_augmented(&node->rb, &ready->root, &htbs_ready_callbacks);
	RB_CLEAR_NODE(&node->rb);
}

static bool htbs_ready_below(const struct rb_node *rb, u64 now)
{
	return rb && !htbs_before(now, htbs_ready_entry(rb)->first);
}

/* The first entitled head of a subtree. */
static struct htbs_ready_node *htbs_ready_first(const struct rb_node *rb, u64 now)
{
	if (!htbs_ready_below(rb, now))
		return NULL;
	while (htbs_ready_below(rb->rb_left, now) ||
	       htbs_before(now, htbs_ready_entry(rb)->start))
		rb = htbs_ready_below(rb->rb_left, now) ? rb->rb_left :
							  rb->rb_right;
	return htbs_ready_entry(rb);
}

/**
 * htbs_ready_from() - the next entitled head
 * @ready: the heads
 * @key: the first head from here on, else the first of all
 * @now: real time, ns
 *
 * The nearest subtree that begins at or after @key and has an entitled head is looked
 * for on the way down; what is passed on the right are larger keys.
 *
 * Return: the head, or NULL if none is entitled.  O(log n).
 */
struct htbs_ready_node *htbs_ready_from(const struct htbs_ready *ready, u64 key,
					u64 now)
{
	const struct rb_node *rb = ready->root.rb_node;
	struct htbs_ready_node *found = NULL, *node;
	const struct rb_node *after = NULL;

	while (rb) {
		node = htbs_ready_entry(rb);
		if (htbs_before(node->key, key)) {
			rb = rb->rb_right;
			continue;
		}
		if (!htbs_before(now, node->start)) {
			found = node;
			after = NULL;
		} else if (htbs_ready_below(rb->rb_right, now)) {
			found = NULL;
			after = rb->rb_right;
		}
		rb = rb->rb_left;
	}
	return found ?: htbs_ready_first(after, now) ?:
	       htbs_ready_first(ready->root.rb_node, now);
}
