// SPDX-License-Identifier: GPL-2.0
/*
 * How many deviations the worst case is away from the mean.
 *
 * HTBS_MARGIN deviations are enough for a drive that positions. A hypervisor that stops for
 * some milliseconds, or a drive that retries or cleans, has a tail about which the deviation
 * tells little. But HTBS sees whether conforming requests are late. So the trust in the
 * deviation is a limit (limit.c) that late requests lower: in steady state as many requests are
 * late as may be (late.c).
 */
#include <linux/math64.h>

#include <htbs/core/flow.h>
#include <htbs/core/margin.h>
#include <htbs/core/policy.h>

static void htbs_set_margin(struct htbs_policy *policy)
{
	policy->margin = div64_u64(HTBS_MARGIN * HTBS_MARGIN_ONE * HTBS_LIMIT_ONE,
				   policy->trust.value);
}

/**
 * htbs_policy_init_margin() - begin as if the device had no tail
 * @policy: the policy
 */
void htbs_policy_init_margin(struct htbs_policy *policy)
{
	htbs_limit_init(&policy->trust, HTBS_LIMIT_ONE,
			HTBS_LIMIT_ONE / HTBS_MARGIN, HTBS_LIMIT_ONE);
	htbs_set_margin(policy);
}

/**
 * htbs_policy_judge_margin() - a conforming request has completed
 * @policy: the policy of a device that seeks
 * @flow: its flow; the reservation is not impossible
 * @now: real time, ns
 * @due: when the request was due, real ns
 *
 * Requests do not count in an overload, in which deadlines are not kept, nor if they waited
 * because the device has stalled. A device that does not seek has no margin, because requests
 * are not put off to the last moment there.
 */
void htbs_policy_judge_margin(struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now, u64 due)
{
	u64 latency = htbs_flow_latency(flow);

	if (policy->overload.now || htbs_stall_delays(&policy->stall, due - latency, latency))
		return;
	policy->trust.full = true;
	htbs_limit_judge(&policy->trust, htbs_before(due, now), policy->trust.value);
	htbs_set_margin(policy);
}
