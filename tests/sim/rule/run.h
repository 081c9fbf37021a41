/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of the active flow, and waits for its next request.
 */
#ifndef HTBS_SIM_RULE_RUN_H
#define HTBS_SIM_RULE_RUN_H

#include "rule.h"

bool rule_sweeps(const struct rule_policy *policy, u64 now);
bool rule_background_due(const struct rule_policy *policy, u64 now);
bool rule_keep_active(struct rule_policy *policy, u64 now);
void rule_shorten_wait(struct rule_policy *policy, u64 now);
void rule_wait_for_arrival(struct rule_policy *policy, u64 now);

#endif /* HTBS_SIM_RULE_RUN_H */
