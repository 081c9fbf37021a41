/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs and waits: how long the active flow keeps the device.
 */
#ifndef HTBS_CORE_RUN_H
#define HTBS_CORE_RUN_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;
struct htbs_sent;

/* The longest run with the rule of slack. */
#define HTBS_RUN_MAX		1000000000ULL	/* ns: 1 s */

void htbs_policy_update_crowded(struct htbs_policy *policy, u64 now);
bool htbs_policy_account_lateness(struct htbs_policy *policy,
				  const struct htbs_flow *flow,
				  const struct htbs_sent *sent);
void htbs_policy_extend_turn(struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 now);
bool htbs_policy_in_time(const struct htbs_policy *policy, u64 now);
bool htbs_policy_limit_wait(struct htbs_policy *policy);
void htbs_policy_begin_wait(struct htbs_policy *policy, struct htbs_flow *flow);
bool htbs_policy_keep_active(struct htbs_policy *policy, u64 now);
bool htbs_policy_cancel_wait(struct htbs_policy *policy);
bool htbs_policy_timeout(struct htbs_policy *policy, u64 now);

#endif /* HTBS_CORE_RUN_H */
