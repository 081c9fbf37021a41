/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The quota: how much may be written as surplus without making conforming requests late.
 */
#ifndef HTBS_CORE_QUOTA_H
#define HTBS_CORE_QUOTA_H

#include <linux/types.h>

#include <htbs/core/limit.h>

/**
 * struct htbs_quota - limits the writes of surplus
 * @limit: bytes/s; a positioning counts as the bytes that could be transferred meanwhile
 * @tokens: bytes that may be dispatched now; if negative, bytes that were dispatched in excess
 * @rest: the fraction of a byte that belongs to @tokens, in units of 1/HTBS_SECOND
 * @filled: when @tokens was updated last, ns
 * @bytes: bytes dispatched since @since, whether owed or surplus
 * @since: beginning of the interval, ns
 * @interval: minimum length of an interval, ns
 * @used: bytes/s in the last interval, or in one before a pause; 0: not known
 * @holds: a write was held back, and @tokens has been negative since
 */
struct htbs_quota {
	struct htbs_limit limit;
	s64 tokens;
	u32 rest;
	u64 filled;
	u64 bytes;
	u64 since;
	u64 interval;
	u64 used;
	bool holds;
};

void htbs_quota_init(struct htbs_quota *quota, u64 least, u64 run, u64 now);
void htbs_quota_fill(struct htbs_quota *quota, u64 now);
bool htbs_quota_allows(struct htbs_quota *quota, u64 now);
void htbs_quota_account(struct htbs_quota *quota, u64 bytes, bool surplus, u64 now);
void htbs_quota_judge(struct htbs_quota *quota, u32 late, u64 now);
u64 htbs_quota_wait(struct htbs_quota *quota, u64 now);

/**
 * htbs_quota_holds() - whether the quota holds back writes
 * @quota: the quota
 *
 * While the quota does not apply, it holds nothing back, although surplus is still charged to it.
 *
 * Return: true if it has held back a write, and its tokens have been negative since.
 */
static inline bool htbs_quota_holds(const struct htbs_quota *quota)
{
	return quota->holds;
}

#endif /* HTBS_CORE_QUOTA_H */
