// SPDX-License-Identifier: GPL-2.0
/*
 * Overload: reservations that the device cannot keep together.
 *
 * An overload begins if more than a quarter of the turns are late. Then reservations have no
 * deadlines: the next flow is one of the pool that had the smallest part of its reservation. The
 * overload ends when all heads could have been in time, on average, for HTBS_LEAD. A single moment
 * is not enough, because some flows may have no request pending then. The worst case is not used,
 * because flows that take most of the device are seldom in time in the worst case.
 *
 * A turn is late if it begins after the latency of its first request. On a device that seeks, it is
 * already late when less than one mean positioning of the flow is left, if the latency is longer
 * than two of them. It is also late if its flow is a whole latency behind its pace. So there is an
 * overload if flows with one request at a time cannot have their bandwidths, even though each of
 * their requests is in time. Turns of a relaxed pool do not count (pool.c).
 */
#include <htbs/core/backlog.h>
#include <htbs/core/flow.h>
#include <htbs/core/overload.h>
#include <htbs/core/policy.h>

/*
 * The unit of the fraction of turns that are late, and the fraction above which an overload begins.
 */
#define HTBS_OVERLOAD_ONE	65536
#define HTBS_OVERLOAD_ON	(HTBS_OVERLOAD_ONE / 4)

/* Begin or end an overload, in which the pool goes first that had the least of its reservation. */
static void htbs_set_overload(struct htbs_policy *policy, bool overload)
{
	struct htbs_flow *flow;

	policy->overload.now = overload;
	policy->overload.late = 0;
	policy->proportions.root = RB_ROOT_CACHED;
	list_for_each_entry(flow, &policy->backlogged, backlogged) {
		if (htbs_pool_first(flow->pool) != flow)
			continue;
		RB_CLEAR_NODE(&flow->pool->proportion.rb);
		flow->pool->proportion.tag = policy->proportions.clock;
		if (overload)
			htbs_fair_insert(&policy->proportions,
					 &flow->pool->proportion);
	}
}

/**
 * htbs_policy_end_overload() - end an overload once all heads could have been in time for HTBS_LEAD
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if an overload ended.
 */
bool htbs_policy_end_overload(struct htbs_policy *policy, u64 now)
{
	struct htbs_load load = policy->seeks ? policy->load : (struct htbs_load){ };

	if (!policy->overload.now)
		return false;
	if (!htbs_before(now, htbs_policy_latest(policy, NULL, &load, now, false)))
		policy->overload.lacked = now;
	if (htbs_before(now, policy->overload.lacked + HTBS_LEAD))
		return false;
	htbs_set_overload(policy, false);
	return true;
}

/* Account a turn. Returns true if too many turns were late recently, including this one. */
static bool htbs_too_late(struct htbs_overload *overload, bool late)
{
	u32 sample = late ? HTBS_OVERLOAD_ONE : 0;

	if (!late && !overload->late)
		return false;
	overload->late = ((HTBS_FADE - 1) * overload->late + sample) / HTBS_FADE;
	return overload->late > HTBS_OVERLOAD_ON;
}

/**
 * htbs_policy_account_turn() - account a turn: the device was granted to a flow
 * @policy: the policy
 * @flow: the flow; not the background
 * @due: the turn is late if it begins after this, real ns
 * @now: real time, ns
 *
 * Return: true if an overload began.
 */
__always_inline bool
htbs_policy_account_turn(struct htbs_policy *policy,
			 const struct htbs_flow *flow, u64 due, u64 now)
{
	u64 position = flow->service.position;

	if (flow->pool->relaxed)
		return false;
	if (policy->seeks && htbs_flow_latency(flow) > 2 * position)
		now += position;
	if (!htbs_too_late(&policy->overload, htbs_before(due, now)) ||
	    policy->overload.now)
		return false;
	policy->overload.lacked = now;
	htbs_set_overload(policy, true);
	return true;
}
