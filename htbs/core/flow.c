// SPDX-License-Identifier: GPL-2.0
/*
 * What one reservation's requests have shown of its ways.
 *
 * Is it sequential: a short history, not one bit, so that one stray request
 * does not end anticipation for ever.  How long does it think: a mean of the
 * times from a completion to its next request.
 */
#include <linux/math64.h>

#include <htbs/core/curve.h>
#include <htbs/core/flow.h>

/*
 * A wait lasts this many times the mean think time, as the next one may be longer,
 * but this part of T_wait at least.  Under the rule of slack.
 */
#define HTBS_WAIT_THINKS	4
#define HTBS_WAIT_LEAST		16

/* The weight of a new think time in the mean is 1/8. */
#define HTBS_THINK_WEIGHT	8

/**
 * htbs_flow_note_dispatch() - a request is dispatched
 * @flow: its reservation
 * @extent: the request
 *
 * Return: true if it goes on where the one before ended.
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
 * htbs_flow_note_arrival() - a request arrives
 * @flow: its reservation
 * @now: real time, ns
 * @t_wait: longest wait, ns
 *
 * Learn how long it took from the last completion, if there was nothing else.
 */
void htbs_flow_note_arrival(struct htbs_flow *flow, u64 now, u64 t_wait)
{
	u64 sample;

	if (!flow->known || flow->pending || flow->in_flight)
		return;

	/* A long pause says no more than a short one that was too long. */
	sample = now - flow->idle_since;
	if (sample > 2 * t_wait)
		sample = 2 * t_wait;
	flow->think = ((HTBS_THINK_WEIGHT - 1) * flow->think + sample) /
		      HTBS_THINK_WEIGHT;
}

/**
 * htbs_flow_sequential() - are most of its last requests
 * @flow: the reservation
 *
 * Return: true if they are.
 */
bool htbs_flow_sequential(const struct htbs_flow *flow)
{
	u32 bits = flow->history, count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count >= HTBS_SEQ_MIN;
}

/**
 * htbs_flow_anticipates() - is it worth keeping the device for
 * @flow: a reservation that has nothing pending
 * @think: a flow that thinks as long is not waited for, ns
 * @deep: whatever it has in flight, not one request at most
 *
 * Return: true if its next request is likely to come soon and close by.
 */
bool htbs_flow_anticipates(const struct htbs_flow *flow, u64 think, bool deep)
{
	return flow->think < think && flow->sync &&
	       (deep || flow->in_flight <= 1) && htbs_flow_sequential(flow);
}

/**
 * htbs_flow_max_wait() - how long its next request is worth waiting for
 * @flow: the reservation
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
 * htbs_flow_burst() - how many of its pending requests may be due at once
 * @flow: the reservation
 *
 * Return: requests, no more than its burst has room for.
 */
u32 htbs_flow_burst(const struct htbs_flow *flow)
{
	const struct htbs_params *params = &flow->curve.params;
	u32 cost = params->bw ? flow->cost : HTBS_COST_MIN;

	if ((u64)flow->pending * cost <= params->burst)
		return flow->pending;
	return params->burst > cost ? div64_u64(params->burst, cost) : 1;
}
