/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Caps: the most that a flow may get, even on an idle device.
 */
#ifndef HTBS_CORE_CAP_H
#define HTBS_CORE_CAP_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/params.h>

/*
 * A flow may be this far ahead of its cap, so that a late timer costs it
 * nothing.
 */
#define HTBS_CAP_AHEAD		10000000ULL	/* ns: 10 ms */

/* Requests exempt from the cap throttle the flow for no longer than this. */
#define HTBS_CAP_DEBT		3600000000000ULL	/* ns: 1 h */

/**
 * struct htbs_cap - the cap of a flow
 * @rb: place among the throttled flows with requests pending, by @tag
 * @max: the cap, bytes/s; 0: none
 * @tag: when the next request would start at the rate of the cap, real ns
 * @rest: what @tag lacks of the exact moment, in units of 1/@max ns
 * @since: when the flow was unthrottled last, real ns
 * @throttled: the flow was ahead of its cap after its last dispatch
 */
struct htbs_cap {
	struct rb_node rb;
	u64 max;
	u64 tag;
	u64 rest;
	u64 since;
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
	return cap->tag - HTBS_CAP_AHEAD;
}

void htbs_cap_init(struct htbs_cap *cap, u64 max, u64 now);
void htbs_cap_charge(struct htbs_cap *cap, u64 now, u32 cost);

/**
 * htbs_cap_waits_since() - since when a request waits for the device
 * @cap: the cap of its flow
 * @arrived: when it arrived, real ns
 *
 * Time for which the flow is throttled does not count.
 *
 * Return: real ns.
 */
static inline u64 htbs_cap_waits_since(const struct htbs_cap *cap, u64 arrived)
{
	return htbs_later(arrived, cap->throttled ? htbs_cap_end(cap) :
						    cap->since);
}

#endif /* HTBS_CORE_CAP_H */
