// SPDX-License-Identifier: GPL-2.0
/*
 * Admission: the feasibility test of pClock.
 *
 * In the worst case all reservations start a burst at once and then keep to their
 * rates. Reservation i then has sigma_i + rho_i * (t - delta_i) bytes due by t >=
 * delta_i, and nothing before. Earliest deadline first meets all deadlines if, for
 * every t,
 *
 *	sum of what is due by t  <=  C * t - c_max
 *
 * where C is the capacity of the device, and c_max is the size of the request that
 * the device is serving when the bursts start and cannot interrupt. The left side
 * jumps at each delta_i and rises linearly in between. So it is enough to test at
 * each delta_i and to compare the rates.
 */
#include <linux/math64.h>
#include <linux/string.h>

#include <htbs/core/admission.h>
#include <htbs/core/params.h>

#define HTBS_GIGA	1000000000U

/**
 * htbs_admission_rate() - the bandwidth that a reservation takes in the long run
 * @params: the reservation; valid
 * @request: the largest request, bytes
 *
 * If only operations are reserved, each of them may be that large. If both are
 * reserved, the bytes count, because they bound the device's time and operations do
 * not.
 *
 * Return: bytes/s.
 */
u64 htbs_admission_rate(const struct htbs_params *params, u32 request)
{
	return params->bw ? params->bw : (u64)params->iops * request;
}

/**
 * htbs_admission_burst() - the burst of a reservation in bytes
 * @params: the reservation; valid
 * @request: the largest request, bytes
 *
 * Return: bytes.
 */
u64 htbs_admission_burst(const struct htbs_params *params, u32 request)
{
	if (params->bw)
		return params->burst;
	return params->burst / HTBS_COST_MIN * request;
}

#define HTBS_USEC_PER_SEC	1000000U
#define HTBS_NSEC_PER_USEC	1000U

/*
 * Return how many bytes or operations a rate allows within a latency, rounded up.
 * The rate is HTBS_CAPACITY_MAX at most, the latency HTBS_LATENCY_MAX.
 */
static u64 htbs_within(u64 rate, u64 latency)
{
	u64 usec = div64_u64(latency + HTBS_NSEC_PER_USEC - 1,
			     HTBS_NSEC_PER_USEC);
	u64 whole = div64_u64(rate, HTBS_USEC_PER_SEC);
	u64 part = (rate - whole * HTBS_USEC_PER_SEC) * usec;

	return whole * usec + div64_u64(part + HTBS_USEC_PER_SEC - 1,
					HTBS_USEC_PER_SEC);
}

/*
 * Return how many requests of @unit bytes or operations are outstanding at most: as
 * many as arrive within the latency, but at least a burst.
 */
static u64 htbs_units(u64 rate, u64 latency, u64 burst, u32 unit)
{
	u64 most = htbs_within(rate, latency);

	if (most < burst)
		most = burst;
	return div64_u64(most + unit - 1, unit);
}

/**
 * htbs_admission_requests() - how many requests a reservation may have outstanding
 * @params: the reservation; valid
 * @request: the size of its requests, bytes
 *
 * As many as the bandwidth needs if each request takes the latency (Little's law),
 * or a burst if that is more. If operations are reserved, no more than they allow.
 *
 * Return: requests, up to HTBS_REQUESTS_MAX.
 */
u32 htbs_admission_requests(const struct htbs_params *params, u32 request)
{
	u64 least = HTBS_REQUESTS_MAX, units;

	if (params->bw)
		least = htbs_units(params->bw, params->latency, params->burst,
				   request);
	if (params->iops) {
		units = htbs_units(params->iops, params->latency,
				   params->burst / HTBS_COST_MIN, 1);
		if (units < least)
			least = units;
	}
	return least < HTBS_REQUESTS_MAX ? least : HTBS_REQUESTS_MAX;
}

/**
 * htbs_admission_sum() - a saturating sum
 * @a: at most HTBS_ADMISSION_SUM
 * @b: the same
 *
 * Return: the sum, at most HTBS_ADMISSION_SUM.
 */
u64 htbs_admission_sum(u64 a, u64 b)
{
	u64 sum = a + b;

	return sum < HTBS_ADMISSION_SUM ? sum : HTBS_ADMISSION_SUM;
}

/* Add what a rate of at most HTBS_CAPACITY_MAX gives in @ns. */
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
 * htbs_admission_begin() - begin to test a set of reservations
 * @test: the test
 * @capacity: what the device serves (C), bytes/s, at most HTBS_CAPACITY_MAX
 * @c_max: largest request, bytes
 */
void htbs_admission_begin(struct htbs_admission *test, u64 capacity, u32 c_max)
{
	memset(test, 0, sizeof(*test));
	test->capacity = capacity;
	test->request = c_max;
	test->due.bytes = c_max;
}

/**
 * htbs_admission_add() - add a reservation to the set
 * @test: the test
 * @params: the reservation; valid, and no shorter latency than the one before
 *
 * Up to HTBS_ADMISSION_MAX reservations may be added. Requests that are larger than
 * the burst are not accounted for. O(1).
 */
void htbs_admission_add(struct htbs_admission *test,
			const struct htbs_params *params)
{
	struct htbs_shortfall *shortfall = &test->shortfall;
	u64 rate = htbs_admission_rate(params, test->request);
	u64 ns = params->latency - test->t, needed;

	/* Too much is reserved in the long run: nothing else matters. */
	if (test->rate > test->capacity) {
		test->rate = htbs_admission_sum(test->rate, rate);
		return;
	}
	htbs_volume_flow(&test->due, test->rate, ns);
	htbs_volume_flow(&test->served, test->capacity, ns);
	test->t = params->latency;
	test->rate = htbs_admission_sum(test->rate, rate);
	test->due.bytes = htbs_admission_sum(test->due.bytes,
					     htbs_admission_burst(params, test->request));

	needed = test->due.bytes + (test->due.nano > test->served.nano);
	if (needed > test->served.bytes + shortfall->bytes) {
		shortfall->bytes = needed - test->served.bytes;
		shortfall->within = test->t;
	}
}

/**
 * htbs_admission_left() - how much more could be due by the last latency
 * @test: the test
 *
 * Return: bytes, rounded down; 0 if too much is due already.
 */
u64 htbs_admission_left(const struct htbs_admission *test)
{
	u64 needed = test->due.bytes + (test->due.nano > test->served.nano);

	if (test->rate > test->capacity)
		return 0;
	return needed < test->served.bytes ? test->served.bytes - needed : 0;
}

/**
 * htbs_admission_end() - whether the set can be honoured
 * @test: the test; if it fails, @test->shortfall tells what is missing
 *
 * Return: true if every conforming request can meet its deadline.
 */
bool htbs_admission_end(struct htbs_admission *test)
{
	struct htbs_shortfall *shortfall = &test->shortfall;

	if (test->rate > test->capacity) {
		memset(shortfall, 0, sizeof(*shortfall));
		shortfall->bw = test->rate - test->capacity;
	}
	return !shortfall->bw && !shortfall->bytes;
}
