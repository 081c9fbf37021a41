// SPDX-License-Identifier: GPL-2.0
/*
 * Throttling flows by their caps, and unthrottling them. For the rule see cap.c.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/throttle.h>

static struct htbs_flow *htbs_first_throttled(const struct htbs_policy *policy)
{
	return rb_entry_safe(rb_first_cached(&policy->throttled),
			     struct htbs_flow, cap.rb);
}

/* The pending requests of the flow count as if they arrived now. */
static void htbs_flow_unthrottled(struct htbs_flow *flow, u64 now)
{
	flow->cap.throttled = false;
	flow->cap.since = now;
	flow->head.arrived = now;
}

/**
 * htbs_policy_charge_cap() - charge a request to the cap of its flow
 * @policy: the policy
 * @flow: the flow, which may have requests pending
 * @now: real time, ns
 * @cost: bytes charged
 */
void htbs_policy_charge_cap(struct htbs_policy *policy, struct htbs_flow *flow,
			    u64 now, u32 cost)
{
	bool was = flow->cap.throttled, linked;

	if (!flow->cap.max)
		return;
	linked = htbs_policy_unlink(policy, flow);
	htbs_cap_charge(&flow->cap, now, cost);
	flow->cap.throttled &= !policy->drains;
	if (was && !flow->cap.throttled)
		htbs_flow_unthrottled(flow, now);
	else
		flow->head.arrived = htbs_cap_waits_since(&flow->cap, flow->head.arrived);
	if (linked)
		htbs_policy_link(policy, flow);
}

/* Unthrottle a flow. A wait for another flow ends before it makes this flow late. */
static void htbs_unthrottle(struct htbs_policy *policy, struct htbs_flow *flow,
			    u64 now)
{
	htbs_policy_unlink(policy, flow);
	htbs_flow_unthrottled(flow, now);
	htbs_policy_link(policy, flow);
	policy->held = false;
	htbs_policy_shorten_wait(policy, now);
}

/**
 * htbs_policy_set_cap() - set the cap of a flow
 * @policy: the policy
 * @flow: the flow
 * @max: the cap, bytes/s; 0: none
 * @now: real time, ns
 *
 * The flow is unthrottled. If requests are pending, htbs_policy_head_changed() must
 * follow.
 */
void htbs_policy_set_cap(struct htbs_policy *policy, struct htbs_flow *flow,
			 u64 max, u64 now)
{
	bool waited = flow->cap.throttled && flow->pending;

	if (waited)
		htbs_unthrottle(policy, flow, now);
	policy->capped += !!max - !!flow->cap.max;
	htbs_cap_init(&flow->cap, max, now);
	if (waited)
		flow->cap.since = now;
}

/**
 * htbs_policy_next_unthrottle() - when the next flow may be unthrottled
 * @policy: the policy
 * @at: set to that time, real ns
 *
 * Return: true if a flow with requests pending is throttled.
 */
bool htbs_policy_next_unthrottle(const struct htbs_policy *policy, u64 *at)
{
	const struct htbs_flow *flow = htbs_first_throttled(policy);

	if (flow)
		*at = htbs_cap_end(&flow->cap);
	return flow;
}

/**
 * htbs_policy_unthrottle() - unthrottle a flow that may dispatch again
 * @policy: the policy
 * @now: real time, ns
 *
 * Before a choice, call this until it returns NULL. Afterwards a wait may end earlier, see
 * policy->wait_until.
 *
 * Return: the flow, or NULL if there is none.
 */
struct htbs_flow *htbs_policy_unthrottle(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = htbs_first_throttled(policy);

	if (!flow || htbs_policy_throttles(policy, flow, now))
		return NULL;
	htbs_unthrottle(policy, flow, now);
	return flow;
}

/**
 * htbs_policy_drain() - set whether the queue has to be emptied
 * @policy: the policy
 * @drains: it has to be emptied: caps throttle nothing, surplus has no limits, and no wait begins;
 *	htbs_policy_unthrottle() must follow
 *
 * If the queue has to be emptied, a request that is held back is released, unless the driver has no
 * tag for it.
 *
 * Return: true if @drains has changed.
 */
bool htbs_policy_drain(struct htbs_policy *policy, bool drains)
{
	bool news = policy->drains != drains;

	policy->drains = drains;
	policy->held = policy->held && (policy->full || !drains);
	return news;
}
