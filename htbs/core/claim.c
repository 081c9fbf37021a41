// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a device that claims to seek does.
 *
 * queue/rotational is 1 for many virtual disks, arrays and cloud volumes that serve requests side
 * by side: virtio-blk cannot tell, and its driver says so of all. Such a device takes no longer for
 * a read beside others than alone. A device that seeks serves one after the other: even if it
 * orders them, a read beside three others takes half as long again, and most often twice as long
 * or more. So HTBS compares the mean times of both. Writes tell nothing, as a cache completes them
 * at once, nor do reads that are next to the last one.
 *
 * While HTBS takes the device for one that seeks it has few requests in flight, for the sake of
 * their deadlines. So a device of which a read alone takes less than half a turn of the fastest
 * disk is tried: by turns it has one read alone, and four, if there is time for them in the mean,
 * though not at worst. What is found holds as long as the scheduler is attached. But a device that
 * seemed not to seek, as it was served from a cache, is tried anew once reads take much longer
 * beside others.
 */
#include <linux/math64.h>

#include <htbs/core/claim.h>
#include <htbs/core/deadlines.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/**
 * htbs_claim_init() - the device claims to seek
 * @claim: what tells whether it does
 */
void htbs_claim_init(struct htbs_claim *claim)
{
	*claim = (struct htbs_claim){ .tries = true };
}

static bool htbs_is_known(const struct htbs_unlearnt *mean)
{
	return mean->count >= 2 * HTBS_FADE;
}

/**
 * htbs_claim_counts() - whether a request tells what the device takes for a read
 * @sent: the request
 *
 * Return: true if it does.
 */
bool htbs_claim_counts(const struct htbs_sent *sent)
{
	return (sent->flags & (HTBS_SENT_FAR | HTBS_SENT_WRITE)) == HTBS_SENT_FAR;
}

/* Whether no disk turns so fast: at 15000 rpm half a turn takes 2 ms. */
static bool htbs_is_tried(const struct htbs_policy *policy)
{
	const struct htbs_unlearnt *alone = &policy->claim.alone;

	return policy->claim.tries && alone->count >= HTBS_HABIT &&
	       alone->took < alone->count * 2 * HTBS_MOMENT &&
	       policy->in_flight + policy->pending >= 4;
}

/* Some reads are tried beside others once as many were alone. */
static bool htbs_turn_is_alone(const struct htbs_claim *claim)
{
	return claim->alone.count / HTBS_HABIT <= claim->beside.count / HTBS_HABIT;
}

/**
 * htbs_policy_tries_alone() - whether a request is held back to learn what another takes alone
 * @policy: the policy of a device that is taken for one that seeks
 *
 * Return: true if it is.
 */
bool htbs_policy_tries_alone(const struct htbs_policy *policy)
{
	return policy->in_flight && policy->claim.lone && htbs_is_tried(policy) &&
	       htbs_turn_is_alone(&policy->claim);
}

/**
 * htbs_policy_tries_beside() - whether a request is dispatched to learn what it takes beside others
 * @policy: the policy of a device that is taken for one that seeks
 * @flow: its flow
 * @now: real time, ns
 *
 * Return: true if it is, though there may be no room for its deadline at worst. In the mean there
 * is time for four requests, and the next one.
 */
bool htbs_policy_tries_beside(const struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now)
{
	u64 until = now + 5 * policy->service.position;
	const struct htbs_owed_head *head;

	if (flow->head.write || policy->in_flight >= 4 || !htbs_is_tried(policy) ||
	    htbs_turn_is_alone(&policy->claim) ||
	    htbs_deadlines_between(&policy->deadlines, now, until))
		return false;
	head = htbs_owed_first(&policy->owed);
	return !head || !htbs_before(now, head->deadline) ||
	       !htbs_before(head->deadline, until);
}

/**
 * htbs_policy_is_beside() - whether a request is dispatched beside three reads
 * @policy: the policy of a device that claims to seek
 *
 * Return: true if it is.
 */
bool htbs_policy_is_beside(const struct htbs_policy *policy)
{
	return policy->in_flight - policy->writes == 3;
}

/**
 * htbs_policy_learn_claim() - a request of a device that claims to seek has completed
 * @policy: the policy, which still has it in flight
 * @now: real time, ns
 * @sent: the request
 */
void htbs_policy_learn_claim(struct htbs_policy *policy, u64 now, const struct htbs_sent *sent)
{
	bool beside = sent->flags & HTBS_SENT_BESIDE;
	struct htbs_claim *claim = &policy->claim;
	struct htbs_unlearnt *mean = beside ? &claim->beside : &claim->alone;
	const struct htbs_unlearnt *other = beside ? &claim->alone : &claim->beside;

	if (!htbs_claim_counts(sent) || !(beside || claim->lone) ||
	    (policy->seeks && !claim->tries))
		return;
	mean->took += now - sent->at;
	if (++mean->count <= other->count + 2 * HTBS_HABIT)
		return;
	/* What is compared has to be of the same time: a cache may be full since. */
	mean->took /= 2;
	mean->count /= 2;
}

/**
 * htbs_policy_judge_claim() - whether the device turns out to seek, or not to
 * @policy: the policy of a device that claims to seek
 *
 * That it seeks is seen by fewer requests: it takes much longer beside others.
 *
 * Return: true if it is another one than it was taken for.
 */
bool htbs_policy_judge_claim(struct htbs_policy *policy)
{
	struct htbs_claim *claim = &policy->claim;
	bool known, seeks, was = policy->seeks;
	u64 alone, beside;

	if (claim->beside.count < 4 * HTBS_HABIT || claim->alone.count < 4 * HTBS_HABIT)
		return false;
	known = htbs_is_known(&claim->beside) && htbs_is_known(&claim->alone);
	alone = div64_u64(claim->alone.took, claim->alone.count);
	beside = div64_u64(claim->beside.took, claim->beside.count);
	seeks = 4 * beside >= (was && known ? 5 : 7) * alone;
	if (!known && !(was && seeks))
		return false;
	*claim = (struct htbs_claim){ .tries = !was && seeks };
	return seeks != was;
}
