/* SPDX-License-Identifier: GPL-2.0 */
/*
 * More is reserved than the device can do.
 */
#ifndef HTBS_SIM_RULE_OVERLOAD_H
#define HTBS_SIM_RULE_OVERLOAD_H

#include "rule.h"

void rule_end_overload(struct rule_policy *policy, u64 now);
void rule_account_turn(struct rule_policy *policy,
		       const struct rule_flow *flow, u64 now);

#endif /* HTBS_SIM_RULE_OVERLOAD_H */
