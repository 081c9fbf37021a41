/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many conforming requests may be late.
 */
#ifndef HTBS_CORE_LATE_H
#define HTBS_CORE_LATE_H

#include <linux/types.h>

struct htbs_policy;

/* The defaults: one in so many, and one in so many beside writes on a device that does not seek. */
#define HTBS_LATE_ONE_IN	1000
#define HTBS_LATE_WRITES	100
/* The range of both, within which the steps of a limit are exact. */
#define HTBS_LATE_MIN		10
#define HTBS_LATE_MAX		100000

void htbs_policy_set_late(struct htbs_policy *policy, u32 one_in, u32 one_in_writes);

#endif /* HTBS_CORE_LATE_H */
