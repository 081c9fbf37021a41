/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a completed request tells about the device and about its flow.
 */
#ifndef HTBS_CORE_LEARN_H
#define HTBS_CORE_LEARN_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;
struct htbs_sent;

void htbs_policy_learn(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
		       const struct htbs_sent *sent);
void htbs_policy_forget(struct htbs_policy *policy, struct htbs_flow *flow, u64 now);

#endif /* HTBS_CORE_LEARN_H */
