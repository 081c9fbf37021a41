/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Caps: the most that a flow may have, even of an idle device.
 */
#ifndef HTBS_CORE_CAP_H
#define HTBS_CORE_CAP_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/curve.h>

struct htbs_flow;
struct htbs_policy;

/*
 * A flow may be this far ahead of its cap, so that a late timer costs it
 * nothing.
 */
#define HTBS_CAP_AHEAD		10000000ULL	/* ns: 10 ms */

/* Requests exempt from the cap throttle the flow for no longer than this. */
#define HTBS_CAP_DEBT		3600000000000ULL	/* ns: 1 h */

/**
 * struct htbs_cap - the cap of a flow
 * @rb: place among the throttled flows with requests pending, by htbs_cap_end()
 * @curve: what was dispatched, in real time; its bw is the cap, 0: none
 * @throttled: the flow was ahead of its cap after its last dispatch
 */
struct htbs_cap {
	struct rb_node rb;
	struct htbs_curve curve;
	bool throttled;
};

/**
 * htbs_cap_end() - when a throttled flow may dispatch again
 * @cap: the cap of the flow
 *
 * Return: real ns.
 */
static inline u64 htbs_cap_end(const struct htbs_cap *cap)
{
	return cap->curve.tat - HTBS_CAP_AHEAD;
}

bool htbs_cap_throttles(const struct htbs_policy *policy,
			const struct htbs_flow *flow, u64 now);
struct htbs_flow *htbs_cap_first(const struct htbs_policy *policy);
void htbs_cap_link(struct htbs_policy *policy, struct htbs_flow *flow);
void htbs_cap_unlink(struct htbs_policy *policy, struct htbs_flow *flow);
void htbs_cap_charge(const struct htbs_policy *policy, struct htbs_flow *flow,
		     u64 now, u32 cost);
u64 htbs_flow_due(const struct htbs_flow *flow, u64 due);
u64 htbs_flow_waits_since(const struct htbs_flow *flow, u64 arrived);

#endif /* HTBS_CORE_CAP_H */
