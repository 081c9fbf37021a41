/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many conforming requests may be late.
 */
#ifndef HTBS_CORE_LATE_H
#define HTBS_CORE_LATE_H

#include <linux/types.h>

struct htbs_policy;

/* By default one in so many, and beside writes on a device that does not seek. */
#define HTBS_LATE_ONE_IN	1000
#define HTBS_LATE_WRITES	100
/* What may be set: the steps of a limit are exact within. */
#define HTBS_LATE_MIN		10
#define HTBS_LATE_MAX		100000

void htbs_policy_set_late(struct htbs_policy *policy, u32 one_in, u32 one_in_writes);

#endif /* HTBS_CORE_LATE_H */
