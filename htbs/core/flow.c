// SPDX-License-Identifier: GPL-2.0
/*
 * What the requests of a flow tell about its next one.
 *
 * A short history, and not one bit, tells whether a flow is sequential, so that one
 * stray request does not end anticipation for ever. The think time is the mean time
 * from a completion to the next request. The need of a reservation is the time that the
 * device takes for a request, over the time in which the reservation entitles the flow
 * to one.
 */
#include <linux/math64.h>

#include <htbs/core/flow.h>

/* Share tags count device time in units that keep small shares exact. */
#define HTBS_SHARE_SHIFT	20

/*
 * The unit of weights: a weight of 1 counts as a bandwidth of 16 KiB/s without a
 * weight.
 */
#define HTBS_WEIGHT_RATE	16384ULL	/* bytes/s */

/**
 * htbs_flow_note_dispatch() - learn from a dispatched request
 * @flow: its flow
 * @extent: the request
 *
 * Return: true if the request is near to the last one of the flow.
 */
bool htbs_flow_note_dispatch(struct htbs_flow *flow,
			     const struct htbs_extent *extent)
{
	bool sequential = flow->known &&
			  extent->pos - flow->next_pos <= HTBS_SEQ_GAP;

	flow->history = (flow->history << 1 | sequential) & ((1U << HTBS_HABIT) - 1);
	flow->next_pos = extent->pos + extent->sectors;
	flow->sync = extent->sync;
	flow->known = true;
	return sequential;
}

/**
 * htbs_flow_note_arrival() - learn the think time from an arriving request
 * @flow: its flow, which was idle
 * @now: real time, ns
 * @t_wait: longest wait, ns
 */
void htbs_flow_note_arrival(struct htbs_flow *flow, u64 now, u64 t_wait)
{
	u64 sample = now - flow->idle_since;

	if (!flow->known)
		return;
	/* All pauses that are too long to wait for count the same. */
	if (sample > 2 * t_wait)
		sample = 2 * t_wait;
	flow->think = ((HTBS_HABIT - 1) * flow->think + sample) / HTBS_HABIT;
}

/**
 * htbs_flow_note_service() - learn what the reservation of a flow takes of the device's time
 * @flow: the flow; its service times have changed
 * @cost: bytes charged for its last request
 * @least: the least that the device takes for that request, including the time after it
 *	completed, ns
 */
void htbs_flow_note_service(struct htbs_flow *flow, u32 cost, u64 least)
{
	struct htbs_pool *pool = flow->pool;
	u64 step = htbs_pace_step(&pool->pace, cost), time;
	struct htbs_load load = { };

	htbs_load_add(&load, &flow->service, !htbs_flow_sequential(flow), cost);
	flow->time_alone = load.mean;
	time = load.mean > least ? load.mean : least;
	/*
	 * The need begins at 0: a reservation counts as feasible until it is known not
	 * to be.
	 */
	pool->need -= pool->need / HTBS_FADE;
	pool->need += div64_u64(time * HTBS_NEED_ONE, step ?: 1) / HTBS_FADE;
}

/**
 * htbs_flow_update_load() - update how long the device takes for the requests in flight
 * @flow: the flow
 */
void htbs_flow_update_load(struct htbs_flow *flow)
{
	flow->load = (struct htbs_load){ };
	htbs_load_add(&flow->load, &flow->service, flow->far, flow->bytes);
}

/**
 * htbs_flow_sequential() - whether a flow is sequential
 * @flow: the flow
 *
 * Return: true if most of its last requests were near.
 */
bool htbs_flow_sequential(const struct htbs_flow *flow)
{
	u32 bits = flow->history, count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count > HTBS_HABIT / 2;
}

/**
 * htbs_flow_deadline_of() - until when a request has to be served, pending or in flight
 * @flow: the flow; not the background
 * @arrived: when the request arrived, real ns
 * @start: from when on it is entitled, real ns
 *
 * Return: real ns.
 */
u64 htbs_flow_deadline_of(const struct htbs_flow *flow, u64 arrived, u64 start)
{
	const struct htbs_pool *pool = flow->pool;
	u64 latency = htbs_flow_latency(flow);

	if (pool->relaxed)
		return htbs_later(arrived, pool->served) +
		       (latency > HTBS_HORIZON ? latency : HTBS_HORIZON);
	/* A pace that cannot be kept would make late all that other flows are owed. */
	if (htbs_pool_impossible(pool))
		return start + latency;
	return htbs_pace_deadline(&pool->pace, arrived, start);
}

/**
 * htbs_flow_behind() - whether a flow is at or behind its pace
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it is, and its reservation is not impossible.
 */
bool htbs_flow_behind(const struct htbs_flow *flow, u64 now)
{
	return !htbs_pool_impossible(flow->pool) &&
	       !htbs_before(now, htbs_pace_tag(&flow->pool->pace));
}

/**
 * htbs_flow_as_new() - whether an idle flow has all that a new one would have
 * @flow: the flow; it has no requests pending or in flight
 * @now: real time, ns
 *
 * What was learned about the flow, and its share of surplus, do not count.
 *
 * Return: true if it has no cap, and its burst is whole or it has no reservation of its
 * own.
 */
bool htbs_flow_as_new(const struct htbs_flow *flow, u64 now)
{
	return !flow->cap.max &&
	       (htbs_flow_pooled(flow) || !htbs_before(now, htbs_pace_tag(&flow->pool->pace)));
}

/**
 * htbs_flow_share() - how far device time advances the share tag of a flow
 * @flow: the flow
 * @time: ns, up to 2^38
 *
 * A pool has one weight, and its busy flows have equal parts of it.
 *
 * Return: the time over the flow's part of the weight, or of the bandwidth if there is
 * no weight.
 */
u64 htbs_flow_share(const struct htbs_flow *flow, u64 time)
{
	const struct htbs_params *params = &flow->pool->pace.params;
	u64 weight = params->weight * HTBS_WEIGHT_RATE;

	u64 share = div64_u64(time << HTBS_SHARE_SHIFT,
			      weight ?: htbs_params_rate(params));

	return flow->pool->busy > 1 ? flow->pool->busy * share : share;
}

/**
 * htbs_flow_share_of_run() - how far a run of surplus advances the share tag of a flow
 * @flow: the flow
 * @position: what one positioning takes, ns
 *
 * Return: device time over the weight.
 */
u64 htbs_flow_share_of_run(const struct htbs_flow *flow, u64 position)
{
	return htbs_flow_share(flow, HTBS_RUN * position);
}
