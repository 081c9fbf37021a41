/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a flow is owed: its head, by its pace.
 */
#ifndef HTBS_SIM_RULE_FLOW_H
#define HTBS_SIM_RULE_FLOW_H

#include "rule.h"

struct rule_flow *rule_flow_of(struct htbs_owed_head *head);
bool rule_sequential(const struct rule_flow *flow);
bool rule_impossible(const struct rule_flow *flow);
bool rule_gives_up(const struct rule_policy *policy,
		   const struct rule_flow *flow);
bool rule_owed(const struct rule_flow *flow, u64 now);
bool rule_behind(const struct rule_flow *flow, u64 now);
void rule_update_head(struct rule_policy *policy, struct rule_flow *flow);
void rule_update_heads(struct rule_policy *policy);
void rule_become_backlogged(struct rule_policy *policy,
			    struct rule_flow *flow);
void rule_end_backlog(struct rule_policy *policy, struct rule_flow *flow);
struct htbs_load rule_load_with(const struct rule_policy *policy,
				const struct rule_flow *flow, u32 halves);
u64 rule_latest(const struct rule_policy *policy,
		const struct rule_flow *except, struct htbs_load load, u64 now,
		bool at_worst);
void rule_become_busy(struct rule_policy *policy, struct rule_flow *flow,
		      u64 now);

#endif /* HTBS_SIM_RULE_FLOW_H */
