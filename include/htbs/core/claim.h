/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a device that claims to seek really seeks.
 */
#ifndef HTBS_CORE_CLAIM_H
#define HTBS_CORE_CLAIM_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;
struct htbs_sent;

/**
 * struct htbs_unlearnt - completed requests that the estimates do not include yet
 * @took: the device time that they took, ns
 * @count: their number
 */
struct htbs_unlearnt {
	u64 took;
	u32 count;
};

/**
 * struct htbs_claim - what tells whether a device that claims to seek really seeks
 * @alone: reads that were alone in the device when they were dispatched, and until they completed
 * @beside: reads that were dispatched beside three others
 * @tries: it is not known yet whether the device seeks
 * @doubted: a reservation of a flow's own would be impossible if the device seeks
 * @lone: the request dispatched last was alone in the device, and is a sample
 * @besides: requests in flight that were dispatched beside three reads
 * @crowded: the last dispatch that left a write or more than four requests in flight, real ns
 */
struct htbs_claim {
	struct htbs_unlearnt alone;
	struct htbs_unlearnt beside;
	bool tries;
	bool doubted;
	bool lone;
	u32 besides;
	u64 crowded;
};

void htbs_claim_init(struct htbs_claim *claim);
bool htbs_policy_tries_fewer(const struct htbs_policy *policy);
bool htbs_policy_tries_beside(const struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now);
u8 htbs_policy_claim_flags(const struct htbs_policy *policy, bool write, bool near);
void htbs_claim_add(struct htbs_claim *claim, const struct htbs_sent *sent, bool crowds);
void htbs_policy_learn_claim(struct htbs_policy *policy, const struct htbs_flow *flow, u64 now,
			     const struct htbs_sent *sent);
bool htbs_policy_judge_claim(struct htbs_policy *policy);

#endif /* HTBS_CORE_CLAIM_H */
