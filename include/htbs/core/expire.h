/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expired heads.
 */
#ifndef HTBS_CORE_EXPIRE_H
#define HTBS_CORE_EXPIRE_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

/* A head that has been pending for this long is dispatched next: expire.c. */
#define HTBS_EXPIRE		30000000000ULL	/* ns: 30 s */

struct htbs_flow *htbs_policy_expired(struct htbs_policy *policy, u64 now);
bool htbs_policy_oldest_arrival(const struct htbs_policy *policy, u64 *arrived);
u64 htbs_policy_bound(const struct htbs_policy *policy);

#endif /* HTBS_CORE_EXPIRE_H */
