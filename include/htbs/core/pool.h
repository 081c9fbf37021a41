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

/* The device's whole time. The unit is so small that small fractions are not lost in a mean. */
#define HTBS_NEED_ONE		65536
/*
 * The default reservation, which groups without one of their own share, may take 1/HTBS_SHARED_PART
 * of the device's time. So may urgent requests, which belong to no single group.
 */
#define HTBS_SHARED_PART	4

/**
 * struct htbs_pool - flows that share a reservation
 * @pace: the reservation, and how far the pool has come with it
 * @need: fraction of the device's time that the reservation takes, in units of 1/HTBS_NEED_ONE
 * @need_most: the reservation is impossible if @need is no less than this
 * @pause: mean time that the pool would be idle before a request arrives if each request were
 *	served at once, ns
 * @asked: when a request of the pool arrived last, or the pool was set up, real ns; not updated
 *	while no service time is known, as on a device that does not seek
 * @served: when a request of the pool was dispatched last, real ns
 * @head: what the pool is owed next: the head of the first flow of @backlog
 * @proportion: device time that the pool had, over its reservation; for an overload
 * @pending: pending requests of the pool
 * @in_flight: requests of the pool that are dispatched and not completed
 * @paced: the requests in flight that were charged to @pace
 * @reach: whether surplus keeps the pool behind its pace
 * @busy: number of flows of the pool that have requests pending or in flight
 * @relaxed: the pool reserves and demands more than the device has, or is that of the background.
 *	None of its requests is owed. Its head has a deadline of HTBS_HORIZON, or of the latency if
 *	that is longer, after its arrival or after the last dispatch of the pool
 * @on_pace: on a device that does not seek, when the device was last seen to keep the reservation,
 *	or the pool became busy, real ns
 * @idle_since: when a request of the pool completed last, or the pool was set up, real ns
 * @judged: when the pace was checked last for the limits, real ns
 * @raised: how often the limits had been raised when a conforming request of the pool completed
 *	last
 * @expects: the flow of the pool of which conforming requests are expected, or NULL
 * @backlog: the backlogged flows, in the order of their turns
 * @members: all flows of the pool
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
 * htbs_pool_busy() - whether a pool has requests pending or in flight
 * @pool: the pool
 *
 * Return: true if it has.
 */
static inline bool htbs_pool_busy(const struct htbs_pool *pool)
{
	return pool->busy;
}

/**
 * htbs_pool_impossible() - whether the reservation of a pool is impossible
 * @pool: the pool
 *
 * Return: true if the reservation takes all of the device's time that is there for it, or more: its
 *	pace cannot be kept.
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
