// SPDX-License-Identifier: GPL-2.0
/*
 * How much surplus a device may have in flight and in its buffer.
 *
 * The writes of surplus have a quota: what a drive has in its buffer it owes to the
 * medium, and estimates show little of that before a read waits for it. On a device that does not
 * seek the reads of surplus have a window. Reserved work is limited by neither, but for that of
 * relaxed flows: what no device could keep is surplus.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/policy.h>
#include <htbs/core/quota.h>
#include <htbs/core/surplus.h>
#include <htbs/core/tree.h>

/* Whether conforming requests of another pool are expected: most often there is none. */
static bool htbs_others_expected(struct htbs_policy *policy,
				 const struct htbs_flow *flow, u64 now)
{
	return !htbs_tree_holds_only(&policy->expected.rb_root, &flow->expected) &&
	       htbs_policy_expected(policy, flow, now);
}

/* How many reads may be in flight beside requests that conform. */
static bool htbs_window_open(struct htbs_policy *policy)
{
	u64 used = htbs_policy_in_flight(policy, false) * HTBS_LIMIT_ONE;

	if (used < policy->window.value)
		return true;
	policy->window.full = true;
	return false;
}

/*
 * How far surplus keeps a flow behind its pace, ns. Requests in flight that were charged to the
 * pace count as not served yet. 0 if the pool has no request in flight, or too few to have its
 * bandwidth on an idle device, though others may have delayed the shortest request by half.
 */
static u64 htbs_behind_by(const struct htbs_flow *flow, u64 now)
{
	const struct htbs_pool *pool = flow->pool;
	u64 ahead = htbs_pace_span(&pool->pace, &pool->paced);
	u64 tag = htbs_pace_tag(&pool->pace) - ahead;

	if (!htbs_before(tag, now) || !pool->in_flight ||
	    (ahead && 2 * htbs_fastest_time(&flow->fastest) >= 3 * ahead))
		return 0;
	return now - tag;
}

/*
 * Whether no flow with a shorter latency had a conforming request just now. One that has few
 * would else keep the limits where they are, for as long as others of it are expected. Of more
 * than HTBS_SWEEP flows one is taken to have had one.
 */
static bool htbs_is_tightest(const struct htbs_policy *policy, const struct htbs_flow *flow,
			     u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected);
	const struct htbs_flow *other;
	u32 looks;

	for (looks = 0; rb && looks < HTBS_SWEEP; rb = rb_next(rb), looks++) {
		other = rb_entry(rb, struct htbs_flow, expected);
		if (htbs_flow_latency(other) >= htbs_flow_latency(flow))
			return true;
		if (now - (other->expected_until - other->expect_for) < HTBS_LIMIT_INTERVAL)
			return false;
	}
	return !rb;
}

/*
 * How far a flow is behind its pace is asked once in a latency, or in an interval if less. While
 * the device completes nothing, as it stalls, that tells no more than it did.
 */
static bool htbs_pace_is_due(const struct htbs_policy *policy, const struct htbs_flow *flow,
			     u64 now)
{
	u64 latency = htbs_flow_latency(flow);

	return !policy->seeks && htbs_before(flow->pool->judged, policy->busy_since) &&
	       now - flow->pool->judged >=
	       (latency < HTBS_LIMIT_INTERVAL ? latency : HTBS_LIMIT_INTERVAL);
}

/* If no request of a flow completes for a latency it is not known what it asks for. */
static bool htbs_reach_is_known(const struct htbs_flow *flow, u64 now)
{
	return now - flow->pool->reach.since <= htbs_flow_latency(flow);
}

/* Whether a flow that is behind would be so without surplus, too (reach.c). */
static bool htbs_is_unhindered(const struct htbs_flow *flow, u64 now)
{
	return flow->pool->reach.unhindered && htbs_reach_is_known(flow, now);
}

/*
 * The limits of surplus fall, for the pace of a pool or as a request was slow (@pool is NULL then).
 * Until it is known what a pool asks for its pace may lower them in vain.
 */
