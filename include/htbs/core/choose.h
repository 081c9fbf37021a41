/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which flow is dispatched next.
 */
#ifndef HTBS_CORE_CHOOSE_H
#define HTBS_CORE_CHOOSE_H

#include <linux/types.h>

struct htbs_choice;
struct htbs_flow;
struct htbs_policy;

bool htbs_policy_has_no_choice(const struct htbs_policy *policy,
			       const struct htbs_flow *flow);
bool htbs_policy_choose_arriving(struct htbs_policy *policy,
				 struct htbs_flow *flow, u64 now);
struct htbs_flow *htbs_policy_choose_only(struct htbs_policy *policy, u64 now);
void htbs_policy_choose(struct htbs_policy *policy, u64 now,
			struct htbs_choice *choice);

#endif /* HTBS_CORE_CHOOSE_H */
