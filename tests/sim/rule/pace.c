// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival curves in virtual scheduling form (the generic cell rate algorithm), but
 * for what is dispatched, not for what arrives.
 *
 * A flow has one tag, whatever it has pending.  A request that was reserved moves it
 * on by its cost over the bandwidth; surplus does not.  With a burst of sigma, a
 * request of c bytes is entitled from
 *
 *	max(arrival, tag - (sigma - c) / bandwidth)
 *
 * and is due the latency later.  That is the arrival curve sigma + bandwidth * t.
 *
 * Time that a flow waits for the device does not move the tag.  A flow that is
 * behind its tag, as a reader with one request at a time is that was answered late,
 * has as much less time for its next request, down to none.  So what it lost it gets
 * back, up to HTBS_PACE_DEBT latencies' worth.
 *
 * A flow that was idle does not save up: when it becomes busy again the tag is raised
 * to now.  But one that reads with one request at a time is idle between any two
 * requests.  If the tag were raised each time, the time that the device took would be
 * lost.  It is raised only if the flow would have fallen behind by itself: if it was
 * idle, and its own service takes, for as long as the tag was moved on while it was
 * busy.
 */
#include <linux/math64.h>

#include "pace.h"

#define HTBS_SECOND		1000000000ULL	/* ns */
/*
 * How far a flow may be behind its tag, latencies.  One in-time request puts it behind
 * by up to one; that more is due is only seen with the next.
 */
#define HTBS_PACE_DEBT		2

static u64 htbs_later(u64 a, u64 b)
{
	return htbs_before(a, b) ? b : a;
}

/**
 * htbs_pace_step() - how long the bandwidth takes for a request
 * @pace: the pace
 * @cost: what the request is charged, bytes
 *
 * Return: ns.
 */
u64 htbs_pace_step(const struct htbs_pace *pace, u32 cost)
{
	return div64_u64(cost * HTBS_SECOND, pace->params.bw);
}

/* By how much the burst lets a request start before the tag. */
static u64 htbs_pace_tolerance(const struct htbs_pace *pace, u32 cost)
{
	if (pace->params.burst <= cost)
		return 0;
	return div64_u64((pace->params.burst - cost) * HTBS_SECOND,
			 pace->params.bw);
}

/**
 * htbs_pace_start() - when a request is entitled
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @cost: what it is charged, bytes
 *
 * Return: ns.
 */
u64 htbs_pace_start(const struct htbs_pace *pace, u64 arrived, u32 cost)
{
	return htbs_later(arrived, pace->tag - htbs_pace_tolerance(pace, cost));
}

/**
 * htbs_pace_deadline() - until when a request has to be served
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @cost: what it is charged, bytes
 *
 * Return: the latency after it is entitled; earlier by as much as the flow is behind
 * its tag, though not before it arrived; ns.
 */
u64 htbs_pace_deadline(const struct htbs_pace *pace, u64 arrived, u32 cost)
{
	u64 latency = pace->params.latency;

	if (htbs_before(pace->tag, arrived))
		return htbs_later(pace->tag + latency, arrived);
	return htbs_pace_start(pace, arrived, cost) + latency;
}

/**
 * htbs_pace_due_together() - how many requests may have the head's deadline
 * @pace: the pace
 * @deadline: the head's, ns
 * @cost: what the head is charged, bytes; the others are taken for as large
 * @pending: how many are pending, with the head
 *
 * Return: the requests of @pending that are entitled with the head; at least 1.
 */
u32 htbs_pace_due_together(const struct htbs_pace *pace, u64 deadline, u32 cost,
			   u32 pending)
{
	u64 start = deadline - pace->params.latency;
	u64 first = pace->tag - htbs_pace_tolerance(pace, cost);
	u64 step = htbs_pace_step(pace, cost), more;

	if (htbs_before(start, first) || !step)
		return 1;
	more = div64_u64(start - first, step);
	return more < pending ? more + 1 : pending;
}

/**
 * htbs_pace_busy() - a request arrives, and the flow had none
 * @pace: the pace
 * @now: real time, ns
 * @idle: how long the flow had none, ns
 * @service: what the device takes for a request of the flow, ns
 */
void htbs_pace_busy(struct htbs_pace *pace, u64 now, u64 idle, u64 service)
{
	u64 moved = pace->tag - pace->busy_tag;
	u64 least = now;

	if (idle + service < moved)
		least = now - HTBS_PACE_DEBT * pace->params.latency;
	pace->tag = htbs_later(pace->tag, least);
	pace->busy_tag = pace->tag;
}

/**
 * htbs_pace_charge() - a request is dispatched that was entitled
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @cost: what it is charged, bytes
 *
 * What the tag is behind by more than HTBS_PACE_DEBT latencies is lost.
 */
void htbs_pace_charge(struct htbs_pace *pace, u64 arrived, u32 cost)
{
	u64 least = arrived - HTBS_PACE_DEBT * pace->params.latency;

	pace->tag = htbs_later(pace->tag, least) + htbs_pace_step(pace, cost);
}
