// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a device that claims to seek really seeks.
 *
 * queue/rotational is 1 for many virtual disks, arrays and cloud volumes that serve requests side
 * by side: virtio-blk cannot know, and its driver sets it for all devices. Such a device takes no
 * longer for a read beside others than for a read alone. A device that seeks serves one request
 * after the other: even if it reorders them, a read beside three others takes half as long again,
 * and most often twice as long or more. So HTBS compares the mean times of both. Writes are no
 * samples, because a cache completes them at once. Nor are reads that are next to the last one of
 * their flow.
 *
 * While HTBS takes a device for one that seeks, it keeps few requests in flight for the sake of
 * their deadlines. So HTBS tries the device if a read alone takes less than half a revolution of
 * the fastest disk, or if a reservation of a flow's own, as opposed to the shared one, would be
 * impossible. Then the device gets one read alone and four requests alternately. It gets four if
 * there is time for them on average; there need be none in the worst case. The result holds as long
 * as the scheduler is attached, with one exception: a device that seemed not to seek because it was
 * served from a cache is tried anew once reads take much longer beside others.
 */
#include <linux/math64.h>

#include <htbs/core/claim.h>
#include <htbs/core/deadlines.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/**
 * htbs_claim_init() - nothing is known about a device except that it claims to seek
 * @claim: what tells whether it really seeks
 */
void htbs_claim_init(struct htbs_claim *claim)
{
	*claim = (struct htbs_claim){ .tries = true };
}

static bool htbs_is_known(const struct htbs_unlearnt *mean)
{
	return mean->count >= 2 * HTBS_FADE;
}

/*
 * Return true if the device may do more than a disk: if it is faster than any disk, since half a
 * revolution takes 2 ms at 15000 rpm, or if what is reserved would be impossible on a disk. The
 * samples of other devices are not trusted: if all reads are within some tracks, a disk completes
 * four of them within the revolution that it takes for one.
 */
static bool htbs_is_doubtful(const struct htbs_claim *claim)
{
	return claim->tries && claim->alone.count >= HTBS_HABIT &&
	       (claim->doubted || claim->alone.took < claim->alone.count * 2 * HTBS_MOMENT);
}

static bool htbs_is_tried(const struct htbs_policy *policy)
{
	return htbs_is_doubtful(&policy->claim) && policy->in_flight + policy->pending >= 4;
}

/*
 * Return true if it is the turn of reads alone. Both kinds take turns, HTBS_HABIT samples at a
 * time.
 */
static bool htbs_turn_is_alone(const struct htbs_claim *claim)
{
	return claim->alone.count / HTBS_HABIT <= claim->beside.count / HTBS_HABIT;
}

/**
 * htbs_policy_tries_fewer() - whether a request is held back to learn what those in flight take
 * @policy: the policy of a device that is taken for one that seeks
 *
 * Return: true if it is: the device has one read alone, or four requests, and one of these is a
 * sample.
 */
bool htbs_policy_tries_fewer(const struct htbs_policy *policy)
{
	const struct htbs_claim *claim = &policy->claim;

	if (!policy->in_flight || !htbs_is_tried(policy))
		return false;
	return htbs_turn_is_alone(claim) ? claim->lone :
					   claim->besides && policy->in_flight >= 4;
}

/**
 * htbs_policy_tries_beside() - whether a request is dispatched to learn what it takes beside others
 * @policy: the policy of a device that is taken for one that seeks
 * @flow: the flow of the request, which is its head
 * @now: real time, ns
 *
 * Return: true if it is, although it may make requests late in the worst case. On average there is
 * time for the four requests and for the next one.
 */
bool htbs_policy_tries_beside(const struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now)
{
	u64 until = now + 5 * policy->service.position;
	const struct htbs_owed_head *head = htbs_owed_first(&policy->owed);

	if (flow->head.write || policy->writes || policy->in_flight >= 4 ||
	    !htbs_is_tried(policy) || htbs_turn_is_alone(&policy->claim) ||
	    htbs_deadlines_between(&policy->deadlines, now, until))
		return false;
	/* If the first head is late already, it goes next anyway and needs no room. */
	return !head || !htbs_before(now, head->deadline) ||
	       !htbs_before(head->deadline, until);
}

/**
 * htbs_policy_claim_flags() - whether a request is a sample that tells whether the device seeks
 * @policy: the policy of a device that claims to seek, which does not have the request yet
 * @write: it moves data to the device
 * @near: it is next to the last one of its flow
 *
 * Return: HTBS_SENT_ALONE or HTBS_SENT_BESIDE; 0: it is no sample.
 */
u8 htbs_policy_claim_flags(const struct htbs_policy *policy, bool write, bool near)
{
	if (write || near || policy->writes)
		return 0;
	if (!policy->in_flight)
		return HTBS_SENT_ALONE;
	return policy->in_flight == 3 ? HTBS_SENT_BESIDE : 0;
}

/**
 * htbs_claim_add() - a device that claims to seek gets a request
 * @claim: what tells whether it really seeks
 * @sent: the request
 * @crowds: a write or a fifth request is in flight now, so those in flight beside others are no
 *	samples any more
 */
void htbs_claim_add(struct htbs_claim *claim, const struct htbs_sent *sent, bool crowds)
{
	claim->lone = sent->flags & HTBS_SENT_ALONE;
	claim->besides += !!(sent->flags & HTBS_SENT_BESIDE);
	if (crowds)
		claim->crowded = sent->at;
}

/*
 * Return how much of a time counts: no more than four times the mean of the other kind. A single
 * long time says little, because the device may have stalled.
 */
static u64 htbs_claim_believable(const struct htbs_unlearnt *other, u64 took)
{
	u64 most = other->count ? 4 * div64_u64(other->took, other->count) : took;

	return took < most ? took : most;
}

/**
 * htbs_policy_learn_claim() - a request of a device that claims to seek has completed
 * @policy: the policy, which still has it in flight
 * @flow: its flow
 * @now: real time, ns
 * @sent: the request
 */
void htbs_policy_learn_claim(struct htbs_policy *policy, const struct htbs_flow *flow, u64 now,
			     const struct htbs_sent *sent)
{
	bool beside = sent->flags & HTBS_SENT_BESIDE;
	struct htbs_claim *claim = &policy->claim;
	struct htbs_unlearnt *mean = beside ? &claim->beside : &claim->alone;
	const struct htbs_unlearnt *other = beside ? &claim->alone : &claim->beside;

	if (policy->seeks && !htbs_flow_pooled(flow) && htbs_pool_impossible(flow->pool))
		claim->doubted = true;
	if (!(beside ? htbs_before(claim->crowded, sent->at) : claim->lone) ||
	    (policy->seeks && !(beside ? htbs_is_doubtful(claim) : claim->tries)))
		return;
	mean->took += htbs_claim_believable(other, now - sent->at);
	if (++mean->count <= other->count + 2 * HTBS_HABIT)
		return;
	/*
	 * Both means have to cover the same period, because a cache may have filled up meanwhile.
	 */
	mean->took -= div64_u64(mean->took, mean->count);
	mean->count--;
}

/**
 * htbs_policy_judge_claim() - whether the device turns out to seek, or not to seek
 * @policy: the policy of a device that claims to seek
 *
 * If the device is taken for one that seeks, fewer samples are enough to confirm that, because
 * reads then take much longer beside others.
 *
 * Return: true if the device is not what it was taken for.
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
	claim->alone = (struct htbs_unlearnt){ };
	claim->beside = (struct htbs_unlearnt){ };
	claim->tries = !was && seeks;
	claim->doubted = false;
	return seeks != was;
}
