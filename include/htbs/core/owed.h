/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is owed: the heads of backlogged flows, sorted by deadline.
 */
#ifndef HTBS_CORE_OWED_H
#define HTBS_CORE_OWED_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/service.h>

/*
 * No deadline is further away than this: 73 years, an eighth of the range of the clock. A head with
 * a start this long after its deadline is never entitled.
 */
#define HTBS_FAR		0x2000000000000000ULL

/**
 * struct htbs_owed_sum - the sum of some heads, in the order of their deadlines
 * @load: service time of all of them
 * @slack_end: when the device has to begin with them on average: the minimum over the heads of the
 *	deadline minus the mean service time up to and including the head, ns
 * @start: the earliest time at which one of them is entitled, ns
 */
struct htbs_owed_sum {
	struct htbs_load load;
	u64 slack_end;
	u64 start;
};

/**
 * struct htbs_owed_head - the oldest request of a backlogged flow
 * @rb: its place by deadline
 * @deadline: by when the request has to be served, ns
 * @start: when the request is entitled, ns; HTBS_FAR after @deadline if it has to wait for its
 *	deadline
 * @pos: first sector of the request
 * @load: service time of the request
 * @sum: sum of all heads in the subtree of this one
 */
struct htbs_owed_head {
	struct rb_node rb;
	u64 deadline;
	u64 start;
	u64 pos;
	struct htbs_load load;
	struct htbs_owed_sum sum;
};

/**
 * struct htbs_owed - the heads that are owed now or later
 * @root: struct htbs_owed_head by deadline, equal ones in order of insertion
 */
struct htbs_owed {
	struct rb_root_cached root;
};

void htbs_owed_init(struct htbs_owed *owed);
void htbs_owed_insert(struct htbs_owed *owed, struct htbs_owed_head *head);
void htbs_owed_remove(struct htbs_owed *owed, struct htbs_owed_head *head);
void htbs_owed_update(struct htbs_owed *owed, struct htbs_owed_head *head);
bool htbs_owed_latest(const struct htbs_owed *owed,
		      const struct htbs_owed_head *except,
		      const struct htbs_load *before, u32 margin,
		      u64 *latest);
struct htbs_owed_head *htbs_owed_entitled(const struct htbs_owed *owed, u64 now);
struct htbs_owed_head *htbs_owed_nearest(const struct htbs_owed *owed, u64 pos,
					 u64 now);

/**
 * htbs_owed_contains() - whether a head is in the tree
 * @head: the head, initialised by htbs_owed_head_init()
 *
 * Return: true if it is.
 */
static inline bool htbs_owed_contains(const struct htbs_owed_head *head)
{
	return !RB_EMPTY_NODE(&head->rb);
}

/**
 * htbs_owed_head_init() - initialise a head that is in no tree
 * @head: the head
 */
static inline void htbs_owed_head_init(struct htbs_owed_head *head)
{
	RB_CLEAR_NODE(&head->rb);
}

/**
 * htbs_owed_first() - the head with the earliest deadline
 * @owed: the heads
 *
 * Return: the head, or NULL if there is none.  O(1).
 */
static inline struct htbs_owed_head *
htbs_owed_first(const struct htbs_owed *owed)
{
	return rb_entry_safe(rb_first_cached(&owed->root),
			     struct htbs_owed_head, rb);
}

#endif /* HTBS_CORE_OWED_H */
