/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a device that claims to seek does.
 */
#ifndef HTBS_CORE_CLAIM_H
#define HTBS_CORE_CLAIM_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;
struct htbs_sent;

/**
 * struct htbs_unlearnt - completed requests of which the estimates do not know yet
 * @took: the device time that they took, ns
 * @count: their number
 */
struct htbs_unlearnt {
	u64 took;
	u32 count;
};

/**
 * struct htbs_claim - what tells whether a device that claims to seek does
 * @alone: reads that the device had alone, from the dispatch on
 * @beside: reads that were dispatched beside three others
 * @tries: it is not known yet
 * @lone: the device has had no other request since the one in flight, which tells something
 */
struct htbs_claim {
	struct htbs_unlearnt alone;
	struct htbs_unlearnt beside;
	bool tries;
	bool lone;
};

void htbs_claim_init(struct htbs_claim *claim);
bool htbs_claim_counts(const struct htbs_sent *sent);
bool htbs_policy_tries_alone(const struct htbs_policy *policy);
bool htbs_policy_tries_beside(const struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now);
bool htbs_policy_is_beside(const struct htbs_policy *policy);
void htbs_policy_learn_claim(struct htbs_policy *policy, u64 now, const struct htbs_sent *sent);
bool htbs_policy_judge_claim(struct htbs_policy *policy);

#endif /* HTBS_CORE_CLAIM_H */
