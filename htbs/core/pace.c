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
 * Time that a flow waits for the device does not move the tag.  A flow may be behind its tag, for
 * instance a reader with one request at a time after a late completion.  The deadline of its next
 * request is earlier by that time, though not before its arrival.  So the flow catches up by up to
 * a latency: a request in time puts it behind by no more.
 *
 * A flow that was idle does not save up: when it becomes busy again the tag is raised
 * to now.  But one that reads with one request at a time is idle between any two
 * requests.  If the tag were raised each time, the time that the device took would be
 * lost.  It is raised only if the flow would have fallen behind by itself: if its idle time and its
 * own service time are no shorter than the time by which the tag was moved on while the flow was
 * busy, plus the time by which it was ahead when the flow became busy. So a request that is
 * dispatched as surplus, and completes after the tag, costs its flow no time either.
 *
 * A flow that was busy for long was served meanwhile: that it had its reservation for five seconds
 * says nothing of why it is idle for five. So at most what the tag was moved on within the last two
 * latencies before its last request arrived counts: no more than one latency is kept anyway.
 *
 * A reservation may promise operations, beside bytes or instead of them.  They have a
 * curve of their own, on which a request of any size counts as HTBS_COST_MIN bytes, at
 * a rate of iops * HTBS_COST_MIN.  So the burst is burst / HTBS_COST_MIN operations.
 * A request is entitled when both curves say so.
 */
#include <linux/math64.h>

#include <htbs/core/pace.h>

static u64 htbs_one_step(const struct htbs_pace_curve *curve, u64 cost)
{
	return curve->rate ? div64_u64(cost * HTBS_SECOND, curve->rate) : 0;
}

/* When a request is entitled by one curve: before the tag, by its burst. */
static u64 htbs_one_start(const struct htbs_pace_curve *curve, u64 burst,
			  u64 arrived, u32 cost)
{
	u64 early = burst > cost ? burst - cost : 0;

	if (!curve->rate)
		return arrived;
	return htbs_later(arrived, curve->tag - div64_u64(early * HTBS_SECOND,
							  curve->rate));
}

static void htbs_one_raise(struct htbs_pace_curve *curve, u64 least)
{
	if (htbs_before(curve->tag, least)) {
		curve->tag = least;
		curve->rest = 0;
	}
}

static void htbs_one_busy(struct htbs_pace_curve *curve, u64 now, u64 idle,
			  u64 service, u64 least)
{
	bool behind_by_itself = idle + service >= curve->tag - curve->busy_tag;

	htbs_one_raise(curve, behind_by_itself ? now : least);
	curve->busy_tag = htbs_before(curve->tag, now) ? curve->tag : now;
}

static __always_inline void htbs_one_mark(struct htbs_pace_curve *curve, u64 now, u64 most)
{
	if (now - curve->busy_tag > most)
		curve->busy_tag = htbs_before(curve->tag, now) ? curve->tag : now;
}

static void htbs_one_charge(struct htbs_pace_curve *curve, u64 least, u32 cost)
{
	u64 exact, step;

	if (!curve->rate)
		return;
	htbs_one_raise(curve, least);
	exact = cost * HTBS_SECOND + curve->rest;
	step = div64_u64(exact, curve->rate);
	curve->tag += step;
	curve->rest = exact - step * curve->rate;
}

/**
 * htbs_pace_init() - a flow has all of its burst
 * @pace: the pace
 * @params: the reservation; valid
 * @now: real time, ns
 */
void htbs_pace_init(struct htbs_pace *pace, const struct htbs_params *params,
		    u64 now)
{
	*pace = (struct htbs_pace){
		.params	= *params,
		.bytes	= { .rate = params->bw, .tag = now, .busy_tag = now },
		.ops	= {
			.rate		= (u64)params->iops * HTBS_COST_MIN,
			.tag		= now,
			.busy_tag	= now,
		},
	};
}

/**
 * htbs_pace_tag() - when the next request would start if all came at the rate
 * @pace: the pace
 *
 * Return: ns; by the curve that is further ahead.
 */
