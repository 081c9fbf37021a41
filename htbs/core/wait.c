// SPDX-License-Identifier: GPL-2.0
/*
 * Waits and holds: until when no choice is made.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/policy.h>
#include <htbs/core/quota.h>
#include <htbs/core/wait.h>

static void htbs_hold(struct htbs_policy *policy, bool full)
{
	policy->held = true;
	policy->held_until = 0;
	policy->full = full;
}

/**
 * htbs_policy_hold_for_tag() - choose no request, because the driver has no tag for it
 * @policy: the policy
 *
 * The hold ends when a request completes.
 */
void htbs_policy_hold_for_tag(struct htbs_policy *policy)
{
	htbs_hold(policy, true);
}

/**
 * htbs_policy_hold_most() - how long a choice may be put off
 * @policy: the policy
 *
 * Each choice looks for an expired head, so the bound in expire.c depends on this time. It has a
 * minimum, because otherwise the timer would keep firing on a device that takes next to no time.
 *
 * Return: ns.
 */
u64 htbs_policy_hold_most(const struct htbs_policy *policy)
{
	return htbs_later(2 * htbs_service_time_longest(&policy->service) +
			  policy->t_wait, HTBS_MOMENT);
}

/**
 * htbs_policy_hold() - hold back the chosen request
 * @policy: the policy
 * @now: real time, ns
 *
 * The hold ends when a request completes, when a flow without pending requests gets one, or when
 * the quota has filled. On an idle device that seeks, it also ends when the device has to begin
 * with owed heads. A timer ends it even if nothing happens, because a head may expire meanwhile.
 */
void htbs_policy_hold(struct htbs_policy *policy, u64 now)
{
	u64 wait = htbs_quota_wait(&policy->limits.quota, now);
	u64 most = htbs_policy_hold_most(policy), latest;

	htbs_hold(policy, false);
	if (!wait || wait > most)
		wait = most;
	policy->held_until = now + wait;
	if (!policy->seeks || policy->in_flight)
		return;
	latest = htbs_policy_latest(policy, NULL, &policy->load, now, true);
	if (htbs_before(now, latest) && htbs_before(latest, policy->held_until))
		policy->held_until = latest;
}

/**
 * htbs_policy_timer() - when to choose again if nothing happens before
 * @policy: the policy
 * @at: set to that time, real ns
 *
 * Return: false if there is no such time.
 */
bool htbs_policy_timer(const struct htbs_policy *policy, u64 *at)
{
	if (policy->wait != HTBS_WAIT_NONE)
		*at = policy->wait_until;
	else if (policy->held && policy->held_until)
		*at = policy->held_until;
	else
		return false;
	return true;
}

/**
 * htbs_policy_cancel_wait() - end a wait or a hold
 * @policy: the policy
 *
 * Return: true if the device was idled; no flow is active then.
 */
bool htbs_policy_cancel_wait(struct htbs_policy *policy)
{
	policy->held = false;
	if (policy->wait == HTBS_WAIT_NONE)
		return false;

	policy->wait = HTBS_WAIT_NONE;
	htbs_policy_release(policy);
	return true;
}

/**
 * htbs_policy_timeout() - end a wait or a hold if it is time
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if a wait ended; no flow is active then.
 */
__always_inline bool htbs_policy_timeout(struct htbs_policy *policy, u64 now)
{
	u64 at;

	if (!htbs_policy_timer(policy, &at) || htbs_before(now, at))
		return false;
	return htbs_policy_cancel_wait(policy);
}
