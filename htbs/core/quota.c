// SPDX-License-Identifier: GPL-2.0
/*
 * A quota for the writes of surplus, in bytes/s.
 *
 * While a drive has room in its write buffer, a write takes no time that an estimate could show.
 * Other requests wait later, when the drive writes its buffer to the medium. So the rate at which
 * surplus is written is limited (limit.c).
 *
 * The quota counts bytes, not requests, because a drive's buffer takes small writes in no time
 * until it is full, and because erasing, which is what delays reads on flash, is in proportion to
 * bytes. On a device that seeks, a write that is not near to the one before also counts as the
 * bytes that could be transferred while the device positions for it. For reads see surplus.c.
 */
#include <linux/math64.h>

#include <htbs/core/params.h>
#include <htbs/core/quota.h>
#include <htbs/core/service.h>

/* No device is faster, and this times HTBS_SECOND is less than 2^64. */
#define HTBS_QUOTA_MOST		16000000000ULL

/**
 * htbs_quota_init() - initialise the quota: nothing is known about the device
 * @quota: the quota
 * @least: minimum for surplus, bytes/s: one small request a second
 * @run: positioning time of a run of surplus, ns; 0 if the device does not seek
 * @now: real time, ns
 */
void htbs_quota_init(struct htbs_quota *quota, u64 least, u64 run, u64 now)
{
	*quota = (struct htbs_quota){
		.filled	= now,
		.since	= now,
		.interval = HTBS_LIMIT_INTERVAL + run,
	};
	htbs_limit_init(&quota->limit, least, least, HTBS_QUOTA_MOST);
}

static u64 htbs_quota_bytes(const struct htbs_quota *quota, u64 ns)
{
	return div64_u64(ns * quota->limit.value, HTBS_SECOND);
}

/**
 * htbs_quota_fill() - add the tokens for the time that has passed
 * @quota: the quota
 * @now: real time, ns
 *
 * The fraction of a byte is carried over, because with a fast device this may be called more often
 * in a second than the minimum quota has bytes.
 */
void htbs_quota_fill(struct htbs_quota *quota, u64 now)
{
	s64 most = htbs_quota_bytes(quota, HTBS_MOMENT);
	u64 passed = now - quota->filled, exact, bytes;

	if (passed > HTBS_SECOND)
		passed = HTBS_SECOND;
	exact = passed * quota->limit.value + quota->rest;
	bytes = div64_u64(exact, HTBS_SECOND);
	quota->rest = exact - bytes * HTBS_SECOND;
	quota->tokens += bytes;
	if (quota->tokens > most)
		quota->tokens = most;
	quota->holds = quota->holds && quota->tokens < 0;
	quota->filled = now;
}

/**
 * htbs_quota_allows() - whether a request may be dispatched as surplus
 * @quota: the quota
 * @now: real time, ns
 *
 * A request may be larger than the tokens that are left: the excess is paid for afterwards.
 *
 * Return: true if it may.
 */
bool htbs_quota_allows(struct htbs_quota *quota, u64 now)
{
	htbs_quota_fill(quota, now);
	quota->holds = quota->tokens < 0;
	if (quota->holds)
		quota->limit.full = true;
	return !quota->holds;
}

/*
 * Measure the rate in use. If that is less than the quota, a late request lowers the quota from
 * there. The rate is measured over HTBS_LIMIT_INTERVAL and, on a device that seeks, the time of
 * HTBS_RUN positionings more. Until a request was slow, the quota doubles with each interval in
 * which at least half of it was used. So it takes a second or two to find out how fast a device is,
 * and the buffer of a drive gets no more in one interval than in all intervals before.
 */
static void htbs_quota_measure(struct htbs_quota *quota, u64 now)
{
	u64 passed = now - quota->since, used;

	if (passed < quota->interval)
		return;
	used = div64_u64(quota->bytes * 1000, passed / 1000000);
	/* The mean over a pause says little about the rate at which a flow writes. */
	if (used > quota->used || passed < 2 * quota->interval)
		quota->used = used;
	quota->bytes = 0;
	quota->since = now;
	if (htbs_limit_grows_fast(&quota->limit) && 2 * used >= quota->limit.value)
		htbs_limit_double(&quota->limit);
}

/*
 * Limit the debt: what is written while no limit applies is paid for later by an interval at most.
 */
static void htbs_quota_charge(struct htbs_quota *quota, u64 bytes, u64 now)
{
	s64 least = -(s64)(bytes + htbs_quota_bytes(quota, quota->interval));

	htbs_quota_fill(quota, now);
	quota->tokens -= bytes;
	if (quota->tokens < least)
		quota->tokens = least;
}

/**
 * htbs_quota_account() - account a write that is dispatched
 * @quota: the quota
 * @bytes: what it is charged
 * @surplus: it is not owed
 * @now: real time, ns
 */
void htbs_quota_account(struct htbs_quota *quota, u64 bytes, bool surplus, u64 now)
{
	if (surplus)
		htbs_quota_charge(quota, bytes, now);
	quota->bytes += bytes;
	htbs_quota_measure(quota, now);
}

/**
 * htbs_quota_judge() - judge the quota by a conforming request that has completed
 * @quota: the quota
 * @late: 0 if the request was not late, and its flow is not behind its pace; otherwise the number
 *	of steps, as for htbs_limit_judge()
 * @now: real time, ns
 *
 * If nothing was written for HTBS_HORIZON, the quota is not the reason why the request was late.
 */
void htbs_quota_judge(struct htbs_quota *quota, u32 late, u64 now)
{
	if (late && now - quota->since > HTBS_HORIZON)
		return;
	htbs_limit_doubt(&quota->limit, late, now);
	htbs_limit_judge(&quota->limit, late, quota->used ?: quota->limit.value);
}

/**
 * htbs_quota_wait() - how long surplus is held back
 * @quota: the quota
 * @now: real time, ns
 *
 * Return: ns; 0: a write may be dispatched now.
 */
u64 htbs_quota_wait(struct htbs_quota *quota, u64 now)
{
	htbs_quota_fill(quota, now);
	if (quota->tokens >= 0)
		return 0;
	return div64_u64(-quota->tokens * HTBS_SECOND, quota->limit.value) + 1;
}
