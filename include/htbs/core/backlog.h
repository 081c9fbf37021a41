/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backlogged flows, what they are owed, and the flows that a cap throttles.
 */
#ifndef HTBS_CORE_BACKLOG_H
#define HTBS_CORE_BACKLOG_H

#include <linux/types.h>

#include <htbs/core/service.h>

struct htbs_flow;
struct htbs_policy;

void htbs_policy_link(struct htbs_policy *policy, struct htbs_flow *flow);
bool htbs_policy_unlink(struct htbs_policy *policy, struct htbs_flow *flow);
void htbs_policy_settle(struct htbs_policy *policy);
void htbs_policy_update_head(struct htbs_policy *policy, struct htbs_flow *flow);
bool htbs_policy_throttles(const struct htbs_policy *policy,
			   const struct htbs_flow *flow, u64 now);
bool htbs_policy_owes(const struct htbs_policy *policy,
		      const struct htbs_flow *flow, u64 now);
struct htbs_flow *htbs_policy_least_served(const struct htbs_policy *policy);
void htbs_policy_advance_shares(struct htbs_policy *policy);
void htbs_policy_release(struct htbs_policy *policy);
void htbs_policy_begin_share(struct htbs_policy *policy, struct htbs_flow *flow);
struct htbs_load htbs_policy_load_with(const struct htbs_policy *policy,
				       const struct htbs_flow *flow, u32 times);
u64 htbs_policy_latest(struct htbs_policy *policy,
		       const struct htbs_flow *except,
		       const struct htbs_load *before, u64 now, bool at_worst);

#endif /* HTBS_CORE_BACKLOG_H */
