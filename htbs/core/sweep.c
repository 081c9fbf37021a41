// SPDX-License-Identifier: GPL-2.0
/*
 * The order inside a flow: by position.
 *
 * With policy=slack, on a device that seeks, a flow with several requests
 * pending in different places has runs too. A run is a sweep then: in one
 * direction, then again from the first sector on. The oldest request goes
 * first, and then every sixteenth time, wherever it is, so that it is not
 * passed for ever; after it the sweep goes on where it was. With n requests
 * pending a sweep of n to 2n requests passes all of them, so few wait for the
 * sixteenth time.
 *
 * A conforming request is passed only as long as all that is pending, itself
 * included, can wait for one more request; otherwise deadlines decide. In an
 * overload they are lost anyway.
 *
 * A surplus request has no deadline of its own. Only its flow has tags, in
 * order of arrival. When a surplus request goes before older ones, it takes the
 * tags of the oldest, and each of these takes the tags of the next. So neither
 * shares nor the virtual clock depend on the order inside a flow. A conforming
 * request keeps its own tags. Tags are exchanged over HTBS_TAG_SWAPS requests
 * at most, as that is done with interrupts off; if more requests are older, the
 * request has the tags of one of them.
 */
#include <htbs/core/curve.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/slack.h>
#include <htbs/core/sweep.h>

/*
 * In a run the oldest request goes first, and again after this many requests.
 */
#define HTBS_SWEEP		16

/* Whether the active flow's oldest request can wait for one more request. */
static bool htbs_policy_head_waits(const struct htbs_policy *policy, u64 now)
{
	if (!policy->active->node.conforms || htbs_policy_overloaded(policy))
		return true;
	return htbs_before(now, htbs_slack_end(&policy->service, &policy->tree,
					       NULL, policy->in_flight,
					       now + HTBS_RUN_MAX));
}

/**
 * htbs_policy_sweeps() - whether the active flow is served by position
 * @policy: the policy; a flow is active
 * @now: real time, ns
 *
 * A device with requests in flight orders them itself.
 *
 * Return: true if the next request by position goes before the oldest.
 */
bool htbs_policy_sweeps(const struct htbs_policy *policy, u64 now)
{
	return policy->rule == HTBS_RULE_SLACK && policy->rotational &&
	       !policy->in_flight && policy->active->pending > 1 &&
	       policy->run % HTBS_SWEEP &&
	       htbs_policy_head_waits(policy, now);
}
