// SPDX-License-Identifier: GPL-2.0
/*
 * What a completed request tells of the device and of its flow, and the device time that
 * it is charged.
 */
#include <linux/math64.h>

#include <htbs/core/depth.h>
#include <htbs/core/fair.h>
#include <htbs/core/flow.h>
#include <htbs/core/learn.h>
#include <htbs/core/policy.h>
#include <htbs/core/service.h>

/* No request is charged more, so that a share fits 64 bits: 69 seconds. */
#define HTBS_TOOK_MAX		0x1000000000ULL		/* ns: 2^36 */
/* How many times a write counts in the share of its flow. */
#define HTBS_WRITE_CHARGE	3

/*
 * If the drive had the first request of a run in its buffer, it positions for a later
 * one. So the device learns from a request that is near, but took as long as to
 * position. For its transfer that says little: but if all take as long, the device is no
 * faster. So it counts as a transfer that took a quarter longer than one does. The flow
 * does not learn what the device takes for a write after it has completed.
 */
static __always_inline void
htbs_learn_service(struct htbs_policy *policy, struct htbs_flow *flow, u64 took,
		   u64 device, const struct htbs_sent *sent)
{
	u64 transfer = sent->cost * policy->service.stream >> 10;
	bool far = sent->flags & HTBS_SENT_FAR;
	bool slow = !far && took > policy->service.position + transfer;

	htbs_service_time_learn(&policy->service, device, sent->cost, far || slow);
	if (far || slow)
		htbs_depth_learn(&policy->depth, policy->in_flight,
				 device > transfer ? device - transfer : 0);
	if (slow) {
		transfer += transfer / 4;
		took = took < transfer ? took : transfer;
		htbs_service_time_learn(&policy->service, took, sent->cost, false);
	}
	htbs_service_time_learn(&flow->service, took, sent->cost, far);
}

/*
 * Learn from a completed request of a disk. While the drive destages a read waits: that is no
 * time of the read. A cached write is destaged after it has completed: that is time of the
 * write. Returns the time of the request, ns.
 */
static noinline u64 htbs_learn_disk(struct htbs_policy *policy, struct htbs_flow *flow,
				    u64 since, u64 took, const struct htbs_sent *sent)
{
	u64 transfer = sent->cost * policy->service.stream >> 10, device = took, destages = 0;
	bool alone = !htbs_before(sent->at + HTBS_SENT_AT_UNIT, since);
	u64 positions = took > transfer ? took - transfer : 0;
	struct htbs_destage *destage = &policy->destage;

	if ((sent->flags & HTBS_SENT_FAR) && (sent->flags & HTBS_SENT_WRITE)) {
		htbs_destage_write(destage, since, took, transfer);
		if (htbs_destage_is_known(destage))
			destages = htbs_destage_cost(destage, transfer);
		device = htbs_later(took, destages);
	} else if (sent->flags & HTBS_SENT_FAR) {
		if (!htbs_destage_note_hit(destage, positions))
			took -= htbs_destage_read(destage, since, positions, alone);
		device = took;
	}
	htbs_learn_service(policy, flow, took, device, sent);
	htbs_flow_note_service(flow, sent->cost, destages);
	return device;
}

/*
 * A device that does not seek is learnt from by the mean of what it has served in a while. How
 * far shares may be apart follows from that, and how long the background, the next expired
 * head, or a request that is held back waits at most.
 */
static __always_inline void
htbs_learn_flash(struct htbs_policy *policy, u64 took, const struct htbs_sent *sent)
{
	struct htbs_unlearnt *unlearnt = &policy->unlearnt;

	unlearnt->took += took;
	unlearnt->bytes += sent->cost;
	unlearnt->count++;
	if (unlearnt->took < HTBS_MOMENT)
		return;
	htbs_service_time_learn(&policy->service, div64_u64(unlearnt->took, unlearnt->count),
				div64_u64(unlearnt->bytes, unlearnt->count), true);
	*unlearnt = (struct htbs_unlearnt){ };
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
		took = htbs_learn_disk(policy, flow, now - took, took, sent);
	else
		htbs_learn_flash(policy, took, sent);
	htbs_fastest_learn(&flow->fastest, now, now - sent->at);
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
