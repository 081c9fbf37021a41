// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival curves on one virtual clock, against exact arithmetic: every tag to
 * the nanosecond, wherever in 64 bits the clock is.
 */
#include "fuzz.h"

#define CURVES		4

/* The clock is read more often than it passes a quarter of its range. */
#define STEP_MAX	((1ULL << 62) - 1)

/**
 * struct bench - curves and their virtual clock
 * @clock: the clock under test
 * @now: real time, ns
 * @drift: of the virtual clock, ns
 * @curve: the curves under test
 * @exact: the same curves in exact arithmetic
 * @last: start tag of each curve's last request
 */
struct bench {
	struct htbs_clock clock;
	u128 now;
	u128 drift;
	struct htbs_curve curve[CURVES];
	struct reference exact[CURVES];
	u128 last[CURVES];
};

static u128 virtual(struct bench *bench)
{
	u128 v = bench->now + bench->drift;

	must(htbs_clock_read(&bench->clock, bench->now) == (u64)v);
	return v;
}

static void start(struct bench *bench, int i, struct input *in)
{
	struct htbs_params params = input_params(in);
	u128 v = virtual(bench);

	must(htbs_params_valid(&params));
	htbs_curve_init(&bench->curve[i], &params, &bench->clock, v);
	reference_init(&bench->exact[i], &params, v);
	bench->last[i] = v;
}

static void like_exact(struct bench *bench, int i)
{
	const struct htbs_curve *curve = &bench->curve[i];
	u128 bw = curve->params.bw;

	must(curve->tat == (u64)reference_tat(&bench->exact[i]));
	must(curve->rem == (u64)(bench->exact[i].ticks % bw));
}

static void arrive(struct bench *bench, int i, struct input *in)
{
	u32 cost = htbs_cost(input_within(in, 0, UINT32_MAX));
	u128 v = virtual(bench);
	u64 tag = htbs_curve_arrive(&bench->curve[i], &bench->clock, v, cost);
	u128 exact = reference_arrive(&bench->exact[i], v, cost);

	must(tag == (u64)exact);
	must(exact >= bench->last[i]);
	bench->last[i] = exact;
	like_exact(bench, i);
}

/* A merge: the curve was brought up to date when the request arrived. */
static void charge(struct bench *bench, int i, struct input *in)
{
	u32 bytes = input_within(in, 0, UINT32_MAX);

	htbs_curve_charge(&bench->curve[i], bytes);
	bench->exact[i].ticks += (u128)bytes * NSEC;
	like_exact(bench, i);
}

/* The clock jumps ahead, as by floods of others, and ignores a jump into the past. */
static void jump(struct bench *bench, struct input *in)
{
	u64 length = input_within(in, 0, STEP_MAX);
	u128 v = virtual(bench);

	must(!htbs_clock_advance(&bench->clock, bench->now, v - length));
	must(htbs_clock_advance(&bench->clock, bench->now, v + length) ==
	     length);
	bench->drift += length;
	virtual(bench);
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, data + size };
	struct bench bench = {};
	int i;

	bench.now = input_within(&in, 0, STEP_MAX);
	for (i = 0; i < 3; i++)
		jump(&bench, &in);
	for (i = 0; i < CURVES; i++)
		start(&bench, i, &in);

	while (!input_empty(&in)) {
		u8 what = input_byte(&in);

		i = what % CURVES;
		switch (what / CURVES % 8) {
		case 0:
			start(&bench, i, &in);
			break;
		case 1:
			charge(&bench, i, &in);
			break;
		case 2:
			jump(&bench, &in);
			break;
		case 3:
			bench.now += input_within(&in, 0, STEP_MAX);
			break;
		default:
			arrive(&bench, i, &in);
			break;
		}
		virtual(&bench);
	}
	return 0;
}
