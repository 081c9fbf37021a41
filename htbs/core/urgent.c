// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent requests: those that groups with a reservation may wait for.
 *
 * A synced write is complete only once the file system's journal is on the device, too. The journal
 * is written for all groups at once, and belongs to none of them. If a journal write had the
 * deadline of its own flow, it would delay groups that have all of their own requests in time.
 *
 * So an urgent request inherits the shortest latency of the reservations of which conforming
 * requests are expected, HTBS_HORIZON at most. When that time has passed, it goes first. Before
 * that, it goes as soon as the owed heads leave time for it, whichever flow is active. On a device
 * that does not seek, it goes at once. It is charged to the flow that it belongs to. No request is
 * urgent while no conforming request is expected.
 *
 * Urgent requests must not become a privilege, because any group can cause metadata to be written.
 * So they have an arrival curve together, in device time: beyond a burst of HTBS_RUN positionings,
 * they may take no more than 1/HTBS_SHARED_PART of the device's time. Requests beyond this curve
 * are not urgent: they are pending like any other request of their flow.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/urgent.h>

/* Returns @load with one more request. */
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
 * @due: set to the time until which it waits for owed heads, real ns
 *
 * Return: true if it is urgent; it has been charged to the curve of urgent requests.
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
 * @due: until when it waits for owed heads, real ns
 *
 * Return: true if it is; false if owed heads go first.
 */
bool htbs_policy_urgent_goes(struct htbs_policy *policy, u64 now, u32 cost,
			     u64 due)
{
	struct htbs_load load = htbs_urgent_load(policy, policy->load, cost);

	if (!policy->seeks || !htbs_before(now, due))
		return true;
	return htbs_before(now, htbs_policy_latest(policy, NULL, &load, now, true));
}
