// SPDX-License-Identifier: GPL-2.0
/*
 * Admission: the feasibility test of pClock.  A pure room: integers only.
 *
 * The worst that can happen is that all reservations start a burst at once
 * and keep to their rates from there on.  Reservation i then has sigma_i +
 * rho_i * (t - delta_i) bytes due by t >= delta_i, and nothing before.  All
 * deadlines can be met by serving the earliest first if, for every t,
 *
 *	sum of what is due by t  <=  C * t - c_max
 *
 * where c_max is for the request that the device was busy with at the start
 * and could not put aside.  The left side jumps at each delta_i and rises
 * straight between them, so it is enough to look there and at the rates.
 */
#include <linux/math64.h>

#include <htbs/admission.h>

#define HTBS_GIGA	1000000000U

/* So many bytes and billionths of a byte: no rounding, so no false answer. */
struct htbs_volume {
	u64 bytes;
	u32 nano;
};

/* Add what a rate of at most HTBS_CAPACITY_MAX gives in some nanoseconds. */
static void htbs_volume_flow(struct htbs_volume *volume, u64 rate, u64 ns)
{
	u32 rate_rest, ns_rest;
	u64 rate_giga = div_u64_rem(rate, HTBS_GIGA, &rate_rest);
	u64 seconds = div_u64_rem(ns, HTBS_GIGA, &ns_rest);
	u64 nano = (u64)rate_rest * ns_rest + volume->nano;

	volume->bytes += rate * seconds + rate_giga * ns_rest +
			 div_u64_rem(nano, HTBS_GIGA, &volume->nano);
}

/**
 * htbs_admissible() - can these reservations be honoured
 * @params: what they promise; valid, ordered by rising latency.  A request
 *	larger than its reservation's burst is not accounted for.
 * @count: how many there are, at most HTBS_ADMISSION_MAX
 * @capacity: what the device serves (C), bytes/s, at most HTBS_CAPACITY_MAX
 * @c_max: largest request, bytes
 * @shortfall: what is missing; all 0 if nothing is
 *
 * Return: true if every conforming request can meet its deadline.  O(n).
 */
bool htbs_admissible(const struct htbs_params *params, u32 count, u64 capacity,
		     u32 c_max, struct htbs_shortfall *shortfall)
{
	struct htbs_volume due = { 0 }, served = { 0 };
	u64 rate = 0, t = 0, needed;
	u32 i;

	shortfall->bw = 0;
	shortfall->bytes = 0;
	shortfall->within = 0;

	for (i = 0; i < count; i++)
		rate += params[i].bw;
	if (rate > capacity) {
		shortfall->bw = rate - capacity;
		return false;
	}

	for (rate = 0, i = 0; i < count; i++) {
		htbs_volume_flow(&due, rate, params[i].latency - t);
		htbs_volume_flow(&served, capacity, params[i].latency - t);
		t = params[i].latency;
		rate += params[i].bw;
		due.bytes += params[i].burst;

		needed = due.bytes + c_max + (due.nano > served.nano);
		if (needed > served.bytes + shortfall->bytes) {
			shortfall->bytes = needed - served.bytes;
			shortfall->within = t;
		}
	}
	return !shortfall->bytes;
}
