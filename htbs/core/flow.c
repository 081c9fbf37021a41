// SPDX-License-Identifier: GPL-2.0
/*
 * What the requests of a flow tell about its next one.
 *
 * Sequential is judged by a short history, not one bit, so that one stray
 * request does not end anticipation for ever. The think time is the mean time
 * from a completion to the next request.
 */
#include <linux/math64.h>

#include <htbs/core/curve.h>
#include <htbs/core/flow.h>

/*
 * With the rule of slack a wait lasts this many mean think times, as the next
 * one may be longer, but at least this part of T_wait.
 */
#define HTBS_WAIT_THINKS	4
#define HTBS_WAIT_LEAST		16

/* The inverse weight of a new think time in the mean. */
#define HTBS_THINK_WEIGHT	8

/**
 * htbs_flow_note_dispatch() - learn from a dispatched request
 * @flow: its flow
 * @extent: the request
 *
 * Return: true if the request is sequential.
 */
bool htbs_flow_note_dispatch(struct htbs_flow *flow,
			     const struct htbs_extent *extent)
{
	bool sequential = flow->known &&
			  extent->pos - flow->next_pos <= HTBS_SEQ_GAP;

	flow->history = flow->history << 1 | sequential;
	flow->next_pos = extent->pos + extent->sectors;
	flow->sync = extent->sync;
	flow->known = true;
	return sequential;
}

/**
 * htbs_flow_note_arrival() - learn the think time from an arriving request
 * @flow: its flow
 * @now: real time, ns
 * @t_wait: longest wait, ns
 *
 * Nothing is learned if the flow had requests pending or in flight.
 */
void htbs_flow_note_arrival(struct htbs_flow *flow, u64 now, u64 t_wait)
{
	u64 sample;

	if (!flow->known || flow->pending || flow->in_flight)
		return;

	/* Any pause that is too long to wait for counts alike. */
	sample = now - flow->idle_since;
	if (sample > 2 * t_wait)
		sample = 2 * t_wait;
	flow->think = ((HTBS_THINK_WEIGHT - 1) * flow->think + sample) /
		      HTBS_THINK_WEIGHT;
}

/**
 * htbs_flow_sequential() - whether most of the last requests were sequential
 * @flow: the flow
 *
 * Return: true if they were.
 */
bool htbs_flow_sequential(const struct htbs_flow *flow)
{
	u32 bits = flow->history, count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count >= HTBS_SEQ_MIN;
}

/**
 * htbs_flow_anticipates() - whether the device should be idled for a flow
 * @flow: a flow with nothing pending
 * @think: the mean think time has to be shorter, ns
 * @deep: any number of requests may be in flight, not only one
 *
 * Return: true if its next request is likely to arrive soon and to be near.
 */
bool htbs_flow_anticipates(const struct htbs_flow *flow, u64 think, bool deep)
{
	return flow->think < think && flow->sync &&
	       (deep || flow->in_flight <= 1) && htbs_flow_sequential(flow);
}

/**
 * htbs_flow_max_wait() - how long to wait for a flow's next request
 * @flow: the flow
 * @t_wait: longest wait, ns
 *
 * Return: ns.
 */
u64 htbs_flow_max_wait(const struct htbs_flow *flow, u64 t_wait)
{
	u64 patience = HTBS_WAIT_THINKS * flow->think;
	u64 least = t_wait / HTBS_WAIT_LEAST;

	if (patience > t_wait)
		return t_wait;
	return patience > least ? patience : least;
}

/**
 * htbs_flow_burst() - how many of a flow's pending requests may be due at once
 * @flow: the flow
 *
 * Return: requests, no more than the burst holds.
 */
u32 htbs_flow_burst(const struct htbs_flow *flow)
{
	const struct htbs_params *params = &flow->curve.params;
	u32 cost = params->bw ? flow->cost : HTBS_COST_MIN;

	if ((u64)flow->pending * cost <= params->burst)
		return flow->pending;
	return params->burst > cost ? div64_u64(params->burst, cost) : 1;
}
