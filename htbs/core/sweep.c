// SPDX-License-Identifier: GPL-2.0
/*
 * The order inside a flow: by position.
 *
 * A flow with several requests pending in different places has a run, too, on a
 * device that seeks, with policy=slack.  It is a sweep: in one direction, then
 * again from the first sector on.  The oldest request goes first, and then every
 * sixteenth time, wherever it is, so that none is passed for ever; after it the
 * sweep goes on where it was.  With n pending a sweep of n to 2n requests passes
 * all of them, so that few wait for the sixteenth time.
 *
 * A request that conforms is passed only as long as all that is pending, itself
 * too, can wait for one more; where that isn't so, deadlines decide.  In an
 * overload they are lost anyway.
 *
 * A surplus request has no deadline of its own, only its flow has tags, in the
 * order of arrival.  When one goes before other surplus requests, it takes the tags
 * of the oldest of them, and each of them takes the next one's.  So neither shares
 * nor the virtual clock depend on the order inside a flow.  A conforming request
 * keeps its own tags.  Tags are passed on over HTBS_TAG_SWAPS requests at most, as
 * that is done with interrupts off; if more are older, the request has the tags of
 * one of them.
 */
#include <htbs/core/curve.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/slack.h>
#include <htbs/core/sweep.h>

/* The oldest request goes first in a run, and then again after so many. */
#define HTBS_SWEEP		16

/* Can the oldest request of the active reservation wait for one more? */
static bool htbs_policy_head_waits(const struct htbs_policy *policy, u64 now)
{
	if (!policy->active->node.conforms || htbs_policy_overloaded(policy))
		return true;
	return htbs_before(now, htbs_slack_end(&policy->service, &policy->tree,
					       NULL, policy->in_flight,
					       now + HTBS_RUN_MAX));
}

/**
 * htbs_policy_sweeps() - is the active reservation served by position
 * @policy: the policy; a reservation is active
 * @now: real time, ns
 *
 * A device that has other requests orders them itself.
 *
 * Return: true if the next one by position goes before the oldest.
 */
bool htbs_policy_sweeps(const struct htbs_policy *policy, u64 now)
{
	return policy->rule == HTBS_RULE_SLACK && policy->rotational &&
	       !policy->in_flight && policy->active->pending > 1 &&
	       policy->run % HTBS_SWEEP &&
	       htbs_policy_head_waits(policy, now);
}
