// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of backlogged reservations against a sorted list: same order, same
 * smallest start tag at every node, and a balanced tree.
 */
#include <htbs/tree.h>

#include "fuzz.h"

#define NODES		256

/* Tags are so close together that they can be compared. */
#define SPAN		((1ULL << 62) - 1)

/**
 * struct bench - the tree and what it must be like
 * @tree: the tree under test
 * @node: the nodes, in the tree or free
 * @base: what the tags are counted from
 * @like: which nodes are in the tree, by finish tag
 * @count: how many these are
 * @free: which are not
 */
struct bench {
	struct htbs_tree tree;
	struct htbs_node node[NODES];
	u64 base;
	int like[NODES];
	int count;
	int free[NODES];
};

static void insert(struct bench *bench, struct input *in)
{
	struct htbs_node *node;
	int i, at;

	if (bench->count == NODES)
		return;
	i = bench->free[NODES - 1 - bench->count];
	node = &bench->node[i];
	node->start = bench->base + input_within(in, 0, SPAN);
	node->finish = bench->base + input_within(in, 0, SPAN);

	for (at = bench->count; at; at--) {
		u64 other = bench->node[bench->like[at - 1]].finish;

		if (other - bench->base <= node->finish - bench->base)
			break;
		bench->like[at] = bench->like[at - 1];
	}
	bench->like[at] = i;
	bench->count++;
	htbs_tree_insert(&bench->tree, node);
}

static void take_out(struct bench *bench, struct input *in)
{
	int at, i;

	if (!bench->count)
		return;
	at = input_byte(in) % bench->count;
	i = bench->like[at];
	bench->count--;
	memmove(&bench->like[at], &bench->like[at + 1],
		(bench->count - at) * sizeof(bench->like[0]));
	bench->free[NODES - 1 - bench->count] = i;
	htbs_tree_remove(&bench->tree, &bench->node[i]);
}

/* The smallest start tag below, counted from the base; also, how deep it is. */
static u64 below(const struct bench *bench, const struct rb_node *rb,
		 int *depth)
{
	const struct htbs_node *node = rb_entry_safe(rb, struct htbs_node, rb);
	int left = 0, right = 0;
	u64 min, other;

	*depth = 0;
	if (!node)
		return ~0ULL;
	min = node->start - bench->base;
	other = below(bench, rb->rb_left, &left);
	if (other < min)
		min = other;
	other = below(bench, rb->rb_right, &right);
	if (other < min)
		min = other;
	must(node->min_start - bench->base == min);
	*depth = 1 + (left > right ? left : right);
	return min;
}

static void check(const struct bench *bench)
{
	const struct htbs_node *node = htbs_tree_first(&bench->tree);
	int at, depth;
	u64 min;

	must(htbs_tree_empty(&bench->tree) == !bench->count);
	for (at = 0; at < bench->count; at++) {
		must(node == &bench->node[bench->like[at]]);
		node = htbs_tree_next(node);
	}
	must(!node);

	min = below(bench, bench->tree.root.rb_root.rb_node, &depth);
	if (bench->count)
		must(htbs_tree_min_start(&bench->tree) - bench->base == min);
	/* At most 2 log2(n + 1): every other node of a path is black. */
	must(1 << (depth + 1) / 2 <= bench->count + 1);
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, data + size };
	static struct bench bench;
	int i;

	memset(&bench, 0, sizeof(bench));
	htbs_tree_init(&bench.tree);
	for (i = 0; i < NODES; i++)
		bench.free[i] = i;
	bench.base = input_within(&in, 0, ~0ULL);

	while (!input_empty(&in)) {
		if (input_byte(&in) % 5 < 3)
			insert(&bench, &in);
		else
			take_out(&bench, &in);
		check(&bench);
	}
	return 0;
}
