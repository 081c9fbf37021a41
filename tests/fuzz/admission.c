// SPDX-License-Identifier: GPL-2.0
/*
 * Admission against 128-bit arithmetic, which tests each deadline by itself.
 */
#include <htbs/core/admission.h>

#include "fuzz.h"

#define PARAMS_MAX	64

/* Bytes due by t, in 1/NSEC bytes. */
static u128 due_by(const struct htbs_params *params, u32 count, u32 c_max,
		   u64 t)
{
	u128 due = (u128)c_max * NSEC;
	u32 i;

	for (i = 0; i < count; i++)
		if (params[i].latency <= t)
			due += (u128)params[i].burst * NSEC +
			       (u128)params[i].bw * (t - params[i].latency);
	return due;
}

/* Add the last reservation; check what is left by its latency. */
static void add(struct htbs_admission *test, const struct htbs_params *params,
		u32 count, u32 c_max)
{
	u64 t = params[count - 1].latency, rate = 0, left = 0;
	u128 served = (u128)test->capacity * t;
	u128 due = due_by(params, count, c_max, t);
	u32 i;

	htbs_admission_add(test, &params[count - 1]);
	for (i = 0; i < count; i++)
		rate += params[i].bw;
	if (rate <= test->capacity && due < served)
		left = (served - due) / NSEC;
	must(htbs_admission_left(test) == left);
}

static void expect(const struct htbs_params *params, u32 count, u64 capacity,
		   u32 c_max, struct htbs_shortfall *shortfall)
{
	u64 rate = 0, lacks;
	u128 due, served;
	u32 i;

	memset(shortfall, 0, sizeof(*shortfall));
	for (i = 0; i < count; i++)
		rate += params[i].bw;
	if (rate > capacity) {
		shortfall->bw = rate - capacity;
		return;
	}
	for (i = 0; i < count; i++) {
		due = due_by(params, count, c_max, params[i].latency);
		served = (u128)capacity * params[i].latency;
		lacks = due > served ? (due - served + NSEC - 1) / NSEC : 0;
		if (lacks > shortfall->bytes) {
			shortfall->bytes = lacks;
			shortfall->within = params[i].latency;
		}
	}
}

static int by_latency(const void *a, const void *b)
{
	u64 one = ((const struct htbs_params *)a)->latency;
	u64 two = ((const struct htbs_params *)b)->latency;

	return (one > two) - (one < two);
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, data + size };
	struct htbs_params params[PARAMS_MAX];
	struct htbs_shortfall want;
	struct htbs_admission test;
	u64 capacity = input_within(&in, 0, HTBS_CAPACITY_MAX);
	u32 c_max = input_within(&in, 0, UINT32_MAX);
	u32 count, i;
	bool good;

	for (count = 0; count < PARAMS_MAX && !input_empty(&in); count++)
		params[count] = input_params(&in);
	qsort(params, count, sizeof(params[0]), by_latency);

	memset(&test, 0xff, sizeof(test));
	htbs_admission_begin(&test, capacity, c_max);
	for (i = 1; i <= count; i++)
		add(&test, params, i, c_max);
	good = htbs_admission_end(&test);
	expect(params, count, capacity, c_max, &want);
	must(test.shortfall.bw == want.bw);
	must(test.shortfall.bytes == want.bytes);
	must(test.shortfall.within == want.within);
	must(good == (!want.bw && !want.bytes));
	return 0;
}
