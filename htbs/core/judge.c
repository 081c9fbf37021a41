// SPDX-License-Identifier: GPL-2.0
/*
 * When the limits of surplus fall, and when they rise.
 *
 * A conforming request that is slow lowers the limits, and so does a flow that is behind its pace
 * by more than its latency. A conforming request that completes in time raises each limit that has
 * held back surplus. So in steady state as many requests are slow as late.c allows.
 */
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/judge.h>
#include <htbs/core/policy.h>
#include <htbs/core/quota.h>

/**
 * htbs_pool_behind_by() - how far a pool is behind its pace
 * @pool: the pool
 * @now: real time, ns
 *
 * Requests in flight that were charged to the pace count as not served yet.
 *
 * Return: ns; 0 if the pool has no request in flight.
 */
u64 htbs_pool_behind_by(const struct htbs_pool *pool, u64 now)
{
	u64 tag = htbs_pace_tag(&pool->pace) - htbs_pace_span(&pool->pace, &pool->paced);

	return pool->in_flight && htbs_before(tag, now) ? now - tag : 0;
}

/**
 * htbs_flow_behind_by() - how far surplus keeps a flow behind its pace
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: ns, as htbs_pool_behind_by(); 0 if the pool has too few requests in flight to reach its
 * bandwidth even if each took two thirds of the shortest time that was seen. The shortest time is
 * reduced because other requests may have delayed that one, too.
 */
u64 htbs_flow_behind_by(const struct htbs_flow *flow, u64 now)
{
	u64 ahead = htbs_pace_span(&flow->pool->pace, &flow->pool->paced);

	if (ahead && 2 * htbs_fastest_time(&flow->fastest) >= 3 * ahead)
		return 0;
	return htbs_pool_behind_by(flow->pool, now);
}

/*
 * Return true if no flow with a shorter latency had a conforming request within the last
 * HTBS_LIMIT_INTERVAL. It is not enough that such a request is expected: a flow with few requests
 * would keep the limits where they are for all that time. Among more than HTBS_SWEEP flows with a
 * shorter latency, one is assumed to have had a conforming request.
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
 * Return true if it is time to check how far a flow is behind its pace: once in a latency, or in
 * HTBS_LIMIT_INTERVAL if that is less. While the device stalls and completes nothing, a check would
 * tell nothing new. A device that seeks needs no check.
 */
static bool htbs_pace_is_due(const struct htbs_policy *policy, const struct htbs_flow *flow,
			     u64 now)
{
	u64 latency = htbs_flow_latency(flow);

	return !policy->seeks && htbs_before(flow->pool->judged, policy->busy_since) &&
	       now - flow->pool->judged >=
	       (latency < HTBS_LIMIT_INTERVAL ? latency : HTBS_LIMIT_INTERVAL);
}

/* If no request of a pool has completed for a latency, it is not known what the pool asks for. */
static bool htbs_reach_is_known(const struct htbs_flow *flow, u64 now)
{
	return now - flow->pool->reach.since <= htbs_flow_latency(flow);
}

/* Return true if a flow that is behind its pace would be behind without surplus, too (reach.c). */
static bool htbs_is_unhindered(const struct htbs_flow *flow, u64 now)
{
	return flow->pool->reach.unhindered && htbs_reach_is_known(flow, now);
}

/*
 * Note that the limits of surplus fall: for the pace of @pool, or because a request was slow (@pool
 * is NULL then). As long as it is not known what a pool asks for, its pace may lower the limits
 * needlessly. So remember the pool, unless something else has lowered them, too.
 */
static void htbs_note_lowered(struct htbs_limits *limits, const struct htbs_pool *pool)
{
	bool first = limits->window.part == 1 && limits->quota.limit.part == 1;

	if (!pool || pool->reach.gap.count == HTBS_REACH_MEANS ||
	    (limits->hasty != pool && !first))
		limits->hasty = NULL;
	else
		limits->hasty = pool;
}

