// SPDX-License-Identifier: GPL-2.0
/*
 * Service times.
 *
 * Deadlines need to know how long the device takes at worst for one request and
 * for many.  A maximum of what was seen is no answer for many: the maximum of one,
 * times n, is several times what n requests ever take.  So mean and deviation are
 * estimated, as TCP does for the round-trip time (RFC 6298), and the deviations of
 * n requests are taken for independent: the variance of a sum is the sum of the
 * variances.  That makes n requests take
 *
 *	n * mean + HTBS_MARGIN * sqrt(n) * deviation
 *
 * at worst.  HTBS_MARGIN mean deviations are four standard deviations of a normal
 * distribution (sqrt(pi / 2) * 4 = 5.01).  The positioning time of a drive that
 * seeks at random has no tail, so that is more than the longest ever seen.  What has
 * a tail, as a hypervisor, needs a larger margin (margin.c).
 *
 * The caller tells positioning and transfer apart: a request that begins where the
 * last one ended takes no positioning.  A drive that orders by itself makes both
 * shorter, and the estimates follow.
 */
#include <linux/math.h>
#include <linux/math64.h>

#include <htbs/core/service.h>

/* What a device that was never seen is believed to take for 1024 bytes, ns. */
#define HTBS_STREAM_FIRST	10240
/* Deviations are squared in units of 1024 ns. */
#define HTBS_VARIANCE_SHIFT	10

/**
 * htbs_service_time_init() - nothing is known of the device yet
 * @time: the estimate
 * @position: what it is believed to take to position at most, ns
 */
void htbs_service_time_init(struct htbs_service_time *time, u64 position)
{
	time->position = position / 2;
	time->deviation = position / (2 * HTBS_MARGIN);
	time->stream = HTBS_STREAM_FIRST;
	time->part = HTBS_HABIT;
}

/**
 * htbs_service_time_longest() - the longest that one positioning takes
 * @time: the estimate
 *
 * Return: ns.
 */
u64 htbs_service_time_longest(const struct htbs_service_time *time)
{
	return time->position + HTBS_MARGIN * time->deviation;
}

/**
 * htbs_service_time_bytes() - what could be transferred while the device positions once
 * @time: the estimate; what is rounded keeps @time->stream above 0
 *
 * Return: bytes.
 */
u64 htbs_service_time_bytes(const struct htbs_service_time *time)
{
	return div64_u64(time->position << 10, time->stream);
}

/**
 * htbs_service_time_believable() - how much of a time is the request's own
 * @time: the estimate
 * @took: how long the device took to position for a request, ns
 *
 * One time, however long, says little: the drive may have had to spin up, or has stalled.
 *
 * Return: ns.
 */
u64 htbs_service_time_believable(const struct htbs_service_time *time, u64 took)
{
	u64 most = 2 * htbs_service_time_longest(time) + 1000000;

	if (most > HTBS_HORIZON)
		most = HTBS_HORIZON;
	return took < most ? took : most;
}

/**
 * htbs_service_time_learn() - a request has completed
 * @time: the estimate
 * @took: how long the device took for it, ns
 * @bytes: its data; not 0, but if @positioned, where @took may be without a transfer
 * @positioned: the device had to position for it
 */
void htbs_service_time_learn(struct htbs_service_time *time, u64 took, u32 bytes,
			     bool positioned)
{
	u64 transfer = bytes * time->stream >> 10, error;

	if (!positioned) {
		took = htbs_service_time_believable(time, took);
		htbs_fade(&time->stream, div64_u64(took << 10, bytes),
			  HTBS_FADE);
		return;
	}
	took = htbs_service_time_believable(time, took > transfer ? took - transfer : 0);
	error = took > time->position ? took - time->position :
					time->position - took;
	/* The first times count as in a mean: what is believed before is a guess. */
	if (time->part < HTBS_FADE)
		time->part++;
	htbs_fade(&time->position, took, time->part);
	htbs_fade(&time->deviation, error, time->part);
}

/**
 * htbs_fastest_learn() - a request has completed
 * @fastest: that of its flow
 * @now: real time, ns
 * @took: from its dispatch on, ns
 */
void htbs_fastest_learn(struct htbs_fastest *fastest, u64 now, u64 took)
{
	u64 age = now - fastest->since;

	took = took ?: 1;	/* 0: none is known */
	if (!fastest->latest || age > HTBS_MEMORY) {
		fastest->before = fastest->latest && age <= 2 * HTBS_MEMORY ?
				  fastest->latest : took;
		fastest->latest = took;
		fastest->since = now;
	}
	if (took < fastest->latest)
		fastest->latest = took;
}

/**
 * htbs_fastest_time() - what a request takes if nothing is in its way
 * @fastest: that of its flow
 *
 * Return: the shortest time of the last one or two HTBS_MEMORY, ns; 0: none is known.
 */
u64 htbs_fastest_time(const struct htbs_fastest *fastest)
{
	return fastest->latest < fastest->before ? fastest->latest :
						   fastest->before;
}

/**
 * htbs_load_add() - add requests to a load
 * @load: the load
 * @time: what the device takes for one
 * @times: how often the device positions for them
 * @bytes: their data
 *
 * A sequential flow needs no positioning but for the first of many requests.
 */
void htbs_load_add(struct htbs_load *load, const struct htbs_service_time *time,
		   u32 times, u64 bytes)
{
	u64 deviation = time->deviation >> HTBS_VARIANCE_SHIFT;

	load->mean += times * time->position + (bytes * time->stream >> 10);
	load->variance += times * deviation * deviation;
}

/**
 * htbs_load_margin() - how much longer than the mean a load takes at worst
 * @variance: of the load, in (1024 ns)^2
 * @margin: mean deviations, in units of HTBS_MARGIN_ONE
 *
 * Return: ns.
 */
u64 htbs_load_margin(u64 variance, u32 margin)
{
	return margin * (int_sqrt(variance) << HTBS_VARIANCE_SHIFT) /
	       HTBS_MARGIN_ONE;
}
