// SPDX-License-Identifier: GPL-2.0
/*
 * Throttling and unthrottling flows. For the rule see cap.c.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/cap.h>
#include <htbs/core/eligible.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/throttle.h>

/**
 * htbs_cap_charge_bypass() - charge a request that bypasses the policy
 * @policy: the policy
 * @flow: its flow, which may have other requests pending
 * @now: real time, ns
 * @cost: bytes charged to the cap
 */
void htbs_cap_charge_bypass(struct htbs_policy *policy, struct htbs_flow *flow,
			    u64 now, u32 cost)
{
	bool linked = htbs_policy_unlink(policy, flow);

	htbs_cap_charge(policy, flow, now, cost);
	if (!linked)
		return;
	flow->node.due = htbs_flow_due(flow, flow->node.due);
	flow->node.arrived = htbs_flow_waits_since(flow, flow->node.arrived);
	htbs_policy_update_eligible(flow);
	htbs_policy_link(policy, flow);
}

/* A wait for another flow ends before it makes this flow late. */
static void htbs_unthrottle(struct htbs_policy *policy, struct htbs_flow *flow)
{
	htbs_cap_unlink(policy, flow);
	flow->cap.throttled = false;
	htbs_policy_link(policy, flow);
	policy->held = false;
	htbs_policy_limit_wait(policy);
}

/**
 * htbs_policy_set_cap() - set the cap of a flow
 * @policy: the policy
 * @flow: the flow
 * @max: the cap, bytes/s; 0: none
 * @now: real time, ns
 *
 * The flow is unthrottled. If requests are pending, htbs_policy_set_head() must
 * follow.
 */
void htbs_policy_set_cap(struct htbs_policy *policy, struct htbs_flow *flow,
			 u64 max, u64 now)
{
	flow->cap.curve.params.bw = max;
	if (!RB_EMPTY_NODE(&flow->cap.rb))
		htbs_unthrottle(policy, flow);
	flow->cap.curve.tat = now;
	flow->cap.curve.rem = 0;
	flow->cap.throttled = false;
}

/**
 * htbs_policy_next_unthrottle() - when the next flow may be unthrottled
 * @policy: the policy
 * @at: real ns
 *
 * Return: true if a flow with requests pending is throttled.
 */
bool htbs_policy_next_unthrottle(const struct htbs_policy *policy, u64 *at)
{
	const struct htbs_flow *flow = htbs_cap_first(policy);

	if (flow)
		*at = htbs_cap_end(&flow->cap);
	return flow;
}

/**
 * htbs_policy_unthrottle() - unthrottle a flow that may dispatch again
 * @policy: the policy
 * @now: real time, ns
 *
 * To be called before a choice until it returns NULL. A wait may end earlier
 * afterwards, see policy->wait_until.
 *
 * Return: the flow, or NULL if there is none.
 */
struct htbs_flow *htbs_policy_unthrottle(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = htbs_cap_first(policy);

	if (!flow || htbs_cap_throttles(policy, flow, now))
		return NULL;
	htbs_unthrottle(policy, flow);
	return flow;
}

/**
 * htbs_policy_drain() - set whether the queue has to be emptied
 * @policy: the policy
 * @drains: it has: caps throttle nothing; htbs_policy_unthrottle() must follow
 *
 * Return: true if that has changed.
 */
bool htbs_policy_drain(struct htbs_policy *policy, bool drains)
{
	bool news = policy->drains != drains;

	policy->drains = drains;
	return news;
}
