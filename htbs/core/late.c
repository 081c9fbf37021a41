// SPDX-License-Identifier: GPL-2.0
/*
 * How many conforming requests may be late.
 *
 * No limit of surplus and no margin is so tight that a drive's tail never makes a request
 * late, and the tighter they are the less of the drive is used. So each follows from what
 * may be late: in balance it is one request in so many.
 *
 * To count late ones takes long if they are rare. But the time in a queue has an exponential
 * tail or a shorter one: what part exceeds t is no more than the 4/3rd power of the part that
 * exceeds 3/4 t. So where a request is judged by three quarters of its time, one in n^(3/4)
 * is slow if one in n is late.
 */
#include <linux/math.h>

#include <htbs/core/late.h>
#include <htbs/core/policy.h>

static u32 htbs_slow_one_in(u64 late)
{
	return int_sqrt(int_sqrt(late * late * late));
}

/**
 * htbs_policy_set_late() - set how many conforming requests may be late
 * @policy: the policy
 * @one_in: one in so many; HTBS_LATE_MIN to HTBS_LATE_MAX
 * @one_in_writes: the same, beside writes of surplus on a device that does not seek
 *
 * A read on flash waits for an erasure that has begun, which has no exponential tail. So what
 * is written there follows from what is late, and may make more requests late.
 */
void htbs_policy_set_late(struct htbs_policy *policy, u32 one_in, u32 one_in_writes)
{
	u32 slow = htbs_slow_one_in(one_in);

	policy->late_one_in = one_in;
	policy->late_one_in_writes = one_in_writes;
	policy->trust.rarity = one_in;
	policy->limits.window.rarity = slow;
	policy->limits.quota.limit.rarity = policy->seeks ? slow : one_in_writes;
}
