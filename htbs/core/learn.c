// SPDX-License-Identifier: GPL-2.0
/*
 * What a completed request tells about the device and about its flow, and the device time that the
 * flow is charged for it.
 */
#include <linux/math64.h>

#include <htbs/core/backlog.h>
#include <htbs/core/depth.h>
#include <htbs/core/fair.h>
#include <htbs/core/flow.h>
#include <htbs/core/judge.h>
#include <htbs/core/learn.h>
#include <htbs/core/policy.h>
#include <htbs/core/relax.h>
#include <htbs/core/service.h>
#include <htbs/core/stall.h>

/* No request counts as longer than 69 seconds, so that a share fits into 64 bits. */
#define HTBS_TOOK_MAX		0x1000000000ULL		/* ns: 2^36 */
/* How many times a write counts in the share of its flow. */
#define HTBS_WRITE_CHARGE	3

/*
 * If a drive had the first request of a run in its buffer, it positions for a later one. So a near
 * request that took longer than a positioning and its transfer counts as a positioning of the
 * device. It says little about the transfer rate. But if all near requests take that long, the
 * device is slower than estimated. So the request also counts as a transfer that took a quarter
 * longer than estimated, at most.
 */
static void htbs_learn_service(struct htbs_policy *policy, u64 took,
			       const struct htbs_sent *sent)
{
	u64 transfer = sent->cost * policy->service.stream >> 10;
	bool far = sent->flags & HTBS_SENT_FAR;
	bool slow = !far && took > policy->service.position + transfer;

	htbs_service_time_learn(&policy->service, took, sent->cost, far || slow);
	if (far || slow)
		htbs_depth_learn(&policy->depth, policy->in_flight,
				 took > transfer ? took - transfer : 0);
	if (slow) {
		transfer += transfer / 4;
		took = took < transfer ? took : transfer;
		htbs_service_time_learn(&policy->service, took, sent->cost, false);
	}
}

/*
 * Learn from a completed request of a disk. If a drive puts a write into its cache, the write
 * completes before the drive positions for it. So a write that took less than an eighth of what
 * reads take to position is no sample of the device. For the need of its reservation, a write takes
 * at least as long as a read takes to position.
 */
static noinline void htbs_learn_disk(struct htbs_policy *policy, struct htbs_flow *flow,
				     u64 now, u64 took, const struct htbs_sent *sent)
{
	u64 transfer = sent->cost * policy->service.stream >> 10;
	bool far = sent->flags & HTBS_SENT_FAR;
	bool write = far && (sent->flags & HTBS_SENT_WRITE);

	htbs_stall_learn(&policy->stall, now, took);
	if (far && !write)
		htbs_service_time_learn(&policy->reads, took > transfer ? took - transfer : 0,
					0, true);
	if (!write || 8 * took >= policy->reads.position)
		htbs_learn_service(policy, took, sent);
	htbs_service_time_learn(&flow->service, took, sent->cost, far);
	htbs_flow_note_service(flow, sent->cost, write ? policy->reads.position : 0);
}

/*
 * Learn the mean time of what a device that does not seek has served in a while, transfers
 * included. It determines how far shares may be apart, and how long the background, the next
 * expired head, or a request that is held back waits at most.
 */
static noinline void
htbs_learn_mean(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	struct htbs_unlearnt *unlearnt = &policy->unlearnt;

	htbs_service_time_learn(&policy->service, div64_u64(unlearnt->took, unlearnt->count),
				0, true);
	*unlearnt = (struct htbs_unlearnt){ };
	htbs_policy_relax(policy, flow, now);
}

/**
 * htbs_policy_forget() - forget what was learned about a flow
 * @policy: the policy of a device that is not what it was taken for
 * @flow: the flow
 * @now: real time, ns
 */
noinline void htbs_policy_forget(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	struct htbs_pool *pool = flow->pool;

	htbs_service_time_init(&flow->service, policy->position);
	/* Nothing is owed to the background, whatever the device is. */
	if (flow->background)
		return;
	pool->need = 0;
	pool->relaxed = false;
	pool->on_pace = now;
	htbs_policy_update_head(policy, flow);
}

static __always_inline void htbs_learn_flash(struct htbs_policy *policy, struct htbs_flow *flow,
					     u64 now, u64 took)
{
	struct htbs_unlearnt *unlearnt = &policy->unlearnt;

	unlearnt->took += took;
	unlearnt->count++;
	/* If the flow has estimates of its own, they are from when the device seemed to seek. */
	if (policy->rotational && (flow->service.part > HTBS_HABIT || flow->pool->need))
		htbs_policy_forget(policy, flow, now);
	if (unlearnt->took >= HTBS_MOMENT)
		htbs_learn_mean(policy, flow, now);
}

/*
 * Return the time of a request without a stall. A flow is not charged for a stall of the device
 * that delayed its request.
 */
static noinline u64 htbs_without_stall(struct htbs_policy *policy, u64 now, u64 took, u32 cost)
{
	u64 transfer = cost * policy->service.stream >> 10, own;

	if (took <= transfer)
		return took;
	own = transfer + htbs_service_time_believable(&policy->service, took - transfer);
	htbs_stall_note(&policy->stall, now, took, own);
	return own;
}

/**
 * htbs_policy_learn() - learn from a completed request, and charge the device time
 * @policy: the policy, which still has it in flight
 * @flow: its flow
 * @now: real time, ns
 * @sent: the request
 */
__always_inline void
htbs_policy_learn(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
		  const struct htbs_sent *sent)
{
	u64 took = now - policy->busy_since, of;

	if (took > HTBS_TOOK_MAX)
		took = HTBS_TOOK_MAX;
	policy->busy_since = now;
	if (policy->rotational)
		htbs_policy_learn_claim(policy, flow, now, sent);
	if (policy->seeks)
		htbs_learn_disk(policy, flow, now, took, sent);
	else
		htbs_learn_flash(policy, flow, now, took);
	htbs_fastest_learn(&flow->fastest, now, now - sent->at);
	if (sent->flags & HTBS_SENT_PACED &&
	    htbs_reach_learn(&flow->pool->reach, now, now - sent->at, sent->cost))
		htbs_policy_judge_reach(policy, flow->pool);
	if (took > HTBS_MOMENT)
		took = htbs_without_stall(policy, now, took, sent->cost);
	htbs_fair_charge(&policy->shares, &flow->share,
			 htbs_flow_share(flow, sent->flags & HTBS_SENT_WRITE ?
					 HTBS_WRITE_CHARGE * took : took));
	if (!policy->overload.now)
		return;
	/* No reservation counts for more than the whole device. */
	of = htbs_pace_step(&flow->pool->pace, sent->cost);
	if (took > of)
		htbs_fair_charge(&policy->proportions, &flow->pool->proportion,
				 took - of);
}
