/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Admission: can a set of reservations be honoured on a device that serves
 * this many bytes per second.
 */
#ifndef HTBS_ADMISSION_H
#define HTBS_ADMISSION_H

#include <linux/types.h>

#include <htbs/curve.h>

/* Ranges that keep every sum in admission.c within 64 bits. */
#define HTBS_CAPACITY_MAX	0x4000000000000ULL	/* bytes/s: 1 PiB/s */
#define HTBS_ADMISSION_MAX	0x1000000U		/* reservations */

/**
 * struct htbs_shortfall - what a device lacks to honour its reservations
 * @bw: reserved beyond its capacity, bytes/s; 0: capacity is enough in the
 *	long run, and the rest tells where it is not in the short
 * @bytes: the most that can be due and not served, bytes, rounded up
 * @within: how long after all began a burst that is first the case, ns
 */
struct htbs_shortfall {
	u64 bw;
	u64 bytes;
	u64 within;
};

bool htbs_admissible(const struct htbs_params *params, u32 count, u64 capacity,
		     u32 c_max, struct htbs_shortfall *shortfall);

#endif /* HTBS_ADMISSION_H */
