// SPDX-License-Identifier: GPL-2.0
/*
 * What is owed, and when the device has to begin with it.
 *
 * Let d_k be the deadlines of the backlogged heads, earliest first, and let the
 * first k of them take M_k on average, after what the device has already.  With a
 * margin D for the deviations of all, each is in time if the device begins no later
 * than
 *
 *	latest = min over k of (d_k - M_k) - D
 *
 * D should be that of the first k, which no tree can sum up: the deviation of a sum
 * is the root of a sum of squares.  That of all is no smaller, so no deadline is put
 * at risk; heads that are due before most of the others begin earlier than they
 * would have to.
 *
 * The minimum is kept in an augmented red-black tree: that of a sequence of heads a
 * followed by a sequence b is
 *
 *	min(min_a, min_b - M_a)
 *
 * All heads but one are summed up along the path from that one to the root.
 *
 * The tree also knows when the first head of each subtree is entitled, so a head that is
 * not entitled yet is not looked at.
 */
#include <linux/rbtree_augmented.h>

#include <htbs/core/owed.h>
#include <htbs/core/params.h>
#include <htbs/core/tree.h>

/* The heads of @a and of @b; the deadlines of @b are later. */
static struct htbs_owed_sum htbs_sum_join(const struct htbs_owed_sum *a,
					  const struct htbs_owed_sum *b)
{
	struct htbs_owed_sum both = *a;
	u64 slack_end = b->slack_end - a->load.mean;

	if (htbs_before(slack_end, both.slack_end))
		both.slack_end = slack_end;
	if (htbs_before(b->start, both.start))
		both.start = b->start;
	both.load.mean += b->load.mean;
	both.load.variance += b->load.variance;
	return both;
}

static const struct htbs_owed_sum *htbs_sum_below(const struct rb_node *rb)
{
	return &rb_entry(rb, struct htbs_owed_head, rb)->sum;
}

/* The head and those below it on one side, or on both. */
static struct htbs_owed_sum htbs_sum_with(const struct htbs_owed_head *head,
					  bool left, bool right)
{
	struct htbs_owed_sum sum = {
		.load		= head->load,
		.slack_end	= head->deadline - head->load.mean,
		.start		= head->start,
	};

	if (left && head->rb.rb_left)
		sum = htbs_sum_join(htbs_sum_below(head->rb.rb_left), &sum);
	if (right && head->rb.rb_right)
		sum = htbs_sum_join(&sum, htbs_sum_below(head->rb.rb_right));
	return sum;
}

/* Sum up a subtree.  True if nothing has changed: the walk can end. */
static bool htbs_sum_update(struct htbs_owed_head *head, bool exit)
{
	struct htbs_owed_sum sum = htbs_sum_with(head, true, true);

	if (exit && head->sum.slack_end == sum.slack_end && head->sum.start == sum.start &&
	    head->sum.load.mean == sum.load.mean &&
	    head->sum.load.variance == sum.load.variance)
		return true;
	head->sum = sum;
	return false;
}

RB_DECLARE_CALLBACKS(static, htbs_owed_callbacks, struct htbs_owed_head, rb,
		     sum, htbs_sum_update);

/**
 * htbs_owed_init() - no head is owed
 * @owed: the heads
 */
void htbs_owed_init(struct htbs_owed *owed)
{
	owed->root = RB_ROOT_CACHED;
}

/**
 * htbs_owed_insert() - a flow has a head
 * @owed: the heads
 * @head: one that is not among them, with all but @rb and @sum set
 */
