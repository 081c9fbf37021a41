/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Service times: how long the device took for single requests, and how long it will take for
 * several.
 */
#ifndef HTBS_CORE_SERVICE_H
#define HTBS_CORE_SERVICE_H

#include <linux/types.h>

/*
 * No choice looks further ahead than this, a wait for a completion allows for no longer latency,
 * and no positioning is assumed to take longer. After a conforming request of a flow another one
 * is expected for at least this long.
 */
#define HTBS_HORIZON		1000000000ULL	/* ns: 1 s */

/*
 * The shortest time that matters: a hold may last this long on any device, the quota saves up
 * tokens for this long, and the estimates of a device that does not seek are updated once in this
 * time.
 */
#define HTBS_MOMENT		1000000ULL	/* ns: 1 ms */

/* A run of surplus lasts for this many of the longest positionings while others wait. */
#define HTBS_RUN		8

/*
 * If a flow is dispatched by position, one in this many requests is its oldest one. The nearest
 * owed head is looked for among this many.
 */
#define HTBS_SWEEP		16

/*
 * Inverse weights of a new sample in a mean: HTBS_FADE for what does not change soon; HTBS_HABIT
 * for what a task does, and for means that begin with a guess.
 */
#define HTBS_FADE		64
#define HTBS_HABIT		8

/*
 * What a flow was seen to do is forgotten after this time, as by a mean with one sample per second.
 */
#define HTBS_MEMORY		(HTBS_FADE * HTBS_HORIZON)

/*
 * If a device has no tail, the worst case is this many mean deviations above the mean. Margins are
 * in units of 1/HTBS_MARGIN_ONE.
 */
#define HTBS_MARGIN		5
#define HTBS_MARGIN_ONE		256

/**
 * struct htbs_service_time - estimates of service times
 * @position: mean time to position, if a request is not near to the one before, ns
 * @deviation: mean absolute deviation of @position, ns
 * @stream: mean time to transfer 1024 bytes, ns
 * @part: inverse weight of the last sample in @position and @deviation
 */
struct htbs_service_time {
	u64 position;
	u64 deviation;
	u64 stream;
	u32 part;
};

/**
 * htbs_service_time_known() - whether the estimates are based on enough requests
 * @time: the estimates
 *
 * Return: true if a new sample has its final weight, 1/HTBS_FADE.
 */
static inline bool htbs_service_time_known(const struct htbs_service_time *time)
{
	return time->part == HTBS_FADE;
}

/**
 * struct htbs_fastest - the shortest time that a request of a flow took recently
 * @latest: since @since, ns; 0: none was seen
 * @before: in the interval before, ns
 * @since: beginning of the interval, ns
 */
struct htbs_fastest {
	u64 latest;
	u64 before;
	u64 since;
};

/**
 * struct htbs_load - service time of some requests
 * @mean: the sum of the means, ns
 * @variance: the sum of the squared deviations, in (1024 ns)^2
 */
struct htbs_load {
	u64 mean;
	u64 variance;
};

/**
 * htbs_fade() - move an estimate towards a new value
 * @estimate: the estimate
 * @value: the value
 * @part: inverse of the part of the difference by which the estimate moves
 */
static inline void htbs_fade(u64 *estimate, u64 value, u32 part)
{
	*estimate += ((s64)value - (s64)*estimate) / (s64)part;
}

void htbs_service_time_init(struct htbs_service_time *time, u64 position);
void htbs_service_time_learn(struct htbs_service_time *time, u64 took, u32 bytes,
			     bool positioned);
u64 htbs_service_time_believable(const struct htbs_service_time *time, u64 took);
u64 htbs_service_time_longest(const struct htbs_service_time *time);
u64 htbs_service_time_bytes(const struct htbs_service_time *time);

void htbs_fastest_learn(struct htbs_fastest *fastest, u64 now, u64 took);
u64 htbs_fastest_time(const struct htbs_fastest *fastest);

void htbs_load_add(struct htbs_load *load, const struct htbs_service_time *time,
		   u32 times, u64 bytes);
u64 htbs_load_margin(u64 variance, u32 margin);

#endif /* HTBS_CORE_SERVICE_H */
