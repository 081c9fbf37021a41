/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a device that seeks takes to position, by queue depth.
 */
#ifndef HTBS_CORE_DEPTH_H
#define HTBS_CORE_DEPTH_H

#include <linux/types.h>

#include <htbs/core/service.h>

/* Queue depths of 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, and 32 requests or more. */
#define HTBS_DEPTH_STEPS	6

/**
 * struct htbs_depth - how long a device takes to position
 * @with: by the number of requests that it can choose from, in powers of two
 */
struct htbs_depth {
	struct htbs_service_time with[HTBS_DEPTH_STEPS];
};

void htbs_depth_init(struct htbs_depth *depth, u64 position);
void htbs_depth_learn(struct htbs_depth *depth, u32 in_flight, u64 took);
void htbs_depth_add(const struct htbs_depth *depth, u32 in_flight, u64 mean,
		    struct htbs_load *load);

#endif /* HTBS_CORE_DEPTH_H */
