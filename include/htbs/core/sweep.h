/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order in which the requests of a flow are dispatched.
 */
#ifndef HTBS_CORE_SWEEP_H
#define HTBS_CORE_SWEEP_H

#include <linux/types.h>

struct htbs_policy;

/*
 * The most places by which a request that goes by position exchanges its tags.
 */
#define HTBS_TAG_SWAPS		64

bool htbs_policy_sweeps(const struct htbs_policy *policy, u64 now);

#endif /* HTBS_CORE_SWEEP_H */
