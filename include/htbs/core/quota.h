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
 * @tokens: bytes that may be dispatched now; below 0: that were too many
 * @rest: and the part of a byte, in units of 1/HTBS_SECOND
 * @filled: when @tokens was brought up to date, ns
 * @bytes: dispatched since @since, reserved or not
 * @since: begin of the interval, ns
 * @interval: how long it is at least, ns
 * @used: bytes/s of the interval before, or of one before a pause; 0: not known
 * @holds: a write was held back, and @tokens are below 0 since
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
 * htbs_quota_holds() - whether the quota held back a write, and has no tokens since
 * @quota: the quota
 *
 * While it does not apply nothing is held back, though all that is written is charged.
 *
 * Return: true if it does.
 */
static inline bool htbs_quota_holds(const struct htbs_quota *quota)
{
	return quota->holds;
}

#endif /* HTBS_CORE_QUOTA_H */
