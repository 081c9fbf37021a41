// SPDX-License-Identifier: GPL-2.0
/*
 * Entitled heads in the order that suits the device.
 *
 * On a device that seeks the nearest head by position is next, on any other device the
 * one with the earliest deadline.
 * Each node of the tree knows when the first head below it is entitled, so a head that
 * is not entitled yet is not looked at.
 */
#include <linux/rbtree_augmented.h>

#include <htbs/core/params.h>
#include <htbs/core/ready.h>
#include <htbs/core/tree.h>

static struct htbs_ready_node *htbs_ready_entry(const struct rb_node *rb)
{
	return rb_entry(rb, struct htbs_ready_node, rb);
}

static bool htbs_ready_sum(struct htbs_ready_node *node, bool exit)
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
		     first, htbs_ready_sum);

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

/**
 * htbs_ready_update() - a flow has a head, or another one
 * @ready: the heads
 * @node: one of them or not, with @key and @start set
 */
void htbs_ready_update(struct htbs_ready *ready, struct htbs_ready_node *node)
{
	if (htbs_tree_holds_only(&ready->root, &node->rb)) {
		node->first = node->start;
		return;
	}
	htbs_ready_remove(ready, node);
	htbs_ready_insert(ready, node);
}

static bool htbs_ready_below(const struct rb_node *rb, u64 now)
{
	return rb && !htbs_before(now, htbs_ready_entry(rb)->first);
}

/* The entitled head of a subtree with the smallest key, or with the largest. */
static struct htbs_ready_node *htbs_ready_end(const struct rb_node *rb, u64 now,
					      bool largest)
{
	const struct rb_node *outer;

	if (!htbs_ready_below(rb, now))
		return NULL;
	for (;;) {
		outer = largest ? rb->rb_right : rb->rb_left;
		if (!htbs_ready_below(outer, now)) {
			if (!htbs_before(now, htbs_ready_entry(rb)->start))
				return htbs_ready_entry(rb);
			outer = largest ? rb->rb_left : rb->rb_right;
		}
		rb = outer;
	}
}

/*
 * The entitled head with the nearest key at or after @key, or before it. On the way
 * down to @key what was passed last is nearest: a head, or the subtree behind it.
 */
static struct htbs_ready_node *htbs_ready_beside(const struct htbs_ready *ready,
						 u64 key, u64 now, bool before)
{
	const struct rb_node *rb = ready->root.rb_node, *inner, *behind = NULL;
	struct htbs_ready_node *found = NULL, *node;

	while (rb) {
		node = htbs_ready_entry(rb);
		inner = before ? rb->rb_right : rb->rb_left;
		if (htbs_before(node->key, key) != before) {
			rb = before ? rb->rb_left : rb->rb_right;
			continue;
		}
		if (!htbs_before(now, node->start)) {
			found = node;
			behind = NULL;
		} else if (htbs_ready_below(before ? rb->rb_left : rb->rb_right,
					    now)) {
			found = NULL;
			behind = before ? rb->rb_left : rb->rb_right;
		}
		rb = inner;
	}
	return found ?: htbs_ready_end(behind, now, before);
}

/**
 * htbs_ready_first() - the entitled head with the smallest key
 * @ready: the heads
 * @now: real time, ns
 *
 * Return: the head, or NULL if none is entitled.  O(log n).
 */
struct htbs_ready_node *htbs_ready_first(const struct htbs_ready *ready, u64 now)
{
	return htbs_ready_end(ready->root.rb_node, now, false);
}

/**
 * htbs_ready_nearest() - the entitled head with the nearest key
 * @ready: the heads
 * @key: where the device is
 * @now: real time, ns
 *
 * Return: the head, or NULL if none is entitled.  O(log n).
 */
struct htbs_ready_node *htbs_ready_nearest(const struct htbs_ready *ready,
					   u64 key, u64 now)
{
	struct htbs_ready_node *before = htbs_ready_beside(ready, key, now, true);
	struct htbs_ready_node *after = htbs_ready_beside(ready, key, now, false);

	if (!before || !after)
		return before ?: after;
	return key - before->key < after->key - key ? before : after;
}
