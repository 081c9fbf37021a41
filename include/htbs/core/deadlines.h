/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The deadlines of the requests that a device has in flight.
 */
#ifndef HTBS_CORE_DEADLINES_H
#define HTBS_CORE_DEADLINES_H

#include <linux/types.h>

/* So many deadlines are kept: few drives queue more commands. */
#define HTBS_DEADLINES_MAX	128

/**
 * struct htbs_deadline - the deadline of a request in flight
 * @at: until when the device has to complete it, real ns
 * @due: when it is due by its latency, real ns; used to find it again
 */
struct htbs_deadline {
	u64 at;
	u64 due;
};

/**
 * struct htbs_deadlines - the deadlines of the requests in flight
 * @of: the deadlines that are kept; unordered
 * @count: number of entries of @of
 * @later: number of requests in flight with a deadline that was dropped
 * @later_at: none of the dropped deadlines is earlier, real ns
 */
struct htbs_deadlines {
	struct htbs_deadline of[HTBS_DEADLINES_MAX];
	u32 count;
	u32 later;
	u64 later_at;
};

void htbs_deadlines_add(struct htbs_deadlines *deadlines, u64 at, u64 due);
void htbs_deadlines_remove(struct htbs_deadlines *deadlines, u64 due);
bool htbs_deadlines_between(const struct htbs_deadlines *deadlines, u64 from, u64 until);

#endif /* HTBS_CORE_DEADLINES_H */