/* Note that a conforming request of a flow was slow, or that the flow is behind its pace. */
static void htbs_note_slow(struct htbs_slow *slow, const struct htbs_flow *flow, u64 now)
{
	if (slow->pool != flow->pool) {
		slow->pool = flow->pool;
		slow->before = slow->at;
	}
	slow->at = now;
}

/*
 * Return true if a flow is behind its pace by more than a latency, and surplus may be the reason. A
 * relaxed flow is known to be behind, so it does not count.
 */
static bool htbs_falls_behind(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	const struct htbs_reach *reach = &flow->pool->reach;

	if (flow->pool->relaxed || !htbs_pace_is_due(policy, flow, now))
		return false;
	flow->pool->judged = now;
	if (htbs_flow_behind_by(flow, now) <= htbs_flow_latency(flow))
		return false;
	if ((reach->unhindered || reach->keeps_pace) && htbs_reach_is_known(flow, now))
		return false;
	/*
	 * Before enough is known about the pool, let it lower the limits, because they can rise
	 * again, but nothing else.
	 */
	if (reach->gap.count >= HTBS_REACH_MEANS / 2)
		htbs_note_slow(&policy->limits.slow, flow, now);
	htbs_note_lowered(&policy->limits, flow->pool);
	return true;
}

/* Return true if a limit has held back surplus since it was last judged. */
static bool htbs_surplus_was_held(const struct htbs_limits *limits)
{
	return limits->window.full || limits->quota.limit.full;
}

/*
 * Return true if a request in time raises the limits. Its flow must not be behind its pace by more
 * than that request. If the flow would be behind without surplus, too, it must not have more
 * requests in flight than on average instead, because its requests are delayed then.
 */
static bool htbs_may_raise(const struct htbs_policy *policy, const struct htbs_flow *flow,
			   u64 now, u32 cost)
{
	const struct htbs_pool *pool = flow->pool;
	u64 others = (u64)(pool->in_flight - 1) << 10;

	return ((htbs_is_unhindered(flow, now) && others <= pool->reach.number.mean) ||
		htbs_flow_behind_by(flow, now) <= htbs_pace_step(&pool->pace, cost)) &&
	       htbs_is_tightest(policy, flow, now);
}

/*
 * While the window grows fast, a request that is not slow doubles it, once in HTBS_LIMIT_INTERVAL
 * at most. A single request is enough for that, because each request of a flow with few requests
 * tells as much.
 */
static void htbs_judge_window(struct htbs_policy *policy, u64 now, u32 slow)
{
	u64 reads = htbs_policy_in_flight(policy, false) * HTBS_LIMIT_ONE;
	struct htbs_limits *limits = &policy->limits;
	struct htbs_limit *window = &limits->window;

	if (!slow && window->full && htbs_limit_grows_fast(window) &&
	    now - limits->window_doubled >= HTBS_LIMIT_INTERVAL) {
		htbs_limit_double(window);
		limits->window_doubled = now;
	}
	htbs_limit_doubt(window, slow, now);
	htbs_limit_judge(window, slow, reads);
}

/**
 * htbs_policy_judge_pace() - surplus is about to be dispatched beside a flow
 * @policy: the policy
 * @flow: the flow, from which conforming requests are expected
 * @now: real time, ns
 *
 * A flow with one request at a time tells nothing until that request completes, and the more
 * surplus the device has, the longer that takes. So the pace of the flow is checked before more
 * surplus is dispatched.
 */
void htbs_policy_judge_pace(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	if (!htbs_falls_behind(policy, flow, now))
		return;
	htbs_judge_window(policy, now, 1);
	htbs_quota_judge(&policy->limits.quota, 1, now);
}

/**
 * htbs_policy_limits_are_least() - whether surplus has nothing more to give
 * @policy: the policy
 *
 * Return: true if both limits are at their minimum.
 */