static void htbs_note_lowered(struct htbs_policy *policy, const struct htbs_pool *pool)
{
	bool first = policy->window.part == 1 && policy->quota.limit.part == 1;

	if (!pool || pool->reach.gap.count == HTBS_REACH_MEANS ||
	    (policy->hasty != pool && !first))
		policy->hasty = NULL;
	else
		policy->hasty = pool;
}

/* A request of a flow that conforms was slow, or the flow is behind its pace. */
static void htbs_note_slow(struct htbs_slow *slow, const struct htbs_flow *flow, u64 now)
{
	if (slow->pool != flow->pool) {
		slow->pool = flow->pool;
		slow->before = slow->at;
	}
	slow->at = now;
}

/*
 * Whether a flow is behind its pace by more than a latency, and surplus may be the reason. Of a
 * relaxed flow it is known that it is behind.
 */
static bool htbs_falls_behind(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	if (flow->pool->relaxed || !htbs_pace_is_due(policy, flow, now))
		return false;
	flow->pool->judged = now;
	if (htbs_behind_by(flow, now) <= htbs_flow_latency(flow))
		return false;
	if (htbs_is_unhindered(flow, now) ||
	    (flow->pool->reach.keeps_pace && htbs_reach_is_known(flow, now)))
		return false;
	/* What is not known is believed for the limits, which may rise again, and no further. */
	if (flow->pool->reach.gap.count >= HTBS_REACH_MEANS / 2)
		htbs_note_slow(&policy->slow, flow, now);
	htbs_note_lowered(policy, flow->pool);
	return true;
}

/* Whether a limit was in the way of surplus, since this was asked last. */
static bool htbs_surplus_was_held(const struct htbs_policy *policy)
{
	return policy->window.full || policy->quota.limit.full;
}

/*
 * Whether a request in time raises the limits. Of a flow that is unhindered it does while no more
 * are in flight than in the mean: else they are delayed.
 */
static bool htbs_may_raise(const struct htbs_policy *policy, const struct htbs_flow *flow,
			   u64 now, u32 cost)
{
	const struct htbs_pool *pool = flow->pool;
	u64 others = (u64)(pool->in_flight - 1) << 10;

	return ((htbs_is_unhindered(flow, now) && others <= pool->reach.number.mean) ||
		htbs_behind_by(flow, now) <= htbs_pace_step(&pool->pace, cost)) &&
	       htbs_is_tightest(policy, flow, now);
}

/*
 * Until a request was slow the window doubles with one that is not, once in an interval: a flow
 * that has few requests tells as much by each of them.
 */
static void htbs_judge_window(struct htbs_policy *policy, u64 now, u32 slow)
{
	u64 reads = htbs_policy_in_flight(policy, false) * HTBS_LIMIT_ONE;
	struct htbs_limit *window = &policy->window;

	if (!slow && window->full && htbs_limit_probes(window) &&
	    now - policy->window_doubled >= HTBS_LIMIT_INTERVAL) {
		htbs_limit_double(window);
		policy->window_doubled = now;
	}
	htbs_limit_judge(window, slow, reads);
}

/*
 * A flow that has one request at a time tells nothing before that completes, and the more
 * surplus the device has, the longer that takes. So its pace is looked at before more goes.
 */
static void htbs_judge_pace(struct htbs_policy *policy, struct htbs_flow *other, u64 now)
{
	if (!htbs_falls_behind(policy, other, now))
		return;
	htbs_judge_window(policy, now, 1);
	htbs_quota_judge(&policy->quota, 1, now);
}

/* Whether a conforming request of another pool has arrived of late, or is in flight. */
static bool htbs_others_conform(const struct htbs_policy *policy, const struct htbs_flow *flow,
				u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected);
	const struct htbs_flow *other;

	for (; rb; rb = rb_next(rb)) {
		other = rb_entry(rb, struct htbs_flow, expected);
		if (other->pool != flow->pool &&
		    (other->conforming || htbs_before(now, other->expected_until)))
			return true;
	}
	return false;
}

