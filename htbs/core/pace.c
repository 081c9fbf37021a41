// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival curves in virtual scheduling form (the generic cell rate algorithm). They apply to the
 * requests that are dispatched, not to those that arrive.
 *
 * A pool has one tag, no matter how many requests it has pending. A request that is entitled when
 * it is dispatched moves the tag on by its cost over the bandwidth. Any other request does not move
 * the tag. With a burst of sigma, a request of c bytes is entitled from
 *
 *	max(arrival, tag - (sigma - c) / bandwidth)
 *
 * and is due one latency later. That is the arrival curve sigma + bandwidth * t.
 *
 * The tag does not move while a pool waits for the device. So a pool may fall behind its tag, for
 * instance a reader with one request at a time after a late completion. The deadline of its next
 * request is then earlier by as much as the pool is behind, though not before the request arrives.
 * So the pool catches up by up to one latency. That is enough, because a request that completes in
 * time puts the pool behind by no more than that.
 *
 * An idle pool does not save up bandwidth: when it becomes busy again, the tag is raised to now.
 * But a reader with one request at a time is idle between any two requests. If the tag were raised
 * each time, the reader would lose the time that the device took. So the tag is raised to now only
 * if the pool would have fallen behind by itself: if its idle time plus its own service time is at
 * least as long as the time by which the tag moved on while the pool was busy, plus the time by
 * which the tag was ahead when the pool became busy. Otherwise the tag is raised no further than to
 * one latency ago. So a request that is dispatched as surplus, and completes after the tag, costs
 * its pool no time either.
 *
 * At most the last two latencies before the last arrival count as busy. A pool that was busy for
 * longer was served meanwhile: that it had its reservation for five seconds does not explain why it
 * is idle for five seconds. More would not matter anyway, because the tag keeps no more than one
 * latency.
 *
 * A reservation may promise operations, in addition to bytes or instead of them. Operations have a
 * curve of their own, on which a request of any size counts as HTBS_COST_MIN bytes, at a rate of
 * iops * HTBS_COST_MIN. So the burst is burst / HTBS_COST_MIN operations. A request is entitled
 * when it is entitled on both curves.
 */
#include <linux/math64.h>

#include <htbs/core/pace.h>

static u64 htbs_one_step(const struct htbs_pace_curve *curve, u64 cost)
{
	return curve->rate ? div64_u64(cost * HTBS_SECOND, curve->rate) : 0;
}

/*
 * Returns when a request is entitled on one curve: before the tag by as much as the burst allows,
 * but not before it arrived.
 */
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
 * htbs_pace_init() - initialise a pace; the pool has its whole burst
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
 * Return: ns; on the curve that is further ahead.
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
 * htbs_pace_step() - how far a request moves the pace on
 * @pace: the pace
 * @cost: what the request is charged, bytes
 *
 * Return: ns; on the slower curve.
 */
u64 htbs_pace_step(const struct htbs_pace *pace, u32 cost)
{
	u64 bytes = htbs_one_step(&pace->bytes, cost);
	u64 ops = htbs_one_step(&pace->ops, HTBS_COST_MIN);

	return bytes > ops ? bytes : ops;
}

/**
 * htbs_pace_span() - how far some requests move the pace on
 * @pace: the pace
 * @paced: the requests; less than 16 GiB in all
 *
 * Return: ns; on the slower curve.
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
 * htbs_pace_deadline() - by when a request has to be served
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @start: when it is entitled, ns
 *
 * Return: one latency after @start; earlier by as much as the pool is behind its tag, though not
 *	before @arrived; ns.
 */
u64 htbs_pace_deadline(const struct htbs_pace *pace, u64 arrived, u64 start)
{
	u64 latency = pace->params.latency, tag = htbs_pace_tag(pace);

	if (htbs_before(tag, arrived))
		return htbs_later(tag + latency, arrived);
	return start + latency;
}

/**
 * htbs_pace_busy() - a request arrives, and the pool had none pending or in flight
 * @pace: the pace
 * @now: real time, ns
 * @idle: how long the pool had none, ns
 * @service: service time of a request of the flow, ns
 */
__always_inline void htbs_pace_busy(struct htbs_pace *pace, u64 now, u64 idle, u64 service)
{
	u64 least = now - pace->params.latency;

	htbs_one_busy(&pace->bytes, now, idle, service, least);
	if (pace->ops.rate)
		htbs_one_busy(&pace->ops, now, idle, service, least);
}

/**
 * htbs_pace_mark() - a request arrives, and the pool has others pending or in flight
 * @pace: the pace
 * @now: real time, ns
 *
 * At most the last two latencies of a busy period count.
 */
__always_inline void htbs_pace_mark(struct htbs_pace *pace, u64 now)
{
	u64 most = 2 * pace->params.latency;

	htbs_one_mark(&pace->bytes, now, most);
	if (pace->ops.rate)
		htbs_one_mark(&pace->ops, now, most);
}

/**
 * htbs_pace_charge() - charge a request that is dispatched to the pace
 * @pace: the pace
 * @arrived: when the request arrived, ns
 * @cost: what it is charged, bytes
 *
 * The request is entitled or, in an overload, will be before long. If the tag is more than one
 * latency before the arrival, it is raised to one latency before it: the time beyond that is lost.
 */
void htbs_pace_charge(struct htbs_pace *pace, u64 arrived, u32 cost)
{
	u64 least = arrived - pace->params.latency;

	htbs_one_charge(&pace->bytes, least, cost);
	htbs_one_charge(&pace->ops, least, HTBS_COST_MIN);
}
