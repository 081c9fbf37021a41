/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests in flight, and which flow may add to them.
 */
#ifndef HTBS_CORE_INFLIGHT_H
#define HTBS_CORE_INFLIGHT_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;
struct htbs_sent;

void htbs_policy_inflight_add(struct htbs_policy *policy,
			      struct htbs_flow *flow,
			      const struct htbs_sent *sent, bool streaming);
void htbs_policy_inflight_remove(struct htbs_policy *policy,
				 struct htbs_flow *flow,
				 const struct htbs_sent *sent);
void htbs_policy_update_windows(struct htbs_policy *policy, u64 now,
				const struct htbs_sent *sent);
bool htbs_policy_can_dispatch(struct htbs_policy *policy,
			      const struct htbs_flow *flow, u64 now);
struct htbs_flow *htbs_policy_next_dispatchable(struct htbs_policy *policy,
						u64 now);

#endif /* HTBS_CORE_INFLIGHT_H */
