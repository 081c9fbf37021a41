// SPDX-License-Identifier: GPL-2.0
/*
 * A limit on surplus that follows from whether conforming requests are in time.
 *
 * What a device has in its queue and in its buffer others wait for, and no model tells
 * how long. What can be seen is how long conforming requests take. So the limit follows
 * from that, as TCP's window follows from loss: a request that is slow lowers the limit by
 * a part; if surplus was held back, one that is not raises it by so much less that one
 * slow request in so many is in balance. Slow is what took more than three quarters of the
 * time that it had when it was dispatched; for the quota of a device that does not seek it
 * is what was late.
 *
 * Nothing is known of a device at first. A limit that begins at its least grows by as much
 * with each request that is not slow, and doubles once in HTBS_LIMIT_INTERVAL at most. The
 * first slow one halves what is used; when that comes is a matter of chance, so the limit may
 * be far off. Each one after it lowers by half as great a part, down to 1/HTBS_FADE, and
 * the steps up are in proportion: first the limit is found, then it is kept. A slow request
 * at the least limit tells nothing of it.
 *
 * A slow request while the limit held nothing back lowers it, too, to what is used, as what is
 * used may be too much now. But the limit that was found before falls by its part only, as by any
 * slow request. That becomes the threshold: up to there the limit grows as fast as at first, as
 * TCP's window does up to its own threshold, until a request is slow while the limit holds surplus
 * back.
 *
 * If several flows judge a limit, a slow request of one that has few lowers it by as many
 * steps as the others raised it meanwhile: one in so many of each flow is in balance.
 */
#include <htbs/core/limit.h>
#include <htbs/core/params.h>
#include <htbs/core/service.h>

/**
 * htbs_limit_init() - nothing is known of the device
 * @limit: the limit
 * @first: its first value
 * @least: what is left to surplus at least
 * @most: no device takes more
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
	/* Before the first slow request the threshold is none that was found. */
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
 * @limit: the limit, which doubles
 *
 * It holds back surplus, but no request judges it; or it fell in vain.
 */
void htbs_limit_renew(struct htbs_limit *limit)
{
	limit->part = 1;
	limit->threshold = limit->most;
	htbs_limit_double(limit);
}

/**
 * htbs_limit_doubt() - look whether the limit is why requests are slow, before it is judged
 * @limit: the limit
 * @slow: whether a request was slow
 * @now: real time, ns
 *
 * While a limit is at its least, surplus is not why. If more requests are slow than may be, for
 * HTBS_HORIZON, the device is slow by itself, and may have been so before. So the limit is less
 * known than it seems, and its steps double.
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
 * @slow: 0 if it did not take too long, and its flow is not behind its pace; else by how
 *	many steps it lowers the limit, by half of it at most
 * @used: what was used of the limit
 */
void htbs_limit_judge(struct htbs_limit *limit, u32 slow, u64 used)
{
	if (slow)
		htbs_limit_lower(limit, slow, used);
	else if (limit->full)
		htbs_limit_raise(limit);
	limit->full = false;
}