void htbs_owed_insert(struct htbs_owed *owed, struct htbs_owed_head *head)
{
	struct rb_node **link = &owed->root.rb_root.rb_node;
	struct rb_node *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (htbs_before(head->deadline,
				rb_entry(parent, struct htbs_owed_head,
					 rb)->deadline)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(&head->rb, parent, link);
	htbs_sum_update(head, false);
	htbs_owed_callbacks.propagate(parent, NULL);
	rb_insert_augmented_cached(&head->rb, &owed->root, leftmost,
				   &htbs_owed_callbacks);
}

/**
 * htbs_owed_remove() - a head is dispatched, or its deadline changes
 * @owed: the heads
 * @head: one of them
 */
void htbs_owed_remove(struct htbs_owed *owed, struct htbs_owed_head *head)
{
	rb_erase_augmented_cached(&head->rb, &owed->root, &htbs_owed_callbacks);
	RB_CLEAR_NODE(&head->rb);
}

/**
 * htbs_owed_update() - a flow has a head, or another one
 * @owed: the heads
 * @head: one of them or not, with all but @rb and @sum set
 */
void htbs_owed_update(struct htbs_owed *owed, struct htbs_owed_head *head)
{
	if (htbs_tree_holds_only(&owed->root.rb_root, &head->rb)) {
		htbs_sum_update(head, false);
		return;
	}
	if (htbs_owed_contains(head))
		htbs_owed_remove(owed, head);
	htbs_owed_insert(owed, head);
}

/*
 * Sum up all heads but one: the subtrees below it, then, on the way to the root,
 * each head above with what is on its other side.  False if there are none.
 */
static bool htbs_sum_without(const struct htbs_owed_head *except,
			     struct htbs_owed_sum *sum)
{
	const struct rb_node *rb = &except->rb, *parent;
	struct htbs_owed_sum more;
	bool any = false, left;

	if (rb->rb_left) {
		*sum = *htbs_sum_below(rb->rb_left);
		any = true;
	}
	if (rb->rb_right) {
		more = *htbs_sum_below(rb->rb_right);
		*sum = any ? htbs_sum_join(sum, &more) : more;
		any = true;
	}
	for (; (parent = rb_parent(rb)); rb = parent) {
		left = rb == parent->rb_left;
		more = htbs_sum_with(rb_entry(parent, struct htbs_owed_head, rb),
				     !left, left);
		if (any && left)
			more = htbs_sum_join(sum, &more);
		else if (any)
			more = htbs_sum_join(&more, sum);
		*sum = more;
		any = true;
	}
	return any;
}

/**
 * htbs_owed_latest() - when the device has to begin with what is owed
 * @owed: the heads
 * @except: one that is left out; NULL: none
 * @before: what the device has to do before
 * @margin: mean deviations, in units of 1/HTBS_MARGIN_ONE; 0: on average
 * @latest: real time, ns; unchanged if nothing is owed
 *
 * Return: false if nothing is owed.  O(log n), O(1) without @except.
 */
bool htbs_owed_latest(const struct htbs_owed *owed,
		      const struct htbs_owed_head *except,
		      const struct htbs_load *before, u32 margin, u64 *latest)
{
	const struct rb_node *rb = owed->root.rb_root.rb_node;
	struct htbs_owed_sum sum = { };

	if (!rb)
		return false;
	if (!except || !htbs_owed_contains(except))
		sum = *htbs_sum_below(rb);
	else if (!htbs_sum_without(except, &sum))
		return false;
	*latest = sum.slack_end - before->mean;
	if (margin)
		*latest -= htbs_load_margin(sum.load.variance +
					    before->variance, margin);
	return true;
}

static bool htbs_is_entitled(const struct rb_node *rb, u64 now)
{
	return !htbs_before(now, rb_entry(rb, struct htbs_owed_head, rb)->start);
}

static bool htbs_any_entitled(const struct rb_node *rb, u64 now)
{
	return rb && !htbs_before(now, htbs_sum_below(rb)->start);
}

/* The first entitled head of a subtree which has one. */
static const struct rb_node *htbs_first_entitled(const struct rb_node *rb, u64 now)
{
	while (htbs_any_entitled(rb->rb_left, now) || !htbs_is_entitled(rb, now))
		rb = htbs_any_entitled(rb->rb_left, now) ? rb->rb_left : rb->rb_right;
	return rb;
}

/* The next entitled head after one, or NULL. */
static const struct rb_node *htbs_next_entitled_after(const struct rb_node *rb, u64 now)
{
	const struct rb_node *parent;

	if (htbs_any_entitled(rb->rb_right, now))
		return htbs_first_entitled(rb->rb_right, now);
	for (; (parent = rb_parent(rb)); rb = parent) {
		if (rb == parent->rb_right)
			continue;
		if (htbs_is_entitled(parent, now))
			return parent;
		if (htbs_any_entitled(parent->rb_right, now))
			return htbs_first_entitled(parent->rb_right, now);
	}
	return NULL;
}

/**
 * htbs_owed_entitled() - the entitled head with the earliest deadline
 * @owed: the heads
 * @now: real time, ns
 *
 * Return: the head, or NULL if none is entitled.  O(log n).
 */
struct htbs_owed_head *htbs_owed_entitled(const struct htbs_owed *owed, u64 now)
{
	const struct rb_node *rb = owed->root.rb_root.rb_node;

	return htbs_any_entitled(rb, now) ?
	       rb_entry(htbs_first_entitled(rb, now), struct htbs_owed_head, rb) : NULL;
}

static u64 htbs_distance(const struct htbs_owed_head *head, u64 pos)
{
	return head->pos < pos ? pos - head->pos : head->pos - pos;
}

/**
 * htbs_owed_nearest() - the nearest of the entitled heads that are due first
 * @owed: the heads
 * @pos: where the device is
 * @now: real time, ns
 *
 * Of HTBS_SWEEP of them: many enough to save positioning.
 *
 * Return: the head, or NULL if none is entitled.  O(log n).
 */
struct htbs_owed_head *htbs_owed_nearest(const struct htbs_owed *owed, u64 pos,
					 u64 now)
{
	struct htbs_owed_head *head = htbs_owed_entitled(owed, now), *nearest = head;
	u32 left;

	for (left = HTBS_SWEEP; head && left; left--) {
		if (htbs_distance(head, pos) < htbs_distance(nearest, pos))
			nearest = head;
		head = rb_entry_safe(htbs_next_entitled_after(&head->rb, now),
				     struct htbs_owed_head, rb);
	}
	return nearest;
}
