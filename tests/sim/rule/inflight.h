/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device that orders by itself may have.
 */
#ifndef HTBS_SIM_RULE_INFLIGHT_H
#define HTBS_SIM_RULE_INFLIGHT_H

#include "rule.h"

void rule_expect_more(struct rule_policy *policy, struct rule_flow *flow,
		      u64 now);
bool rule_can_dispatch(struct rule_policy *policy, struct rule_flow *flow,
		       u64 now);
void rule_forget_due(struct rule_policy *policy, u64 due);
void rule_judge_quotas(struct rule_policy *policy, struct rule_flow *flow,
		       u64 now, const struct rule_sent *sent);

#endif /* HTBS_SIM_RULE_INFLIGHT_H */
