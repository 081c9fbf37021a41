// SPDX-License-Identifier: GPL-2.0
/*
 * Reservations that a device that does not seek does not keep: their flows are relaxed.
 *
 * The service time of a request says little about how many requests such a device serves. So HTBS
 * cannot know in advance whether the device can keep a reservation. If the device does not keep it,
 * beside those of others, for HTBS_HORIZON, the flow is relaxed: all its requests are surplus until
 * it has caught up.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/flow.h>
#include <htbs/core/judge.h>
#include <htbs/core/policy.h>
#include <htbs/core/relax.h>

/* Whether a conforming request of another pool was slow of late, or the pool behind. */
static bool htbs_others_are_slow(const struct htbs_policy *policy, const struct htbs_flow *flow,
				 u64 now)
{
	const struct htbs_slow *slow = &policy->limits.slow;

	return now - (slow->pool == flow->pool ? slow->before : slow->at) < HTBS_HORIZON;
}

/*
 * Whether a flow has more in flight than others, which are slow, and is behind its pace though
 * nothing is left to be taken from surplus.
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
 * @flow: the flow, of which a request has completed
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
