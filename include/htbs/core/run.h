/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs and waits: how long the active flow keeps the device.
 */
#ifndef HTBS_CORE_RUN_H
#define HTBS_CORE_RUN_H

#include <linux/types.h>

/*
 * So many positionings a batch of owed heads has to spare if heads go by position: one to a head
 * and one back.
 */
#define HTBS_THERE_AND_BACK	2

struct htbs_flow;
struct htbs_policy;

bool htbs_policy_pass_oldest(const struct htbs_policy *policy, struct htbs_flow *flow,
			     bool stays);
bool htbs_policy_background_due(const struct htbs_policy *policy, u64 now);
bool htbs_policy_keep_or_wait(struct htbs_policy *policy, u64 now);
bool htbs_policy_shorten_wait(struct htbs_policy *policy, u64 now);
void htbs_policy_wait_for_arrival(struct htbs_policy *policy, u64 now);

#endif /* HTBS_CORE_RUN_H */
