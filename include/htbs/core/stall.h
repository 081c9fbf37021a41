/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stalls: how long a device takes now and then for a single request.
 */
#ifndef HTBS_CORE_STALL_H
#define HTBS_CORE_STALL_H

#include <linux/types.h>

/**
 * struct htbs_stall - the longest times that a device took recently for a single request
 * @longest: the longest time since @since, or @second of the interval before, ns
 * @second: the second longest time since @since, ns
 * @before: the second longest time of the interval before, ns
 * @since: beginning of the interval, ns
 * @over: requests that arrive before this were delayed by the last stall that was noted, ns
 * @lasted: how long that stall lasted, ns
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
