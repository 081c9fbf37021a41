/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A limit on surplus that is adjusted by whether conforming requests are in time.
 */
#ifndef HTBS_CORE_LIMIT_H
#define HTBS_CORE_LIMIT_H

#include <linux/types.h>

/*
 * Limits that are small numbers are kept in units of 1/HTBS_LIMIT_ONE, so that their steps are
 * exact even if slow requests are rare.
 */
#define HTBS_LIMIT_ONE		0x100000000ULL	/* 2^32 */

/* While a limit grows fast, it doubles once in this time at most. */
#define HTBS_LIMIT_INTERVAL	50000000ULL	/* ns */

/**
 * struct htbs_limit - a limit on surplus
 * @value: the limit, from @least to @most
 * @least: the minimum, which is left to surplus in any case
 * @most: the maximum; no device takes more
 * @rarity: one request in so many may be slow
 * @part: the last step down was 1/@part of the limit; 1: no request was slow yet, or the limit was
 *	renewed or doubted since
 * @threshold: the limit grows fast up to this value; @most if no request was slow yet
 * @unjudged_since: since when it holds back surplus without being judged by any request, real ns
 * @doubted: since when it is below twice @least, or when it was doubted last, real ns
 * @excess: sum over the requests since @doubted: a slow one counts @rarity, any other -1
 * @full: it has held back a request since it was judged last
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

/*
 * Return true if no request was slow yet, or none since the limit fell while it held nothing back.
 */
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