/*
 * Groups that always ask for more than they reserved are expected while they have requests, but
 * have none that conforms: so none judges the limits, and each holds the others back. A limit that
 * holds surplus back for their sake alone is as little known as at first. It doubles with each
 * HTBS_LIMIT_INTERVAL in which it does.
 */
static void htbs_grow_unjudged(struct htbs_policy *policy, const struct htbs_flow *flow,
			       u64 now)
{
	struct htbs_limit *limit = flow->head.write ? &policy->quota.limit : &policy->window;

	if (!limit->full)
		policy->unjudged_since = now;
	if (now - policy->unjudged_since < HTBS_LIMIT_INTERVAL)
		return;
	policy->unjudged_since = now;
	if (!htbs_others_conform(policy, flow, now))
		htbs_limit_renew(limit);
}

/*
 * Whether the head of a flow may go as surplus. That is limited for others: what a flow
 * itself has reserved does not limit it.
 */
static noinline bool htbs_within_limits(struct htbs_policy *policy,
					const struct htbs_flow *flow, u64 now)
{
	htbs_grow_unjudged(policy, flow, now);
	htbs_judge_pace(policy, htbs_policy_expected(policy, flow, now), now);
	return flow->head.write ? htbs_quota_allows(&policy->quota, now) :
	       policy->seeks || htbs_window_open(policy);
}

/**
 * htbs_policy_limits_allow() - whether the limits of surplus allow the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Surplus is limited while conforming requests of other pools are expected. A device that
 * does not seek may have whatever the limits allow.
 *
 * Return: true if they do.
 */
__always_inline bool
htbs_policy_limits_allow(struct htbs_policy *policy, const struct htbs_flow *flow,
			 u64 now)
{
	return !htbs_others_expected(policy, flow, now) ||
	       htbs_flow_owed(flow, now) ||
	       htbs_within_limits(policy, flow, now);
}

/**
 * htbs_policy_can_dispatch() - whether the device may have the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it may.
 */
bool htbs_policy_can_dispatch(struct htbs_policy *policy,
			      struct htbs_flow *flow, u64 now)
{
	if (policy->seeks && (htbs_policy_tries_alone(policy) ||
			      (!htbs_policy_has_room(policy, flow, now) &&
			       !htbs_policy_tries_beside(policy, flow, now))))
		return false;
	return htbs_policy_limits_allow(policy, flow, now);
}

/* Whether nothing is left to be taken from surplus. */
static bool htbs_limits_are_least(const struct htbs_policy *policy)
{
	return policy->window.value <= policy->window.least &&
	       policy->quota.limit.value <= policy->quota.limit.least;
}

/**
 * htbs_policy_judge_reach() - a pool had so many requests that it is known what it asks for
 * @policy: the policy
 * @pool: the pool
 *
 * If the limits fell for its pace before that was known, and in vain, they are as little known as
 * at first.
 */
noinline void htbs_policy_judge_reach(struct htbs_policy *policy, struct htbs_pool *pool)
{
	bool was = pool->reach.unhindered;

	htbs_reach_judge(&pool->reach, &pool->pace, htbs_limits_are_least(policy));
	if (was || !pool->reach.unhindered || policy->hasty != pool)
		return;
	policy->hasty = NULL;
	htbs_limit_renew(&policy->window);
	htbs_limit_renew(&policy->quota.limit);
}

/* Whether a conforming request of another pool was slow of late, or the pool behind. */
static bool htbs_others_are_slow(const struct htbs_policy *policy, const struct htbs_flow *flow,
				 u64 now)
{
	const struct htbs_slow *slow = &policy->slow;

	return now - (slow->pool == flow->pool ? slow->before : slow->at) < HTBS_HORIZON;
}

/*
 * Whether a flow has more in flight than others, which are slow, and is behind its pace though
 * nothing is left to be taken from surplus.
 */
