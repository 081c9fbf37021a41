// SPDX-License-Identifier: GPL-2.0
/*
 * Which flow is dispatched next.
 *
 * Let Q be the backlogged heads, each with its deadline d. Let R_k be the time that the device
 * takes in the worst case for its requests in flight, and after them for the first k heads in
 * the order of deadlines. Then
 *
 *	latest(Q) = min over k of (d_k - R_k)
 *
 * Before latest(Q) the scheduler does what is best for the device. From then on it serves Q in
 * the order of deadlines, except that the nearest head may go first. It dispatches, in this
 * order:
 *
 *  1. an expired head (expire.c);
 *  2. the active flow, if it keeps the device (run.c);
 *  3. the background, if its small part of the device's time is due;
 *  4. in an overload, the flow that had the smallest part of its reservation;
 *  5. the nearest entitled head of a flow that is not sequential: serving it now takes the same
 *     positioning as later, and one switch less. If that is not the head with the earliest
 *     deadline, and the others cannot wait for it on average, the head with the earliest
 *     deadline goes instead;
 *  6. if there is no such head, and latest(Q) has passed, the head with the earliest deadline.
 *     Sequential flows wait until then, because they need fewer positionings the more requests
 *     they have pending;
 *  7. surplus: the flow that had the least device time over its weight, if there is time to
 *     position for it before latest(Q);
 *  8. the background, if nothing else is pending.
 *
 * On a device that does not seek, step 5 takes the entitled head with the earliest deadline, and
 * latest(Q) does not matter.
 *
 * The chosen request may have to be held back (inflight.c, surplus.c).
 */
#include <linux/string.h>

#include <htbs/core/backlog.h>
#include <htbs/core/choose.h>
#include <htbs/core/expect.h>
#include <htbs/core/expire.h>
#include <htbs/core/flow.h>
#include <htbs/core/overload.h>
#include <htbs/core/policy.h>
#include <htbs/core/pool.h>
#include <htbs/core/quota.h>
#include <htbs/core/run.h>
#include <htbs/core/surplus.h>
#include <htbs/core/wait.h>

static struct htbs_flow *htbs_next_entitled(const struct htbs_policy *policy,
					    u64 now)
{
	return htbs_pool_of_head(policy->seeks ?
		htbs_owed_nearest(&policy->owed, policy->next_pos, now) :
		htbs_owed_entitled(&policy->owed, now));
}

/*
 * Return true if the device has to begin with the owed heads now, after the load that it serves
 * before them. Only a device that seeks ever has to.
 */
static bool htbs_must_begin(struct htbs_policy *policy,
			    const struct htbs_flow *except,
			    const struct htbs_load *before, u64 now, bool at_worst)
{
	return policy->seeks &&
	       !htbs_before(now, htbs_policy_latest(policy, except, before, now,
						    at_worst));
}

/*
 * Return the flow with the owed head that goes next, or NULL. That is the nearest entitled
 * head, or the head with the earliest deadline if the device has to begin with it. A batch of
 * owed heads begins early enough for the worst case if it is served in the order of deadlines.
 * It takes no longer in all if the nearest head goes first. So within a batch the nearest head
 * goes first if the others are in time on average, with two positionings to spare, there and
 * back: the heads that are left for later are farther away than the average head.
 */
static struct htbs_flow *htbs_next_owed(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *due_first =
		htbs_pool_of_head(htbs_owed_first(&policy->owed));
	struct htbs_flow *next = htbs_next_entitled(policy, now);
	struct htbs_load load;

	if (!next || next == due_first)
		return htbs_must_begin(policy, NULL, &policy->load, now, true) ?
		       due_first : next;
	load = htbs_policy_load_with(policy, next, 1 + HTBS_THERE_AND_BACK);
	return htbs_must_begin(policy, next, &load, now, false) ? due_first : next;
}

static struct htbs_flow *htbs_next_surplus(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow =
		htbs_flow_of_share(htbs_fair_first(&policy->shares));
	struct htbs_flow *due_first =
		htbs_pool_of_head(htbs_owed_first(&policy->owed));
	struct htbs_load load;

	if (!flow)
		return policy->background;
	load = htbs_policy_load_with(policy, flow, 1);
	if (due_first && flow != due_first &&
	    htbs_must_begin(policy, flow, &load, now, true))
		return due_first;
	policy->surplus = true;
	return flow;
}

static struct htbs_flow *htbs_next_flow(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow;

	policy->surplus = false;
	if (htbs_policy_background_due(policy, now))
		return policy->background;
	if (policy->overload.now)
		return htbs_pool_of_proportion(htbs_fair_first(&policy->proportions)) ?:
		       policy->background;
	flow = htbs_next_owed(policy, now);
	return flow ?: htbs_next_surplus(policy, now);
}

/*
 * The head that is next is held back. Try the next owed head, which is not surplus. Otherwise
 * try all other heads; on a device that seeks, only while the quota holds back writes. On a
 * device that does not seek, once a head may not be dispatched as surplus, no other head of the
 * same direction may either, unless it is owed or belongs to the only pool from which
 * conforming requests are expected. The background is in no tree: it is dispatched when it is
 * next again.
 */
