// SPDX-License-Identifier: GPL-2.0
/*
 * What is owed: the heads by deadline, and when the device has to begin to serve them.
 *
 * Let d_k be the deadlines of the backlogged heads, earliest first. Let M_k be the mean service
 * time of all that the device has to serve before them, and of the first k heads. With a margin D
 * for the deviations of all heads, each head is in time if the device begins no later than
 *
 *	latest = min over k of (d_k - M_k) - D
 *
 * D should be the margin of the first k heads, but a tree cannot sum up margins, because the
 * deviation of a sum is the root of a sum of squares. The margin of all heads is no smaller, so it
 * puts no deadline at risk. Heads that are due before most of the others only begin earlier than
 * necessary.
 *
 * The heads are in an augmented red-black tree, in which each node has the minimum of its subtree.
 * If the heads of a sequence b follow those of a sequence a, the minimum of both is
 *
 *	min(min_a, min_b - M_a)
 *
 * To leave out one head, all others are summed up along the path from that head to the root.
 *
 * Each node also has the earliest start in its subtree, so a search for entitled heads skips
 * subtrees that have none.
 */
#include <linux/rbtree_augmented.h>

#include <htbs/core/owed.h>
#include <htbs/core/params.h>
#include <htbs/core/tree.h>

/* Returns the sum of the heads of @a and @b. The heads of @b follow those of @a. */
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

/* Returns the sum of a head and of its left subtree, right subtree, or both. */
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

/*
 * Update the sum of a subtree. Returns true if @exit is set and nothing has changed, so the walk to
 * the root can end.
 */
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
 * htbs_owed_init() - initialise a tree without heads
 * @owed: the heads
 */
void htbs_owed_init(struct htbs_owed *owed)
{
	owed->root = RB_ROOT_CACHED;
}

/**
 * htbs_owed_insert() - insert a head
 * @owed: the heads
 * @head: a head that is not in the tree, with all members but @rb and @sum set
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
 * htbs_owed_remove() - remove a head
 * @owed: the heads
 * @head: the head, in the tree
 */
void htbs_owed_remove(struct htbs_owed *owed, struct htbs_owed_head *head)
{
	rb_erase_augmented_cached(&head->rb, &owed->root, &htbs_owed_callbacks);
	RB_CLEAR_NODE(&head->rb);
}

/**
 * htbs_owed_update() - insert a head, or move it to the place of its new deadline
 * @owed: the heads
 * @head: a head that may be in the tree, with all members but @rb and @sum set
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
 * Sum up all heads except one. The walk begins with the subtrees below @except. On the way to the
 * root, it adds each ancestor with the subtree on its other side. Returns false if there is no
 * other head.
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
 * htbs_owed_latest() - when the device has to begin to serve the heads
 * @owed: the heads
 * @except: a head that is left out, or NULL
 * @before: what the device serves before the heads
 * @margin: in mean deviations, in units of 1/HTBS_MARGIN_ONE; 0: the heads are in time on average
 * @latest: set to real time, ns; unchanged if there is no head
 *
 * Return: false if there is no head, or only @except. O(log n), O(1) without @except.
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

/* Returns the entitled head with the earliest deadline. The subtree has an entitled head. */
static const struct rb_node *htbs_first_entitled(const struct rb_node *rb, u64 now)
{
	while (htbs_any_entitled(rb->rb_left, now) || !htbs_is_entitled(rb, now))
		rb = htbs_any_entitled(rb->rb_left, now) ? rb->rb_left : rb->rb_right;
	return rb;
}

/* Returns the next entitled head after @rb, or NULL. */
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
 * htbs_owed_nearest() - the nearest of the entitled heads with the earliest deadlines
 * @owed: the heads
 * @pos: the sector at which the device is
 * @now: real time, ns
 *
 * Looks at up to HTBS_SWEEP entitled heads: enough of them to save positioning.
 *
 * Return: the head, or NULL if none is entitled. O(log n).
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
