// SPDX-License-Identifier: GPL-2.0
/*
 * Relaxed flows on a device that does not seek: those with reservations that the device does not
 * keep.
 *
 * The service time of a request says little about how many requests such a device serves at a time.
 * So HTBS cannot know in advance whether the device can keep a reservation beside those of others.
 * If the device does not keep it for HTBS_HORIZON, the flow is relaxed: all its requests are
 * surplus until it is behind its pace by no more than its latency.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/flow.h>
#include <htbs/core/judge.h>
#include <htbs/core/policy.h>
#include <htbs/core/relax.h>

/*
 * Returns true if, recently, a conforming request of another pool was slow, or another pool was
 * behind its pace.
 */
static bool htbs_others_are_slow(const struct htbs_policy *policy, const struct htbs_flow *flow,
				 u64 now)
{
	const struct htbs_slow *slow = &policy->limits.slow;

	return now - (slow->pool == flow->pool ? slow->before : slow->at) < HTBS_HORIZON;
}

/*
 * Returns true if a flow is behind its pace by more than its latency, although the limits of
 * surplus are at their minimum, while its pool has more than an average number of requests in
 * flight and others are slow.
 */
static bool htbs_has_too_much(const struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now)
{
	return htbs_policy_limits_are_least(policy) &&
	       flow->pool->in_flight * policy->busy > policy->in_flight &&
	       htbs_others_are_slow(policy, flow, now) &&
	       htbs_pool_behind_by(flow->pool, now) > htbs_flow_latency(flow);
}

/**
 * htbs_policy_relax() - decide whether a flow is relaxed, on a device that does not seek
 * @policy: the policy
 * @flow: a flow of which a request has completed
 * @now: real time, ns
 */
void htbs_policy_relax(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	struct htbs_pool *pool = flow->pool;
	bool behind, relaxed;

	if (flow->background)
		return;
	behind = pool->relaxed ? htbs_before(htbs_pace_tag(&pool->pace) + htbs_flow_latency(flow),
					     now) :
				 htbs_has_too_much(policy, flow, now);
	if (!behind)
		pool->on_pace = now;
	relaxed = now - pool->on_pace > HTBS_HORIZON;
	if (relaxed == pool->relaxed)
		return;
	pool->relaxed = relaxed;
	htbs_policy_update_head(policy, flow);
}
