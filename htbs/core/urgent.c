// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent requests: those that groups with a reservation may wait for.
 *
 * A write that is synced is done when the file system's journal is on the device, too.
 * The journal is written for all groups at once, and belongs to none. With a deadline of its own, a
 * journal write would delay groups that have all of their own requests in time.
 *
 * So such a request inherits the shortest latency of the reservations of which
 * conforming requests are expected, HTBS_HORIZON at most: by then it goes first. Before, it
 * goes as soon as what is owed leaves time for it, whichever flow has the device. It is charged
 * where it belongs. None is urgent while no conforming request is expected.
 *
 * That must not become a privilege, as any group can make metadata. So urgent requests
 * have an arrival curve together, of the time that the device takes for them: no more
 * than one in HTBS_SHARED_PART of it, beyond a burst of HTBS_RUN positionings.
 * All others are pending as any request of their flow.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/urgent.h>

/* What the device takes for a request, after what it has. */
static struct htbs_load htbs_urgent_load(const struct htbs_policy *policy,
					 struct htbs_load load, u32 cost)
{
	htbs_load_add(&load, &policy->service, 1, cost);
	return load;
}

/**
 * htbs_policy_admit_urgent() - whether a request that others may wait for is urgent
 * @policy: the policy
 * @now: real time, ns
 * @cost: bytes charged
 * @due: until when it waits for what is owed, real ns
 *
 * Return: true if it is; it has been charged to the curve of urgent requests.
 */
bool htbs_policy_admit_urgent(struct htbs_policy *policy, u64 now, u32 cost,
			      u64 *due)
{
	struct htbs_load load = htbs_urgent_load(policy, (struct htbs_load){ }, cost);
	const struct htbs_flow *waits = htbs_policy_expected(policy, NULL, now);
	u64 burst = HTBS_SHARED_PART * HTBS_RUN * policy->service.position;
	u64 tag = htbs_later(policy->urgent_tag, now), latency;

	if (!waits || htbs_before(now + burst, tag))
		return false;
	policy->urgent_tag = tag + HTBS_SHARED_PART * load.mean;
	latency = htbs_flow_latency(waits);
	*due = now + (latency < HTBS_HORIZON ? latency : HTBS_HORIZON);
	return true;
}

/**
 * htbs_policy_urgent_goes() - whether an urgent request is dispatched now
 * @policy: the policy
 * @now: real time, ns
 * @cost: bytes charged
 * @due: until when it waits for what is owed, real ns
 *
 * Return: true if it is; else what is owed goes first.
 */
bool htbs_policy_urgent_goes(struct htbs_policy *policy, u64 now, u32 cost,
			     u64 due)
{
	struct htbs_load load = htbs_urgent_load(policy, policy->load, cost);

	if (!policy->seeks || !htbs_before(now, due))
		return true;
	return htbs_before(now, htbs_policy_latest(policy, NULL, &load, now, true));
}
