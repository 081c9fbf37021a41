// SPDX-License-Identifier: GPL-2.0
/*
 * What a device that seeks takes to position, by queue depth.
 *
 * A drive that orders its requests by itself positions for the shorter the more it has to
 * choose from. So the mean of what it has served says little of its last requests: it has
 * fewer and fewer to choose from, and serves the last one alone. And which one is last the
 * drive decides. So what it takes to position is learned by how many requests it has.
 */
#include <linux/log2.h>

#include <htbs/core/depth.h>

/**
 * htbs_depth_init() - nothing is known of the device
 * @depth: the estimates
 * @position: what it is believed to take to position at most, ns
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
 * @took: how long the device took for it, but for its transfer, ns
 */
void htbs_depth_learn(struct htbs_depth *depth, u32 in_flight, u64 took)
{
	u32 step = ilog2(in_flight);

	if (step >= HTBS_DEPTH_STEPS)
		step = HTBS_DEPTH_STEPS - 1;
	htbs_service_time_learn(&depth->with[step], took, 0, true);
}

/**
 * htbs_depth_add() - add what the last requests take longer than on average
 * @depth: the estimates
 * @in_flight: how many requests the device has; not 0
 * @mean: what it takes to position on average, ns
 * @load: the load, in which each of them counts with a mean
 */
void htbs_depth_add(const struct htbs_depth *depth, u32 in_flight, u64 mean,
		    struct htbs_load *load)
{
	u32 step, first, count;
	u64 position;

	/* The last one's deviation, too. */
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
