/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests in flight, and whether a device that seeks may get one more.
 */
#ifndef HTBS_CORE_INFLIGHT_H
#define HTBS_CORE_INFLIGHT_H

#include <linux/types.h>

#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

bool htbs_policy_has_room(struct htbs_policy *policy,
			  const struct htbs_flow *flow, u64 now);
void htbs_policy_inflight_add(struct htbs_policy *policy,
			      struct htbs_flow *flow,
			      const struct htbs_sent *sent, u64 deadline);
void htbs_policy_note_idle(struct htbs_policy *policy, struct htbs_flow *flow);
void htbs_policy_inflight_remove(struct htbs_policy *policy,
				 struct htbs_flow *flow,
				 const struct htbs_sent *sent);

#endif /* HTBS_CORE_INFLIGHT_H */
