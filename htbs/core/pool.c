// SPDX-License-Identifier: GPL-2.0
/*
 * Pools: flows that share a reservation.
 *
 * A flow with a reservation of its own is alone in its pool. All flows without one are in one pool.
 * Each of them has its own requests, service times, runs, waits, and share of surplus. But the
 * flows of a pool have one pace: a pool of k flows is owed one reservation, not k of them.
 *
 * So only one head of a pool is owed at a time, that of the first backlogged flow. When a request
 * is charged to the pace, its flow moves to the end of the list, so that the flows use the
 * reservation in turn. A request that is entitled when it is dispatched is charged to the pace,
 * whether or not it was the turn of its flow.
 */
#include <htbs/core/flow.h>
#include <htbs/core/pool.h>

/**
 * htbs_pool_init() - initialise a pool without flows
 * @pool: the pool
 * @need_most: the fraction of the device's time from which on its reservation is impossible
 * @now: real time, ns
 *
 * The pool has to be configured before it is used.
 */
void htbs_pool_init(struct htbs_pool *pool, u64 need_most, u64 now)
{
	*pool = (struct htbs_pool){ .need_most = need_most, .asked = now, .idle_since = now };
	htbs_owed_head_init(&pool->head);
	htbs_fair_node_init(&pool->proportion);
	INIT_LIST_HEAD(&pool->backlog);
	INIT_LIST_HEAD(&pool->members);
}

/**
 * htbs_pool_configure() - set what the reservation of a pool promises
 * @pool: the pool
 * @params: the reservation; valid
 * @now: real time, ns
 *
 * The pool has its whole burst afterwards.
 */
void htbs_pool_configure(struct htbs_pool *pool, const struct htbs_params *params,
			 u64 now)
{
	htbs_pace_init(&pool->pace, params, now);
	pool->need = 0;
	pool->reach = (struct htbs_reach){ .since = now };
}

/**
 * htbs_pool_first() - the first backlogged flow of a pool
 * @pool: the pool
 *
 * Return: the flow, or NULL if none is backlogged. O(1).
 */
struct htbs_flow *htbs_pool_first(struct htbs_pool *pool)
{
	return list_first_entry_or_null(&pool->backlog, struct htbs_flow, turn);
}

/**
 * htbs_pool_of_head() - the first backlogged flow of the pool that a head belongs to
 * @head: the head of a pool, or NULL
 *
 * Return: the flow, or NULL.
 */
struct htbs_flow *htbs_pool_of_head(struct htbs_owed_head *head)
{
	return head ? htbs_pool_first(container_of(head, struct htbs_pool, head)) :
		      NULL;
}

/**
 * htbs_pool_note_arrival() - learn the demand of a pool from an arriving request
 * @pool: the pool; it does not count the request yet
 * @flow: the flow that the request belongs to
 * @now: real time, ns
 *
 * A pool that has requests pending all the time does not necessarily demand all of the device's
 * time, because the scheduler decides how long a request waits. So the pause is counted as if each
 * request were served at once: the pool would have been idle since one service time after the last
 * arrival or, if it sends one request at a time, since the last completion.
 */
void htbs_pool_note_arrival(struct htbs_pool *pool, const struct htbs_flow *flow,
			    u64 now)
{
	/*
	 * Longer pauses need not count: a single one this long makes the mean at least one service
	 * time.
	 */
	u64 most = HTBS_HABIT * flow->time_alone, idle, pause;

	if (!most)
		return;
	idle = htbs_later(pool->asked + flow->time_alone, pool->idle_since);
	pause = htbs_before(idle, now) ? now - idle : 0;
	if (pause > most)
		pause = most;
	if (pool->pause > most)
		pool->pause = most;
	htbs_fade(&pool->pause, pause, HTBS_HABIT);
	pool->asked = now;
}

/**
 * htbs_pool_greedy() - whether a pool reserves and demands more than the device has
 * @pool: the pool
 * @first: the first of its backlogged flows
 *
 * A pool demands most of the device's time if its mean pause is shorter than its service time, with
 * each request served at once.
 *
 * Return: true if it demands most of the time, and its reservation is impossible.
 */
bool htbs_pool_greedy(const struct htbs_pool *pool, const struct htbs_flow *first)
{
	return htbs_pool_impossible(pool) && pool->pause < first->time_alone;
}

/**
 * htbs_pool_of_proportion() - the first backlogged flow of the pool that a proportion belongs to
 * @node: the proportion of a pool, or NULL
 *
 * Return: the flow, or NULL.
 */
struct htbs_flow *htbs_pool_of_proportion(struct htbs_fair_node *node)
{
	return node ? htbs_pool_first(container_of(node, struct htbs_pool,
						   proportion)) : NULL;
}

/**
 * htbs_pool_join() - add a flow to a pool
 * @pool: the pool
 * @flow: the flow, in no pool and not backlogged
 */
void htbs_pool_join(struct htbs_pool *pool, struct htbs_flow *flow)
{
	flow->pool = pool;
	list_add_tail(&flow->member, &pool->members);
	pool->pending += flow->pending;
	pool->in_flight += flow->in_flight;
	pool->paced.units += flow->paced.units;
	pool->paced.ops += flow->paced.ops;
	pool->busy += htbs_flow_busy(flow);
}

/**
 * htbs_pool_leave() - remove a flow from its pool
 * @flow: the flow, not backlogged
 */
void htbs_pool_leave(struct htbs_flow *flow)
{
	list_del_init(&flow->member);
	flow->pool->pending -= flow->pending;
	flow->pool->in_flight -= flow->in_flight;
	flow->pool->paced.units -= flow->paced.units;
	flow->pool->paced.ops -= flow->paced.ops;
	flow->pool->busy -= htbs_flow_busy(flow);
}

