/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a reservation promises.
 *
 * All times are nanoseconds in u64 and compared modulo 2^64.
 */
#ifndef HTBS_CORE_PARAMS_H
#define HTBS_CORE_PARAMS_H

#include <linux/types.h>

#define HTBS_SECOND		1000000000ULL		/* ns */

/* Ranges that keep every product in pace.c within 64 bits. */
#define HTBS_BW_MIN		4096ULL			/* bytes/s */
#define HTBS_BW_MAX		0x10000000000ULL	/* bytes/s: 1 TiB/s */
#define HTBS_BURST_MIN		4096ULL			/* bytes */
#define HTBS_BURST_MAX		0x100000000ULL		/* bytes: 4 GiB */
#define HTBS_LATENCY_MIN	1000ULL			/* ns: 1 us */
#define HTBS_LATENCY_MAX	100000000000ULL		/* ns: 100 s */
#define HTBS_WEIGHT_MIN		1U
#define HTBS_WEIGHT_MAX		10000U

/* The minimum that a request is charged, because the seek that it causes is not free. */
#define HTBS_COST_MIN		4096U			/* bytes */

/* Each operation is charged HTBS_COST_MIN bytes on a curve of its own (pace.c). */
#define HTBS_IOPS_MAX		(HTBS_BW_MAX / HTBS_COST_MIN)	/* per second */

/**
 * struct htbs_params - what a reservation promises
 * @bw: bandwidth (rho), bytes/s; 0: only @iops are reserved
 * @burst: largest burst above the steady rate (sigma), bytes
 * @latency: bound from arrival to completion of a conforming request (delta), ns
 * @weight: weight of a flow for surplus; 0: not given
 * @max: the cap, bytes/s; 0: none
 * @iops: operations per second; 0: only @bw is reserved
 */
struct htbs_params {
	u64 bw;
	u64 burst;
	u64 latency;
	u32 weight;
	u64 max;
	u32 iops;
};

/**
 * htbs_before() - compare two times of a clock that wraps
 * @a: a time, ns
 * @b: another time, less than 2^63 ns away
 *
 * Return: true if @a is earlier than @b.
 */
static inline bool htbs_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/**
 * htbs_later() - the later of two times of a clock that wraps
 * @a: a time, ns
 * @b: another time, less than 2^63 ns away
 *
 * Return: the later one.
 */
static inline u64 htbs_later(u64 a, u64 b)
{
	return htbs_before(a, b) ? b : a;
}

/**
 * htbs_cost() - what a request is charged
 * @bytes: data of the request
 *
 * Return: bytes charged.
 */
static inline u32 htbs_cost(u32 bytes)
{
	return bytes < HTBS_COST_MIN ? HTBS_COST_MIN : bytes;
}

/**
 * htbs_params_rate() - the minimum bandwidth that is promised
 * @params: the reservation
 *
 * If only operations are reserved, each of them counts as a request of the minimum cost.
 *
 * Return: bytes/s.
 */
static inline u64 htbs_params_rate(const struct htbs_params *params)
{
	return params->bw ?: (u64)params->iops * HTBS_COST_MIN;
}

bool htbs_params_valid(const struct htbs_params *params);

#endif /* HTBS_CORE_PARAMS_H */
