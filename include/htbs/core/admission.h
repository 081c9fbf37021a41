/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Admission: whether a device that serves a given number of bytes per second can honour
 * a set of reservations.
 */
#ifndef HTBS_CORE_ADMISSION_H
#define HTBS_CORE_ADMISSION_H

#include <linux/types.h>

#include <htbs/core/params.h>

/* Ranges that keep every sum in admission.c within 64 bits. */
#define HTBS_CAPACITY_MAX	0x4000000000000ULL	/* bytes/s: 1 PiB/s */
#define HTBS_ADMISSION_MAX	0x800000U		/* reservations */
#define HTBS_REQUESTS_MAX	0x1000000U		/* requests outstanding */
#define HTBS_ADMISSION_SUM	0x4000000000000000ULL	/* bytes, or bytes/s */

/**
 * struct htbs_shortfall - what a device lacks to honour its reservations
 * @bw: bandwidth reserved beyond the capacity of the device, bytes/s, up to
 *	HTBS_ADMISSION_SUM; 0: the capacity is enough in the long run, and @bytes and
 *	@within tell where it is not enough in the short run
 * @bytes: the most that can be due and not yet served, bytes, rounded up
 * @within: when that much is due first, after all reservations began a burst at once,
 *	ns
 */
struct htbs_shortfall {
	u64 bw;
	u64 bytes;
	u64 within;
};

/* Bytes and billionths of a byte. This is exact, so rounding makes no answer wrong. */
struct htbs_volume {
	u64 bytes;
	u32 nano;
};

/**
 * struct htbs_admission - a test in progress
 * @capacity: what the device serves, bytes/s
 * @request: the largest request, bytes
 * @rate: sum of the bandwidths added so far, bytes/s
 * @t: time after all reservations began a burst at once, ns
 * @due: what can be due by @t
 * @served: what the device can serve by @t
 * @shortfall: the result
 */
struct htbs_admission {
	u64 capacity;
	u32 request;
	u64 rate;
	u64 t;
	struct htbs_volume due;
	struct htbs_volume served;
	struct htbs_shortfall shortfall;
};

u64 htbs_admission_sum(u64 a, u64 b);
u64 htbs_admission_rate(const struct htbs_params *params, u32 request);
u32 htbs_admission_requests(const struct htbs_params *params, u32 request);
u64 htbs_admission_burst(const struct htbs_params *params, u32 request);
void htbs_admission_begin(struct htbs_admission *test, u64 capacity, u32 c_max);
void htbs_admission_add(struct htbs_admission *test,
			const struct htbs_params *params);
u64 htbs_admission_left(const struct htbs_admission *test);
bool htbs_admission_end(struct htbs_admission *test);

#endif /* HTBS_CORE_ADMISSION_H */
