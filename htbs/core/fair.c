// SPDX-License-Identifier: GPL-2.0
/*
 * Start-time fair queueing (Goyal, Vin, Cheng 1996).
 *
 * The tag of a flow is the service that it has received, divided by its weight. The flow
 * with the smallest tag is next. A flow that becomes backlogged begins at virtual time at
 * least, so it saves up nothing while it is idle. Virtual time is the smallest tag of the
 * flows that are served, less the length of a run. So a flow with one request at a time,
 * which is idle between any two requests, keeps what it lacks. A request is charged when it
 * completes, because only then is it known what it took.
 */
#include <htbs/core/fair.h>
#include <htbs/core/params.h>
#include <htbs/core/tree.h>

/**
 * htbs_fair_init() - no flow is backlogged
 * @fair: the backlogged flows
 */
void htbs_fair_init(struct htbs_fair *fair)
{
	fair->root = RB_ROOT_CACHED;
	fair->clock = 0;
}

static bool htbs_fair_less(struct rb_node *a, const struct rb_node *b)
{
	return htbs_before(rb_entry(a, struct htbs_fair_node, rb)->tag,
			   rb_entry(b, struct htbs_fair_node, rb)->tag);
}

/**
 * htbs_fair_insert() - a flow becomes backlogged
 * @fair: the backlogged flows
 * @node: the flow
 */
void htbs_fair_insert(struct htbs_fair *fair, struct htbs_fair_node *node)
{
	rb_add_cached(&node->rb, &fair->root, htbs_fair_less);
}

/**
 * htbs_fair_remove() - a flow is no longer backlogged
 * @fair: the backlogged flows
 * @node: the flow
 */
void htbs_fair_remove(struct htbs_fair *fair, struct htbs_fair_node *node)
{
	rb_erase_cached(&node->rb, &fair->root);
	RB_CLEAR_NODE(&node->rb);
}

/**
 * htbs_fair_busy() - a flow gets a request to be served, and had none
 * @fair: the backlogged flows
 * @node: the flow, not backlogged yet
 * @keeps: how much of what it lacks it keeps, over its weight; 0 if it was idle
 */
void htbs_fair_busy(const struct htbs_fair *fair, struct htbs_fair_node *node, u64 keeps)
{
	node->tag = htbs_later(node->tag, fair->clock - keeps);
}

/**
 * htbs_fair_pass() - pass over flows that may not be served
 * @fair: the backlogged flows
 * @to: the first flow that may be served; NULL: none may
 *
 * Flows that are passed over save up no more than idle flows do. Their order does not
 * change.
 */
void htbs_fair_pass(struct htbs_fair *fair, const struct htbs_fair_node *to)
{
	u64 begin = to && htbs_before(to->tag, fair->clock) ? to->tag : fair->clock;
	struct htbs_fair_node *node;

	for (node = htbs_fair_first(fair); node && node != to; node = htbs_fair_next(node)) {
		if (!htbs_before(node->tag, begin))
			break;
		node->tag = begin;
	}
}

/**
 * htbs_fair_advance() - advance virtual time
 * @fair: the backlogged flows
 * @node: the flow that virtual time follows, backlogged or not
 * @run: the service that the flow receives in a run, over its weight
 */
void htbs_fair_advance(struct htbs_fair *fair, const struct htbs_fair_node *node,
		       u64 run)
{
	fair->clock = htbs_later(fair->clock, node->tag - run);
}

/**
 * htbs_fair_charge() - charge a flow for its service
 * @fair: the backlogged flows
 * @node: the flow, backlogged or not
 * @had: the service that it has received, over its weight
 */
__always_inline void
htbs_fair_charge(struct htbs_fair *fair, struct htbs_fair_node *node, u64 had)
{
	bool moves = !RB_EMPTY_NODE(&node->rb) &&
		     !htbs_tree_holds_only(&fair->root.rb_root, &node->rb);

	if (moves)
		htbs_fair_remove(fair, node);
	node->tag += had;
	if (moves)
		htbs_fair_insert(fair, node);
}

/**
 * htbs_fair_reset() - let a flow begin anew after its weight has changed
 * @fair: the backlogged flows
 * @node: the flow, backlogged or not
 */
void htbs_fair_reset(struct htbs_fair *fair, struct htbs_fair_node *node)
{
	htbs_fair_charge(fair, node, fair->clock - node->tag);
}
