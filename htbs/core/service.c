// SPDX-License-Identifier: GPL-2.0
/*
 * Service times.
 *
 * To keep deadlines, HTBS has to know how long the device takes in the worst case, for one request
 * and for many. The longest time that was seen is no answer for many: n times that time is several
 * times longer than n requests ever take. So HTBS estimates mean and deviation, as TCP does for the
 * round-trip time (RFC 6298), and assumes that the deviations of n requests are independent: the
 * variance of a sum is the sum of the variances. In the worst case n requests then take
 *
 *	n * mean + HTBS_MARGIN * sqrt(n) * deviation
 *
 * HTBS_MARGIN mean deviations are four standard deviations of a normal distribution (sqrt(pi / 2) *
 * 4 = 5.01). The positioning time of a drive that seeks at random has no tail, so that is longer
 * than any time ever seen. A device with a tail, such as the disk of a virtual machine, needs a
 * larger margin (margin.c).
 *
 * The caller tells positioning and transfer apart: a request that begins where the last one ended
 * takes no positioning. A drive that orders requests by itself makes both shorter, and the
 * estimates follow.
 */
#include <linux/math.h>
#include <linux/math64.h>

#include <htbs/core/service.h>

/* Transfer time of 1024 bytes to assume for an unknown device, ns. */
#define HTBS_STREAM_FIRST	10240
/* Deviations are squared in units of 1024 ns. */
#define HTBS_VARIANCE_SHIFT	10

/**
 * htbs_service_time_init() - initialise the estimates: nothing is known about the device
 * @time: the estimates
 * @position: the longest positioning to assume, ns
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
 * @time: the estimates
 *
 * Return: ns.
 */
u64 htbs_service_time_longest(const struct htbs_service_time *time)
{
	return time->position + HTBS_MARGIN * time->deviation;
}

/**
 * htbs_service_time_bytes() - what could be transferred while the device positions once
 * @time: the estimates; rounding keeps @time->stream above 0
 *
 * Return: bytes.
 */
u64 htbs_service_time_bytes(const struct htbs_service_time *time)
{
	return div64_u64(time->position << 10, time->stream);
}

/**
 * htbs_service_time_believable() - how much of a time to believe
 * @time: the estimates
 * @took: how long the device took to position for a request, ns
 *
 * A single time says little, however long it is: the drive may have spun up or stalled.
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
 * htbs_service_time_learn() - learn from a completed request
 * @time: the estimates
 * @took: how long the device took for it, ns
 * @bytes: its data; 0: no transfer is subtracted from @took; only if @positioned
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
	/* The first samples count more, because the estimate begins with a guess. */
	if (time->part < HTBS_FADE)
		time->part++;
	htbs_fade(&time->position, took, time->part);
	htbs_fade(&time->deviation, error, time->part);
}

/**
 * htbs_fastest_learn() - learn from a completed request
 * @fastest: the shortest time of its flow
 * @now: real time, ns
 * @took: time since the request was dispatched, ns
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
 * htbs_fastest_time() - what a request takes if it is not delayed
 * @fastest: the shortest time of its flow
 *
 * Return: the shortest time within the last one or two HTBS_MEMORY, ns; 0: not known.
 */
u64 htbs_fastest_time(const struct htbs_fastest *fastest)
{
	return fastest->latest < fastest->before ? fastest->latest :
						   fastest->before;
}

/**
 * htbs_load_add() - add requests to a load
 * @load: the load
 * @time: estimates of their service times
 * @times: how often the device positions for them
 * @bytes: their data
 *
 * A sequential flow needs a positioning only for the first of many requests.
 */
void htbs_load_add(struct htbs_load *load, const struct htbs_service_time *time,
		   u32 times, u64 bytes)
{
	u64 deviation = time->deviation >> HTBS_VARIANCE_SHIFT;

	load->mean += times * time->position + (bytes * time->stream >> 10);
	load->variance += times * deviation * deviation;
}

/**
 * htbs_load_margin() - how much longer than the mean a load takes in the worst case
 * @variance: the variance of the load, in (1024 ns)^2
 * @margin: in mean deviations, in units of 1/HTBS_MARGIN_ONE
 *
 * Return: ns.
 */
u64 htbs_load_margin(u64 variance, u32 margin)
{
	return margin * (int_sqrt(variance) << HTBS_VARIANCE_SHIFT) /
	       HTBS_MARGIN_ONE;
}