bool htbs_policy_limits_are_least(const struct htbs_policy *policy)
{
	const struct htbs_limit *window = &policy->limits.window;
	const struct htbs_limit *quota = &policy->limits.quota.limit;

	return window->value <= window->least && quota->value <= quota->least;
}

/**
 * htbs_policy_judge_reach() - judge what a pool asks for, after it had enough requests for that
 * @policy: the policy
 * @pool: the pool
 *
 * If the limits fell for the pace of the pool before that was known, and surplus was not the
 * reason, the limits are as little known as at first.
 */
noinline void htbs_policy_judge_reach(struct htbs_policy *policy, struct htbs_pool *pool)
{
	struct htbs_limits *limits = &policy->limits;
	bool was = pool->reach.unhindered;

	htbs_reach_judge(&pool->reach, &pool->pace, htbs_policy_limits_are_least(policy));
	if (was || !pool->reach.unhindered || limits->hasty != pool)
		return;
	limits->hasty = NULL;
	htbs_limit_renew(&limits->window);
	htbs_limit_renew(&limits->quota.limit);
}

/*
 * Return by how many steps a slow request of a flow lowers the limits. Other flows raise the limits
 * with each request in time, but one in so many requests of each flow may be slow. So the request
 * lowers them by as many steps as they were raised since the last conforming request of its pool
 * completed, and by one at least.
 */
static u32 htbs_steps_down(const struct htbs_policy *policy, const struct htbs_flow *flow)
{
	u32 raised = policy->limits.raised - flow->pool->raised;

	return raised ?: 1;
}

/* Lower or raise the limits. Not inlined, because most requests tell nothing about the limits. */
static noinline void htbs_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow,
				       u64 now, const struct htbs_sent *sent, bool slow)
{
	struct htbs_limits *limits = &policy->limits;
	bool probes = htbs_limit_grows_fast(&limits->quota.limit);
	bool late = policy->seeks || probes || flow->pool->relaxed ?
		    slow : htbs_before(sent->due, now);
	u32 steps = htbs_steps_down(policy, flow);
	bool raises;

	if (slow) {
		htbs_note_slow(&limits->slow, flow, now);
		htbs_note_lowered(limits, NULL);
	}
	if (!late && htbs_falls_behind(policy, flow, now)) {
		slow = true;
		late = true;
	}
	raises = htbs_surplus_was_held(limits) && htbs_may_raise(policy, flow, now, sent->cost);
	if (slow || raises)
		htbs_judge_window(policy, now, slow ? steps : 0);
	if (late || raises)
		htbs_quota_judge(&limits->quota, late ? steps : 0, now);
	limits->raised += raises;
}

/**
 * htbs_policy_judge_limits() - a conforming request has completed
 * @policy: the policy
 * @flow: its flow, which still has it in flight
 * @now: real time, ns
 * @sent: the request
 *
 * A slow request lowers the window. On a device that seeks it lowers the quota, too, because what a
 * disk still has to write to its medium delays everything behind it for seconds. On other devices a
 * late request lowers the quota, because an erasure delays one read and is over. But while the
 * quota grows fast, a slow request is enough.
 *
 * A flow that is behind its pace takes time to catch up. So if it is behind by more than a latency,
 * it lowers both limits once in a latency, or in HTBS_LIMIT_INTERVAL if that is less. While it is
 * behind by more than a request, it raises no limit, unless surplus is not the reason. On a device
 * that seeks, the deadline of a flow that is behind is earlier instead. Flows with a longer latency
 * than another flow are in time anyway, so they raise no limit. A relaxed flow lowers no limit,
 * because nothing is owed to it.
 */
void htbs_policy_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
			      const struct htbs_sent *sent)
{
	bool slow = !flow->pool->relaxed &&
		    4 * (now - sent->at) > 3 * (sent->due - sent->at);

	if (slow || htbs_surplus_was_held(&policy->limits) || htbs_pace_is_due(policy, flow, now))
		htbs_judge_limits(policy, flow, now, sent, slow);
	flow->pool->raised = policy->limits.raised;
}
