/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stalls: what a device takes now and then for a single request.
 */
#ifndef HTBS_CORE_STALL_H
#define HTBS_CORE_STALL_H

#include <linux/types.h>

/**
 * struct htbs_stall - the longest times that a device took for a single request of late
 * @longest: the longest one since @since, or @second of the interval before, ns
 * @second: the next longest since @since, ns
 * @before: the next longest of the interval before, ns
 * @since: begin of the interval, ns
 * @over: what arrives before is delayed by the last one that was longer than those, ns
 * @lasted: how long that one took, ns
 */
struct htbs_stall {
	u64 longest;
	u64 second;
	u64 before;
	u64 since;
	u64 over;
	u64 lasted;
};

void htbs_stall_learn(struct htbs_stall *stall, u64 now, u64 took);
u64 htbs_stall_time(const struct htbs_stall *stall);
void htbs_stall_note(struct htbs_stall *stall, u64 now, u64 took, u64 own);
bool htbs_stall_delays(const struct htbs_stall *stall, u64 arrived, u64 latency);

#endif /* HTBS_CORE_STALL_H */
