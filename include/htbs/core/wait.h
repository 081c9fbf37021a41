/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits and holds: until when no choice is made.
 */
#ifndef HTBS_CORE_WAIT_H
#define HTBS_CORE_WAIT_H

#include <linux/types.h>

struct htbs_policy;

void htbs_policy_hold_for_tag(struct htbs_policy *policy);
u64 htbs_policy_hold_most(const struct htbs_policy *policy);
void htbs_policy_hold(struct htbs_policy *policy, u64 now);
bool htbs_policy_timer(const struct htbs_policy *policy, u64 *at);
bool htbs_policy_cancel_wait(struct htbs_policy *policy);
bool htbs_policy_timeout(struct htbs_policy *policy, u64 now);

#endif /* HTBS_CORE_WAIT_H */