u64 htbs_pace_tag(const struct htbs_pace *pace)
{
	if (!pace->ops.rate)
		return pace->bytes.tag;
	if (!pace->bytes.rate)
		return pace->ops.tag;
	return htbs_later(pace->bytes.tag, pace->ops.tag);
}

/**
 * htbs_pace_step() - how long the reservation takes for a request
 * @pace: the pace
 * @cost: what the request is charged, bytes
 *
 * Return: ns; by the slower curve.
 */
u64 htbs_pace_step(const struct htbs_pace *pace, u32 cost)
{
	u64 bytes = htbs_one_step(&pace->bytes, cost);
	u64 ops = htbs_one_step(&pace->ops, HTBS_COST_MIN);

	return bytes > ops ? bytes : ops;
}

/**
 * htbs_pace_span() - how long the reservation takes for some requests
 * @pace: the pace
 * @paced: the requests; less than 16 GiB
 *
 * Return: ns; by the slower curve.
 */
u64 htbs_pace_span(const struct htbs_pace *pace, const struct htbs_paced *paced)
{
	u64 bytes = htbs_one_step(&pace->bytes,
				  (u64)paced->units * HTBS_PACED_UNIT);
	u64 ops = htbs_one_step(&pace->ops, (u64)paced->ops * HTBS_COST_MIN);

	return bytes > ops ? bytes : ops;
}

/**
 * htbs_pace_start() - when a request is entitled
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @cost: what it is charged, bytes
 *
 * Return: ns.
 */
__always_inline u64 htbs_pace_start(const struct htbs_pace *pace, u64 arrived, u32 cost)
{
	u64 burst = pace->params.burst;
	u64 start = htbs_one_start(&pace->bytes, burst, arrived, cost);

	return htbs_one_start(&pace->ops, burst, start, HTBS_COST_MIN);
}

/**
 * htbs_pace_deadline() - until when a request has to be served
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @start: when it is entitled, ns
 *
 * Return: the latency after it is entitled; earlier by as much as the flow is behind
 * its tag, though not before it arrived; ns.
 */
u64 htbs_pace_deadline(const struct htbs_pace *pace, u64 arrived, u64 start)
{
	u64 latency = pace->params.latency, tag = htbs_pace_tag(pace);

	if (htbs_before(tag, arrived))
		return htbs_later(tag + latency, arrived);
	return start + latency;
}

/**
 * htbs_pace_busy() - a request arrives, and the flow had none
 * @pace: the pace
 * @now: real time, ns
 * @idle: how long the flow had none, ns
 * @service: what the device takes for a request of the flow, ns
 */
__always_inline void htbs_pace_busy(struct htbs_pace *pace, u64 now, u64 idle, u64 service)
{
	u64 least = now - pace->params.latency;

	htbs_one_busy(&pace->bytes, now, idle, service, least);
	if (pace->ops.rate)
		htbs_one_busy(&pace->ops, now, idle, service, least);
}

/**
 * htbs_pace_mark() - a request arrives, and the flow has others
 * @pace: the pace
 * @now: real time, ns
 *
 * A busy period counts from two latencies ago on, at most.
 */
__always_inline void htbs_pace_mark(struct htbs_pace *pace, u64 now)
{
	u64 most = 2 * pace->params.latency;

	htbs_one_mark(&pace->bytes, now, most);
	if (pace->ops.rate)
		htbs_one_mark(&pace->ops, now, most);
}

/**
 * htbs_pace_charge() - a request is dispatched that is charged to the pace
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @cost: what it is charged, bytes
 *
 * It was entitled; or, in an overload, will be before long. What a tag is behind by more than a
 * latency is lost.
 */
void htbs_pace_charge(struct htbs_pace *pace, u64 arrived, u32 cost)
{
	u64 least = arrived - pace->params.latency;

	htbs_one_charge(&pace->bytes, least, cost);
	htbs_one_charge(&pace->ops, least, HTBS_COST_MIN);
}
