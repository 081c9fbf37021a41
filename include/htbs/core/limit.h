/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A limit on surplus that follows from whether conforming requests are in time.
 */
#ifndef HTBS_CORE_LIMIT_H
#define HTBS_CORE_LIMIT_H

#include <linux/types.h>

/**
 * struct htbs_limit - a limit on surplus
 * @value: the limit, from @least to @most
 * @least: what is left to surplus at least
 * @most: no device takes more
 * @rarity: one request in so many may be slow
 * @full: it held back a request since it was judged last
 * @probes: no request was slow yet
 */
struct htbs_limit {
	u64 value;
	u64 least;
	u64 most;
	u32 rarity;
	bool full;
	bool probes;
};

void htbs_limit_init(struct htbs_limit *limit, u64 first, u64 least, u64 most,
		     u32 rarity);
void htbs_limit_double(struct htbs_limit *limit);
void htbs_limit_judge(struct htbs_limit *limit, bool slow, u64 used);

#endif /* HTBS_CORE_LIMIT_H */
