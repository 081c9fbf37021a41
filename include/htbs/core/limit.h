/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A limit on surplus that follows from whether conforming requests are in time.
 */
#ifndef HTBS_CORE_LIMIT_H
#define HTBS_CORE_LIMIT_H

#include <linux/types.h>

/* The unit of limits that are small numbers: the steps of a rare slow request are exact. */
#define HTBS_LIMIT_ONE		0x100000000ULL	/* 2^32 */

/* Until a request was slow a limit doubles once in so long, at most. */
#define HTBS_LIMIT_INTERVAL	50000000ULL	/* ns */

/**
 * struct htbs_limit - a limit on surplus
 * @value: the limit, from @least to @most
 * @least: what is left to surplus at least
 * @most: no device takes more
 * @rarity: one request in so many may be slow
 * @part: the part by which it was last lowered, 1/@part; 1: no request was slow yet, or it was
 *	renewed or doubted since
 * @threshold: up to there it grows fast; @most if no request was slow yet
 * @unjudged_since: since when it holds back surplus, and no request has judged it, real ns
 * @doubted: since when it is below twice its least, or when it was doubted last, real ns
 * @excess: of the requests since @doubted, slow ones count @rarity and others -1
 * @full: it held back a request since it was judged last
 */
struct htbs_limit {
	u64 value;
	u64 least;
	u64 most;
	u64 threshold;
	u64 unjudged_since;
	u64 doubted;
	s64 excess;
	u32 rarity;
	u32 part;
	bool full;
};

/* Whether no request was slow yet, or none since the limit fell though it held nothing back. */
static inline bool htbs_limit_grows_fast(const struct htbs_limit *limit)
{
	return limit->value < limit->threshold;
}

void htbs_limit_init(struct htbs_limit *limit, u64 first, u64 least, u64 most);
void htbs_limit_double(struct htbs_limit *limit);
void htbs_limit_renew(struct htbs_limit *limit);
void htbs_limit_doubt(struct htbs_limit *limit, bool slow, u64 now);
void htbs_limit_judge(struct htbs_limit *limit, u32 slow, u64 used);

#endif /* HTBS_CORE_LIMIT_H */
