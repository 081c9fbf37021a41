// SPDX-License-Identifier: GPL-2.0
/*
 * Expired heads: why no request waits for ever.
 *
 * A head that has been pending for HTBS_EXPIRE has expired. Once a wait has ended, it is dispatched
 * next, whichever flow is active and whatever the quotas say. After that, no expired head is chosen
 * for twice the longest time P that one positioning takes. If an expired head is chosen later than
 * that because the device took its next request late, this does not put off the expired heads
 * behind it. Each choice looks at the first backlogged flow, and moves it to the end unless its
 * head has expired. With N requests in the queue and the longest wait T_wait, no request is pending
 * for longer than
 *
 *	HTBS_EXPIRE + (N + 1) * max(2 * P + T_wait, HTBS_MOMENT)
 *
 * because wait.c holds requests back for no longer than this maximum. Time throttled by a cap does
 * not count.
 */
#include <htbs/core/expire.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>
#include <htbs/core/wait.h>

/**
 * htbs_policy_expired() - find an expired head
 * @policy: the policy; a flow is backlogged
 * @now: real time, ns
 *
 * The caller has to dispatch the head.
 *
 * Return: its flow, or NULL.
 */
struct htbs_flow *htbs_policy_expired(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = list_first_entry(&policy->backlogged,
						  struct htbs_flow, backlogged);
	u64 pause = 2 * htbs_service_time_longest(&policy->service);
	u64 next = policy->expired_at + pause;

	if (htbs_before(now, flow->head.arrived + HTBS_EXPIRE)) {
		if (!list_is_singular(&policy->backlogged))
			list_rotate_left(&policy->backlogged);
		return NULL;
	}
	if (htbs_before(now, next))
		return NULL;
	policy->expired_at = htbs_before(now, next + pause) ? next : now;
	return flow;
}

/**
 * htbs_policy_oldest_arrival() - when the oldest pending request arrived
 * @policy: the policy
 * @arrived: real ns; for a flow that was throttled, when it was unthrottled
 *
 * Walks over all backlogged flows. It serves to show the state of a device, not to make choices.
 *
 * Return: true if a request is pending that is not throttled.
 */
bool htbs_policy_oldest_arrival(const struct htbs_policy *policy, u64 *arrived)
{
	const struct htbs_flow *flow;
	bool some = false;

	list_for_each_entry(flow, &policy->backlogged, backlogged) {
		if (!some || htbs_before(flow->head.arrived, *arrived))
			*arrived = flow->head.arrived;
		some = true;
	}
	return some;
}

/**
 * htbs_policy_bound() - the longest time for which a request can be pending now
 * @policy: the policy
 *
 * Return: ns; see the head of this file.
 */
u64 htbs_policy_bound(const struct htbs_policy *policy)
{
	return HTBS_EXPIRE + (policy->pending + policy->in_flight + 1) *
			     htbs_policy_hold_most(policy);
}
