// SPDX-License-Identifier: GPL-2.0
/*
 * Pools: flows that share a reservation.
 *
 * A flow with a reservation of its own is alone in a pool. All flows without one are in
 * one pool: each is a flow of its own for its requests, what the device takes for them,
 * its runs, its waits and its share of surplus. But they have one pace: a pool of k flows
 * is owed one reservation, and not k of them.
 *
 * So only one head of a pool is owed at a time, that of the first of its backlogged
 * flows. A flow whose request was charged to the pace goes to the end: what the pool is
 * owed its flows have in turn. A request of any of them that is entitled when it is
 * dispatched is charged, whether or not it was its flow's turn.
 */
#include <htbs/core/flow.h>
#include <htbs/core/pool.h>

/**
 * htbs_pool_init() - a pool without flows
 * @pool: the pool
 * @need_most: from which part of the device's time on its reservation is impossible
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
 * The pool has all of its burst.
 */
void htbs_pool_configure(struct htbs_pool *pool, const struct htbs_params *params,
			 u64 now)
{
	htbs_pace_init(&pool->pace, params, now);
	pool->need = 0;
	pool->reach = (struct htbs_reach){ .since = now };
}

/**
 * htbs_pool_first() - the flow whose turn it is
 * @pool: the pool
 *
 * Return: the flow, or NULL if none is backlogged.  O(1).
 */
struct htbs_flow *htbs_pool_first(struct htbs_pool *pool)
{
	return list_first_entry_or_null(&pool->backlog, struct htbs_flow, turn);
}

/**
 * htbs_pool_of_head() - the flow of a head that is owed
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
 * htbs_pool_note_arrival() - learn what a pool asks for from an arriving request
 * @pool: the pool; the request does not count yet
 * @flow: the flow of it that the request belongs to
 * @now: real time, ns
 *
 * The scheduler decides how long a request waits, so a pool that has requests pending all the time
 * need not ask for all of the device's time.  If each request were served at once, the pool would
 * have been idle since one service time after the last arrival, or, if it sends one request at a
 * time, since the last completion.
 */
void htbs_pool_note_arrival(struct htbs_pool *pool, const struct htbs_flow *flow,
			    u64 now)
{
	/* A pause that is so long tells by itself that the pool does not ask for all. */
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
 * htbs_pool_greedy() - whether more is reserved and asked for than the device has
 * @pool: the pool
 * @first: the first of its backlogged flows
 *
 * A pool asks for most of the device's time if it pauses for less than it is served, were
 * each request served at once.
 *
 * Return: true if it is.
 */
bool htbs_pool_greedy(const struct htbs_pool *pool, const struct htbs_flow *first)
{
	return htbs_pool_impossible(pool) && pool->pause < first->time_alone;
}

/**
 * htbs_pool_of_proportion() - the flow that is next by what its pool had
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
 * htbs_pool_join() - a flow is charged to a pool from now on
 * @pool: the pool
 * @flow: the flow, of no pool and not backlogged
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
 * htbs_pool_leave() - a flow is no longer charged to its pool
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

