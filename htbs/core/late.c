// SPDX-License-Identifier: GPL-2.0
/*
 * How many conforming requests may be late.
 *
 * No limit of surplus and no margin is so tight that the tail of a drive never makes a
 * request late. The tighter they are, the less of the drive is used. So they are adjusted to
 * the number of requests that may be late: in steady state, one request in so many is late.
 *
 * Late requests are too rare to be counted in a short time. But the time in a queue has an
 * exponential tail or a shorter one: the part of the requests that takes longer than t is no
 * more than the 4/3rd power of the part that takes longer than 3/4 t. So if requests are
 * judged by three quarters of their time, one in n^(3/4) is slow if one in n is late.
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
 * A read on flash waits for an erasure that has begun, and the time of an erasure has no
 * exponential tail. So on a device that does not seek the quota is adjusted by late requests,
 * and more requests may be late.
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
