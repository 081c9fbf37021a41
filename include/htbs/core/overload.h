/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Overload: reservations that the device cannot keep together.
 */
#ifndef HTBS_CORE_OVERLOAD_H
#define HTBS_CORE_OVERLOAD_H

#include <linux/types.h>

#include <htbs/core/service.h>

/*
 * The lead: how far a pool may get ahead of another one in an overload, in time of its reservation.
 */
#define HTBS_LEAD		(HTBS_HORIZON / 2)

struct htbs_flow;
struct htbs_policy;

bool htbs_policy_end_overload(struct htbs_policy *policy, u64 now);
bool htbs_policy_account_turn(struct htbs_policy *policy,
			      const struct htbs_flow *flow, u64 due, u64 now);

#endif /* HTBS_CORE_OVERLOAD_H */
