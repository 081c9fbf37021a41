// SPDX-License-Identifier: GPL-2.0
/*
 * How long a device that seeks takes to position, by queue depth.
 *
 * A drive that orders its requests by itself positions faster the more requests it can
 * choose from. So the mean of what it has served says little about its last requests: it
 * has fewer and fewer to choose from, and serves the last one alone. Nor is it known which
 * request is the last one, because the drive decides that. So HTBS learns the positioning
 * time by the number of requests that the drive has.
 */
#include <linux/log2.h>

#include <htbs/core/depth.h>

/**
 * htbs_depth_init() - nothing is known about the device
 * @depth: the estimates
 * @position: how long it is believed to take to position at most, ns
 */
void htbs_depth_init(struct htbs_depth *depth, u64 position)
{
	u32 step;

	for (step = 0; step < HTBS_DEPTH_STEPS; step++)
		htbs_service_time_init(&depth->with[step], position);
}

/**
 * htbs_depth_learn() - a request has completed for which the device had to position
 * @depth: the estimates
 * @in_flight: how many requests the device had, this one included; not 0
 * @took: how long the device took for it, without its transfer, ns
 */
void htbs_depth_learn(struct htbs_depth *depth, u32 in_flight, u64 took)
{
	u32 step = ilog2(in_flight);

	if (step >= HTBS_DEPTH_STEPS)
		step = HTBS_DEPTH_STEPS - 1;
	htbs_service_time_learn(&depth->with[step], took, 0, true);
}

/**
 * htbs_depth_add() - add the extra time that the last requests take
 * @depth: the estimates
 * @in_flight: how many requests the device has; not 0
 * @mean: how long it takes to position on average, ns
 * @load: the load, in which each of these requests counts with that mean
 */
void htbs_depth_add(const struct htbs_depth *depth, u32 in_flight, u64 mean,
		    struct htbs_load *load)
{
	u32 step, first, count;
	u64 position;

	/* Add the deviation of the last request, but not its mean. */
	htbs_load_add(load, &depth->with[0], 1, 0);
	load->mean -= depth->with[0].position;
	for (step = 0; step < HTBS_DEPTH_STEPS && in_flight >> step; step++) {
		position = depth->with[step].position;
		first = 1U << step;
		count = in_flight < 2 * first ? in_flight - first + 1 : first;
		if (position > mean)
			load->mean += count * (position - mean);
	}
}