static struct htbs_flow *htbs_next_dispatchable(struct htbs_policy *policy,
						u64 now)
{
	struct htbs_flow *flow = htbs_next_owed(policy, now), *only;
	bool closed[2] = { };
	struct htbs_fair_node *node;

	if (flow && htbs_policy_can_dispatch(policy, flow, now)) {
		policy->surplus = false;
		return flow;
	}
	if (policy->seeks && !htbs_quota_wait(&policy->limits.quota, now))
		return NULL;
	only = htbs_policy_expected(policy, NULL, now);
	for (node = htbs_fair_first(&policy->shares); node;
	     node = htbs_fair_next(node)) {
		flow = htbs_flow_of_share(node);
		if (closed[flow->head.write] && (!only || flow->pool != only->pool) &&
		    !htbs_flow_owed(flow, now))
			continue;
		if (htbs_policy_can_dispatch(policy, flow, now))
			return flow;
		closed[flow->head.write] = !policy->seeks;
	}
	return NULL;
}

/*
 * Grant the device to a flow. If that is the background, no flow is active. Returns true if the
 * active flow has changed.
 */
static bool htbs_grant(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	const struct htbs_flow *was = policy->active;

	policy->run = 0;
	policy->run_since = now;
	if (flow->background) {
		htbs_policy_release(policy);
		policy->background_due = now +
			2 * HTBS_RUN * htbs_service_time_longest(&policy->service);
	} else {
		policy->active = flow;
	}
	return was != policy->active;
}

/**
 * htbs_policy_has_no_choice() - whether an arriving request is the only candidate
 * @policy: the policy
 * @flow: the flow of the request, which does not count the request yet
 *
 * If nothing is pending on a device that does not seek, and there is nothing to throttle or to
 * wait for, htbs_policy_choose() would choose the request or hold it back.
 *
 * Return: true if htbs_policy_dispatch_arriving() may be called.
 */
__always_inline bool
htbs_policy_has_no_choice(const struct htbs_policy *policy,
			  const struct htbs_flow *flow)
{
	return !policy->pending && !policy->seeks && !htbs_policy_waits(policy) &&
	       !policy->overload.now && !flow->background && !flow->cap.max;
}

/**
 * htbs_policy_choose_arriving() - choose a request that is the only candidate
 * @policy: the policy
 * @flow: the flow; the request is its head
 * @now: real time, ns
 *
 * Return: true if it has to be dispatched; false if it is held back.
 */
__always_inline bool
htbs_policy_choose_arriving(struct htbs_policy *policy, struct htbs_flow *flow,
			    u64 now)
{
	if (!htbs_policy_limits_allow(policy, flow, now))
		return false;
	policy->order = HTBS_ORDER_OLDEST;
	htbs_grant(policy, flow, now);
	return true;
}

/**
 * htbs_policy_choose_only() - what to dispatch if a single flow is backlogged
 * @policy: the policy
 * @now: real time, ns
 *
 * On a device that does not seek there is nothing to choose then, and nothing to wait for. But
 * the head of the flow may have expired, or may have to be held back.
 *
 * Return: the flow, the oldest request of which has to be dispatched; NULL if
 * htbs_policy_choose() has to decide.
 */
__always_inline struct htbs_flow *
htbs_policy_choose_only(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = list_first_entry(&policy->backlogged,
						  struct htbs_flow, backlogged);

	if (policy->seeks || htbs_policy_waits(policy) || policy->overload.now ||
	    !list_is_singular(&policy->backlogged) || flow->background ||
	    !htbs_before(now, flow->head.arrived + HTBS_EXPIRE) ||
	    !htbs_policy_choose_arriving(policy, flow, now))
		return NULL;
	return flow;
}

/**
 * htbs_policy_choose() - what to dispatch
 * @policy: the policy
 * @now: real time, ns
 * @choice: the decision
 *
 * Call htbs_policy_unthrottle() before, because a throttled flow is not chosen.
 *
 * If no flow is chosen, nothing is pending, or the request is held back, or the device is idled
 * as policy->wait says; see htbs_policy_timer().
 */
void htbs_policy_choose(struct htbs_policy *policy, u64 now,
			struct htbs_choice *choice)
{
	const struct htbs_flow *was = policy->active;
	bool stays = false, expired;
	struct htbs_flow *next;

	memset(choice, 0, sizeof(*choice));
	choice->timed_out = htbs_policy_timeout(policy, now);
	if (!htbs_policy_has_work(policy))
		return;

	choice->flow = htbs_policy_choose_only(policy, now);
	if (choice->flow) {
		choice->order = policy->order;
		choice->switched = was != policy->active;
		return;
	}
	htbs_policy_settle(policy);
	/* Flows with a write that is held back are passed over until the quota has filled. */
	if (htbs_quota_holds(&policy->limits.quota))
		htbs_quota_fill(&policy->limits.quota, now);
	choice->overload_ended = htbs_policy_end_overload(policy, now);
	next = htbs_policy_expired(policy, now);
	expired = next;
	if (!expired) {
		stays = htbs_policy_keep_or_wait(policy, now);
		choice->wait_began = policy->wait != HTBS_WAIT_NONE;
		if (choice->wait_began)
			return;
		next = stays ? policy->active : htbs_next_flow(policy, now);
		if (!htbs_policy_can_dispatch(policy, next, now)) {
			next = htbs_next_dispatchable(policy, now);
			stays = false;
		}
	}
	choice->held = !next;
	if (choice->held) {
		htbs_policy_hold(policy, now);
		return;
	}
	choice->flow = next;
	choice->order = !expired && htbs_policy_pass_oldest(policy, next, stays) ?
			HTBS_ORDER_NEAREST : HTBS_ORDER_OLDEST;
	policy->order = choice->order;
	if (!stays)
		choice->switched = htbs_grant(policy, next, now);
}
