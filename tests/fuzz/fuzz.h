/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the fuzz targets: numbers out of the fuzzer's bytes, and assertions. */
#ifndef HTBS_FUZZ_H
#define HTBS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <htbs/core/params.h>

#define u128	unsigned __int128

#define NSEC	1000000000ULL

/* A sanitizer's report would not say what was expected. */
#define must(condition)							\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "%s:%d: %s: must be: %s\n",	\
				__FILE__, __LINE__, __func__,		\
				#condition);				\
			abort();					\
		}							\
	} while (0)

/**
 * struct input - the rest of the fuzzer's bytes
 * @at: the next byte
 * @end: behind the last byte
 */
struct input {
	const u8 *at;
	const u8 *end;
};

static inline bool input_empty(const struct input *in)
{
	return in->at == in->end;
}

/* Behind the end all bytes are 0. */
static inline u8 input_byte(struct input *in)
{
	return input_empty(in) ? 0 : *in->at++;
}

static inline u64 input_number(struct input *in)
{
	u64 number = 0;
	int i;

	for (i = 0; i < 8; i++)
		number = number << 8 | input_byte(in);
	return number;
}

/*
 * A number of a range: from one byte if it is a power of two or near an end,
 * else from nine.
 */
static inline u64 input_within(struct input *in, u64 low, u64 high)
{
	u8 shape = input_byte(in);
	u64 number;

	if (shape < 64) {
		number = low + shape % 32;
		if (shape >= 32)
			number = high - shape % 32;
	} else if (shape < 192) {
		number = 1ULL << (shape & 63);
		if (shape & 64)
			number--;
	} else {
		number = input_number(in);
	}
	if (number >= low && number <= high)
		return number;
	return high - low == ~0ULL ? number : low + number % (high - low + 1);
}

static inline struct htbs_params input_params(struct input *in)
{
	struct htbs_params params = {};

	params.bw = input_within(in, HTBS_BW_MIN, HTBS_BW_MAX);
	params.burst = input_within(in, HTBS_BURST_MIN, HTBS_BURST_MAX);
	params.latency = input_within(in, HTBS_LATENCY_MIN, HTBS_LATENCY_MAX);
	return params;
}

/* libFuzzer calls it by this name. */
int fuzz_one(const u8 *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

#endif /* HTBS_FUZZ_H */
