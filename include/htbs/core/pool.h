/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool: flows that share a reservation.
 */
#ifndef HTBS_CORE_POOL_H
#define HTBS_CORE_POOL_H

#include <linux/list.h>
#include <linux/types.h>

#include <htbs/core/fair.h>
#include <htbs/core/owed.h>
#include <htbs/core/pace.h>
#include <htbs/core/params.h>
#include <htbs/core/reach.h>

struct htbs_flow;

/* The device's whole time: small parts of it are not lost in a mean. */
#define HTBS_NEED_ONE		65536
/*
 * The inverse of the part of it for what belongs to no group alone: the reservation of all
 * without one of their own, and urgent requests.
 */
#define HTBS_SHARED_PART	4

/**
 * struct htbs_pool - flows that share a reservation
 * @pace: the reservation, and how far they have come together
 * @need: part of the device's time that the reservation takes, of HTBS_NEED_ONE
 * @need_most: from this part on it is impossible
 * @pause: how long they would have none before one arrives, were each served at once,
 *	mean, ns
 * @asked: when one of their requests arrived last, or the pool began, real ns; it stays while no
 *	service time is known, as on a device that does not seek
 * @served: when a request of them was dispatched last, real ns
 * @head: what they are owed next: the head of the first of @backlog
 * @proportion: device time that they had over the reservation, for an overload
 * @pending: pending requests of all of them
 * @in_flight: requests of all of them, dispatched and not completed
 * @paced: those of them that were charged to @pace, and what they were charged
 * @reach: whether surplus is why they are behind their pace
 * @busy: how many of them have requests pending or in flight
 * @relaxed: they reserve and ask for more than the device has; or they are the background. On a
 *	device that seeks they have no pace, and are owed a request in a second at most
 * @on_pace: on a device that does not seek, when the device was last seen to keep their
 *	reservation, or they became busy, real ns
 * @idle_since: when one of their requests completed last, or the pool began, real ns
 * @judged: when its pace was looked at last, for the limits, real ns
 * @raised: how often the limits had been raised when a conforming request completed last
 * @expects: the one of which conforming requests are expected, or NULL
 * @backlog: the backlogged ones, in the order of their turns
 * @members: all of them
 */
struct htbs_pool {
	struct htbs_pace pace;
	u64 need;
	u64 need_most;
	u64 pause;
	u64 asked;
	u64 served;
	struct htbs_owed_head head;
	struct htbs_fair_node proportion;
	u32 pending;
	u32 in_flight;
	struct htbs_paced paced;
	struct htbs_reach reach;
	u32 busy;
	bool relaxed;
	u64 on_pace;
	u64 idle_since;
	u64 judged;
	u32 raised;
	struct htbs_flow *expects;
	struct list_head backlog;
	struct list_head members;
};

/**
 * htbs_pool_busy() - whether flows of a pool have requests pending or in flight
 * @pool: the pool
 *
 * Return: true if one has.
 */
static inline bool htbs_pool_busy(const struct htbs_pool *pool)
{
	return pool->busy;
}

/**
 * htbs_pool_impossible() - whether a reservation takes more than the device has for it
 * @pool: the flows that share it
 *
 * Return: true if it does: its pace cannot be kept.
 */
static inline bool htbs_pool_impossible(const struct htbs_pool *pool)
{
	return pool->need >= pool->need_most;
}

void htbs_pool_init(struct htbs_pool *pool, u64 need_most, u64 now);
void htbs_pool_configure(struct htbs_pool *pool, const struct htbs_params *params,
			 u64 now);
struct htbs_flow *htbs_pool_first(struct htbs_pool *pool);
struct htbs_flow *htbs_pool_of_head(struct htbs_owed_head *head);
void htbs_pool_note_arrival(struct htbs_pool *pool,
			    const struct htbs_flow *flow, u64 now);
bool htbs_pool_greedy(const struct htbs_pool *pool,
		      const struct htbs_flow *first);
struct htbs_flow *htbs_pool_of_proportion(struct htbs_fair_node *node);
void htbs_pool_join(struct htbs_pool *pool, struct htbs_flow *flow);
void htbs_pool_leave(struct htbs_flow *flow);

#endif /* HTBS_CORE_POOL_H */
