/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Red-black trees that hold a single node.
 */
#ifndef HTBS_CORE_TREE_H
#define HTBS_CORE_TREE_H

#include <linux/rbtree.h>

/**
 * htbs_tree_holds_only() - whether a node is the only one of a tree
 * @root: the tree
 * @rb: the node, of this tree or of none
 *
 * The key of such a node can be changed in place.
 *
 * Return: true if the tree holds @rb and no other node.
 */
static inline bool htbs_tree_holds_only(const struct rb_root *root,
					const struct rb_node *rb)
{
	return root->rb_node == rb && !rb->rb_left && !rb->rb_right;
}

#endif /* HTBS_CORE_TREE_H */