static bool htbs_has_too_much(const struct htbs_policy *policy, const struct htbs_flow *flow,
			      u64 now)
{
	return htbs_limits_are_least(policy) &&
	       flow->pool->in_flight * policy->busy > policy->in_flight &&
	       htbs_others_are_slow(policy, flow, now) &&
	       htbs_behind_by(flow, now) > htbs_flow_latency(flow);
}

/**
 * htbs_policy_relax() - decide whether a flow is relaxed, on a device that does not seek
 * @policy: the policy
 * @flow: the flow, of which a request has completed
 * @now: real time, ns
 *
 * The service time of a request says little about how many requests such a device serves. So HTBS
 * cannot know in advance whether the device can keep a reservation. If the device does not keep it,
 * beside those of others, for HTBS_HORIZON, the flow is relaxed: all its requests are surplus until
 * it has caught up.
 */
void htbs_policy_relax(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	struct htbs_pool *pool = flow->pool;
	bool behind, relaxed;

	if (flow->background)
		return;
	behind = pool->relaxed ? htbs_before(htbs_pace_tag(&pool->pace) + htbs_flow_latency(flow),
					     now) :
				 htbs_has_too_much(policy, flow, now);
	if (!behind)
		pool->on_pace = now;
	relaxed = now - pool->on_pace > HTBS_HORIZON;
	if (relaxed == pool->relaxed)
		return;
	pool->relaxed = relaxed;
	htbs_policy_update_head(policy, flow);
}

/*
 * By how many steps a slow request lowers the limits. Others raise them with each request in
 * time, and one in so many of each flow may be slow: so by as many steps as they were raised
 * since a conforming request of the flow completed.
 */
static u32 htbs_steps_down(const struct htbs_policy *policy, const struct htbs_flow *flow)
{
	u32 raised = policy->raised - flow->pool->raised;

	return raised ?: 1;
}

/* Most requests tell nothing of the limits. */
static noinline void htbs_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow,
				       u64 now, const struct htbs_sent *sent, bool slow)
{
	bool probes = htbs_limit_probes(&policy->quota.limit);
	bool late = policy->seeks || probes || flow->pool->relaxed ?
		    slow : htbs_before(sent->due, now);
	u32 steps = htbs_steps_down(policy, flow);
	bool raises;

	if (slow) {
		htbs_note_slow(&policy->slow, flow, now);
		htbs_note_lowered(policy, NULL);
	}
	if (!late && htbs_falls_behind(policy, flow, now)) {
		slow = true;
		late = true;
	}
	raises = htbs_surplus_was_held(policy) && htbs_may_raise(policy, flow, now, sent->cost);
	if (slow || raises)
		htbs_judge_window(policy, now, slow ? steps : 0);
	if (late || raises)
		htbs_quota_judge(&policy->quota, late ? steps : 0, now);
	policy->raised += raises;
}

/**
 * htbs_policy_judge_limits() - a request that conformed has completed
 * @policy: the policy
 * @flow: its flow, which still has it in flight
 * @now: real time, ns
 * @sent: the request
 *
 * A slow one lowers the window. It lowers the quota on a device that seeks, as what a disk
 * owes to its medium delays all that follows for seconds; on others a late one does, as an
 * erasure delays one read and is over, but the first one that is slow ends its growth.
 *
 * A flow that is behind takes time to catch up. So its pace lowers both once in a latency,
 * if it is behind by more than that, and while it is behind by more than a request raises
 * none. On a device that seeks a flow that is behind has a deadline for that. Of flows with
 * a longer latency than another all are in time anyway: they raise no limit. A relaxed flow
 * lowers none, as nothing is owed to it.
 */
void htbs_policy_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
			      const struct htbs_sent *sent)
{
	bool slow = !flow->pool->relaxed &&
		    4 * (now - sent->at) > 3 * (sent->due - sent->at);

	if (slow || htbs_surplus_was_held(policy) || htbs_pace_is_due(policy, flow, now))
		htbs_judge_limits(policy, flow, now, sent, slow);
	flow->pool->raised = policy->raised;
}
