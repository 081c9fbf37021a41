// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of backlogged flows against a sorted list: same order, same smallest
 * values at every node, same results of searches, and a balanced tree.
 */
#include <htbs/core/tree.h>

#include "fuzz.h"

#define NODES		256

/* Tags are so close together that they can be compared. */
#define SPAN		((1ULL << 62) - 1)

/**
 * struct bench - the tree and a list to compare it with
 * @tree: the tree under test
 * @node: the nodes, in the tree or free
 * @base: the smallest value of a tag
 * @like: indices of the nodes in the tree, by finish tag
 * @count: number of nodes in the tree
 * @free: indices of the nodes not in the tree
 */
struct bench {
	struct htbs_tree tree;
	struct htbs_node node[NODES];
	u64 base;
	int like[NODES];
	int count;
	int free[NODES];
};

/* Change @eligible and @arrived of a node, drawn from @draw. */
static void set_moments(struct bench *bench, struct htbs_node *node, u64 draw)
{
	node->eligible = bench->base + (draw * 0x9e3779b97f4a7c15ULL & SPAN);
	node->arrived = bench->base + (draw * 0xd1342543de82ef95ULL & SPAN);
}

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
	set_moments(bench, node, node->start ^ node->finish);

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

static void change(struct bench *bench, struct input *in)
{
	struct htbs_node *node;

	if (!bench->count)
		return;
	node = &bench->node[bench->like[input_byte(in) % bench->count]];
	set_moments(bench, node, node->eligible + 1);
	htbs_tree_update(node);
}

static void lower(struct htbs_minima *min, const struct htbs_minima *by)
{
	if (by->start < min->start)
		min->start = by->start;
	if (by->eligible < min->eligible)
		min->eligible = by->eligible;
	if (by->arrived < min->arrived)
		min->arrived = by->arrived;
}

/* The smallest values of a subtree, counted from the base; also, its depth. */
static struct htbs_minima below(const struct bench *bench,
				const struct rb_node *rb, int *depth)
{
	const struct htbs_node *node = rb_entry_safe(rb, struct htbs_node, rb);
	struct htbs_minima min = { ~0ULL, ~0ULL, ~0ULL }, other;
	int left = 0, right = 0;

	*depth = 0;
	if (!node)
		return min;
	min.start = node->start - bench->base;
	min.eligible = node->eligible - bench->base;
	min.arrived = node->arrived - bench->base;
	other = below(bench, rb->rb_left, &left);
	lower(&min, &other);
	other = below(bench, rb->rb_right, &right);
	lower(&min, &other);
	must(node->min.start - bench->base == min.start);
	must(node->min.eligible - bench->base == min.eligible);
	must(node->min.arrived - bench->base == min.arrived);
	*depth = 1 + (left > right ? left : right);
	return min;
}

/* Searches find the first node in order that is eligible by some time, and the oldest. */
static void check_searches(const struct bench *bench, u64 time, u64 arrived)
{
	const struct htbs_node *eligible = NULL, *oldest = NULL, *node;
	int at;

	for (at = 0; at < bench->count; at++) {
		node = &bench->node[bench->like[at]];
		if (!eligible && node->eligible - bench->base <= time)
			eligible = node;
		if (!oldest && node->arrived - bench->base == arrived)
			oldest = node;
	}
	must(htbs_tree_eligible(&bench->tree, bench->base + time) == eligible);
	must(htbs_tree_oldest(&bench->tree) == oldest);
}

static void check(const struct bench *bench)
{
	const struct htbs_node *node = htbs_tree_first(&bench->tree);
	struct htbs_minima min;
	int at, depth;

	must(htbs_tree_empty(&bench->tree) == !bench->count);
	for (at = 0; at < bench->count; at++) {
		must(node == &bench->node[bench->like[at]]);
		node = htbs_tree_next(node);
	}
	must(!node);

	min = below(bench, bench->tree.root.rb_root.rb_node, &depth);
	if (bench->count)
		must(htbs_tree_min_start(&bench->tree) - bench->base ==
		     min.start);
	check_searches(bench, SPAN / 16, min.arrived);
	check_searches(bench, SPAN / 2, min.arrived);
	/* The depth is 2 log2(n + 1) at most: every other node of a path is black. */
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
		u8 what = input_byte(&in);

		if (what >= 240)
			change(&bench, &in);
		else if (what % 5 < 3)
			insert(&bench, &in);
		else
			take_out(&bench, &in);
		check(&bench);
	}
	return 0;
}
