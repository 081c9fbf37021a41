// SPDX-License-Identifier: GPL-2.0
/*
 * A limit on surplus that is adjusted by whether conforming requests are in time.
 *
 * Requests of other groups have to wait for everything that a device has in its queue and in its
 * write buffer. No model predicts for how long. But HTBS can measure how long conforming requests
 * take, and adjusts the limit accordingly, much like TCP adjusts its window when packets are lost.
 * A slow request lowers the limit by a part of it. If surplus was held back, a request that is not
 * slow raises the limit, by a step so much smaller that in steady state one request in a given
 * number is slow. A request is slow if it took more than three quarters of the time that it had
 * when it was dispatched. For the quota of a device that does not seek, late requests count
 * instead.
 *
 * At first nothing is known about a device. A limit that begins at its minimum grows by the minimum
 * with each request that is not slow, and doubles once in HTBS_LIMIT_INTERVAL at most. The first
 * slow request halves the amount in use. It may come early or late by chance, so the limit may be
 * far off. Each further slow request lowers the limit by half as large a part, down to 1/HTBS_FADE,
 * and the steps up are in proportion: first the limit is found, then it is kept. A slow request
 * while the limit is at its minimum tells nothing about it.
 *
 * If the limit held nothing back, a slow request lowers it to below the amount in use, because that
 * amount may be too much now. But the value that was found before falls by its part only, as after
 * any slow request, and becomes the threshold. Up to the threshold the limit grows as fast as at
 * first, as TCP's window does in slow start, until a request is slow while the limit holds back
 * surplus.
 *
 * If several flows judge a limit, a slow request of a flow with few requests lowers it by as many
 * steps as the other flows raised it meanwhile. So in steady state the same part of the requests of
 * each flow is slow.
 */
#include <htbs/core/limit.h>
#include <htbs/core/params.h>
#include <htbs/core/service.h>

/**
 * htbs_limit_init() - nothing is known about the device
 * @limit: the limit
 * @first: its first value
 * @least: its minimum, which is left to surplus in any case
 * @most: its maximum; no device takes more
 *
 * htbs_policy_set_late() sets how many requests may be slow.
 */
void htbs_limit_init(struct htbs_limit *limit, u64 first, u64 least, u64 most)
{
	*limit = (struct htbs_limit){
		.value		= first,
		.least		= least,
		.most		= most,
		.threshold	= most,
		.rarity		= 1,
		.part		= 1,
	};
}

static void htbs_limit_lower(struct htbs_limit *limit, u32 steps, u64 used)
{
	u64 top = limit->value;

	if (limit->value <= limit->least)
		return;
	if (limit->part < HTBS_FADE)
		limit->part *= 2;
	if (steps > limit->part / 2)
		steps = limit->part / 2;
	/* Before the first slow request, the threshold is not a value that was found. */
	if (limit->part > 2 && top < limit->threshold)
		top = limit->threshold;
	limit->threshold = limit->full ? 0 : top - top / limit->part * steps;
	if (limit->value > used)
		limit->value = used;
	limit->value -= limit->value / limit->part * steps;
	if (limit->value < limit->least)
		limit->value = limit->least;
}

/* Fast growth ends at the threshold. */
static void htbs_limit_grow(struct htbs_limit *limit, u64 by)
{
	u64 most = htbs_limit_grows_fast(limit) ? limit->threshold : limit->most;

	limit->value += by;
	if (limit->value > most)
		limit->value = most;
}

static void htbs_limit_raise(struct htbs_limit *limit)
{
	htbs_limit_grow(limit, htbs_limit_grows_fast(limit) ? limit->least :
			limit->value / (limit->part * limit->rarity) + 1);
}

/**
 * htbs_limit_double() - double a limit that made no request slow
 * @limit: the limit, while it grows fast
 */
void htbs_limit_double(struct htbs_limit *limit)
{
	htbs_limit_grow(limit, limit->value);
}

/**
 * htbs_limit_renew() - double a limit that is as little known as at first
 * @limit: the limit
 *
 * Called if the limit holds back surplus, but no request judges it, or if it fell needlessly.
 */
void htbs_limit_renew(struct htbs_limit *limit)
{
	limit->part = 1;
	limit->threshold = limit->most;
	htbs_limit_double(limit);
}

/**
 * htbs_limit_doubt() - check whether the limit is why requests are slow, before it is judged
 * @limit: the limit
 * @slow: whether a request was slow
 * @now: real time, ns
 *
 * While a limit is below twice its minimum, surplus is not the reason. If more requests are slow
 * than may be, for HTBS_HORIZON, the device is slow by itself, and may have been so before. So the
 * limit is less known than it seems, and its steps double.
 */
void htbs_limit_doubt(struct htbs_limit *limit, bool slow, u64 now)
{
	bool least = limit->value < 2 * limit->least;

	limit->excess += slow ? limit->rarity : -1LL;
	if (least && (limit->excess <= 0 || now - limit->doubted <= HTBS_HORIZON))
		return;
	if (least && limit->part > 1)
		limit->part /= 2;
	limit->doubted = now;
	limit->excess = 0;
}

/**
 * htbs_limit_judge() - a conforming request has completed
 * @limit: the limit
 * @slow: 0 if the request was not slow, and its flow is not behind its pace; otherwise the number
 *	of steps by which it lowers the limit, by half of it at most
 * @used: how much of the limit was in use
 */
void htbs_limit_judge(struct htbs_limit *limit, u32 slow, u64 used)
{
	if (slow)
		htbs_limit_lower(limit, slow, used);
	else if (limit->full)
		htbs_limit_raise(limit);
	limit->full = false;
}
