// SPDX-License-Identifier: GPL-2.0
/*
 * How much surplus a device may have in flight and in its write buffer.
 *
 * Writes of surplus have a quota, because a drive still has to write its buffer to the medium, and
 * estimates show little of that time before a read waits for it. Reads of surplus have a window on
 * a device that does not seek. Neither limits owed requests. But they do limit the requests of a
 * relaxed flow, which are surplus because the device cannot keep the flow's reservation.
 */
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/judge.h>
#include <htbs/core/policy.h>
#include <htbs/core/quota.h>
#include <htbs/core/surplus.h>
#include <htbs/core/tree.h>

/*
 * Returns the flow of another pool of which conforming requests are expected. Most often there is
 * none.
 */
static struct htbs_flow *htbs_other_expected(struct htbs_policy *policy,
					     const struct htbs_flow *flow, u64 now)
{
	return htbs_tree_holds_only(&policy->expected.rb_root, &flow->expected) ? NULL :
	       htbs_policy_expected(policy, flow, now);
}

/* Returns true if the window allows one more read in flight. */
static bool htbs_window_open(struct htbs_policy *policy)
{
	u64 used = htbs_policy_in_flight(policy, false) * HTBS_LIMIT_ONE;

	if (used < policy->limits.window.value)
		return true;
	policy->limits.window.full = true;
	return false;
}

/* Returns true if another pool had a conforming request recently, or has one in flight. */
static bool htbs_others_conform(const struct htbs_policy *policy, const struct htbs_flow *flow,
				u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected);
	const struct htbs_flow *other;

	for (; rb; rb = rb_next(rb)) {
		other = rb_entry(rb, struct htbs_flow, expected);
		if (other->pool != flow->pool &&
		    (htbs_before(now, other->expected_until) ||
		     (other->conforming && !htbs_flow_stuck(other, now))))
			return true;
	}
	return false;
}

/*
 * Groups that always submit more than they reserved are expected to have conforming requests while
 * they are busy, but they have none. So no request judges the limits, and each of these groups
 * holds the others back. A limit that holds surplus back only for the sake of such groups is as
 * little known as at first. So it doubles with each HTBS_LIMIT_INTERVAL in which it does that.
 */
static void htbs_grow_unjudged(struct htbs_policy *policy, const struct htbs_flow *flow,
			       u64 now)
{
	struct htbs_limit *limit = flow->head.write ? &policy->limits.quota.limit :
						      &policy->limits.window;

	if (!limit->full)
		limit->unjudged_since = now;
	if (now - limit->unjudged_since < HTBS_LIMIT_INTERVAL)
		return;
	limit->unjudged_since = now;
	if (!htbs_others_conform(policy, flow, now))
		htbs_limit_renew(limit);
}

/*
 * Returns true if the head of a flow may be dispatched as surplus. Surplus is limited for the sake
 * of other pools: what a pool itself has reserved does not limit its flows.
 */
static noinline bool htbs_within_limits(struct htbs_policy *policy, const struct htbs_flow *flow,
					struct htbs_flow *other, u64 now)
{
	/*
	 * Reads have no limit on a device that seeks, so they tell nothing about an unjudged limit.
	 */
	if (policy->seeks && !flow->head.write)
		return true;
	htbs_grow_unjudged(policy, flow, now);
	htbs_policy_judge_pace(policy, other, now);
	return flow->head.write ? htbs_quota_allows(&policy->limits.quota, now) :
				  htbs_window_open(policy);
}

/**
 * htbs_policy_limits_allow() - whether the limits of surplus allow the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Surplus is limited while conforming requests of other pools are expected, unless the queue has to
 * be emptied. A device that does not seek may have whatever the limits allow.
 *
 * Return: true if they do.
 */
__always_inline bool
htbs_policy_limits_allow(struct htbs_policy *policy, const struct htbs_flow *flow,
			 u64 now)
{
	struct htbs_flow *other = htbs_other_expected(policy, flow, now);

	return !other || policy->drains || htbs_flow_owed(flow, now) ||
	       htbs_within_limits(policy, flow, other, now);
}

/**
 * htbs_policy_can_dispatch() - whether the head of a flow may be dispatched
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * While the queue has to be emptied, any request may be dispatched: it need not be held back for
 * conforming requests, because none arrives in a frozen queue.
 *
 * Return: true if it may.
 */
bool htbs_policy_can_dispatch(struct htbs_policy *policy,
			      struct htbs_flow *flow, u64 now)
{
	if (policy->drains)
		return true;
	if (policy->seeks && (htbs_policy_tries_fewer(policy) ||
			      (!htbs_policy_has_room(policy, flow, now) &&
			       !htbs_policy_tries_beside(policy, flow, now))))
		return false;
	return htbs_policy_limits_allow(policy, flow, now);
}
