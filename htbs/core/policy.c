// SPDX-License-Identifier: GPL-2.0
/*
 * The events that the policy is fed with.
 *
 * The caller keeps the requests of each flow in order of arrival, and tells the policy about the
 * oldest one. Requests have no start tags. Only a reservation has one, its pace (pace.c): a request
 * that is entitled when it is dispatched moves the pace on, any other does not. So nothing has to
 * be refunded, and a merge or a changed reservation only changes what the head is owed.
 */
#include <linux/string.h>

#include <htbs/core/backlog.h>
#include <htbs/core/choose.h>
#include <htbs/core/expect.h>
#include <htbs/core/expire.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/judge.h>
#include <htbs/core/late.h>
#include <htbs/core/learn.h>
#include <htbs/core/margin.h>
#include <htbs/core/overload.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/throttle.h>
#include <htbs/core/wait.h>

/*
 * Returns what a write is charged to the quota, bytes. If a disk has to position for the write,
 * that includes what the disk could transfer meanwhile.
 */
static u64 htbs_quota_cost(const struct htbs_policy *policy, u32 cost, bool near)
{
	return policy->seeks && !near ?
	       cost + htbs_service_time_bytes(&policy->service) : cost;
}

static void htbs_init_limits(struct htbs_policy *policy, u64 now)
{
	htbs_limit_init(&policy->limits.window, HTBS_LIMIT_ONE, HTBS_LIMIT_ONE,
			HTBS_WINDOW_MOST);
	htbs_quota_init(&policy->limits.quota, htbs_quota_cost(policy, HTBS_COST_MIN, false),
			policy->seeks ? HTBS_RUN * policy->service.position : 0, now);
}

/* Initialise all that is learned about the device. */
static void htbs_init_estimates(struct htbs_policy *policy, u64 now)
{
	htbs_service_time_init(&policy->service, policy->position);
	htbs_service_time_init(&policy->reads, 0);
	htbs_depth_init(&policy->depth, policy->position);
	policy->stall = (struct htbs_stall){ .since = now };
	htbs_init_limits(policy, now);
	htbs_policy_init_margin(policy);
}

/*
 * The device turned out to seek, or not to, so all that was learned about it is void. Flows without
 * pending requests are reset when their next requests complete.
 */
static noinline void htbs_change_seeks(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow;

	htbs_policy_settle(policy);
	policy->seeks = !policy->seeks;
	htbs_init_estimates(policy, now);
	htbs_policy_set_late(policy, policy->late_one_in, policy->late_one_in_writes);
	policy->unlearnt = (struct htbs_unlearnt){ };
	policy->limits.hasty = NULL;
	policy->limits.slow = (struct htbs_slow){ };
	policy->overload.late = 0;
	policy->held = false;
	list_for_each_entry(flow, &policy->backlogged, backlogged)
		htbs_policy_forget(policy, flow, now);
}

/**
 * htbs_policy_init() - initialise a policy: no flow is backlogged or active
 * @policy: the policy
 * @background: the flow of IOPRIO_CLASS_IDLE; the caller initialises it next, like any flow, and
 *	configures the pool
 * @rotational: the device claims to seek
 * @position: the longest positioning to assume before any is known, ns
 * @t_wait: longest wait, ns; 0: never wait
 */
void htbs_policy_init(struct htbs_policy *policy, struct htbs_flow *background,
		      bool rotational, u64 position, u64 t_wait)
{
	memset(policy, 0, sizeof(*policy));
	policy->rotational = rotational;
	policy->seeks = rotational;
	policy->t_wait = t_wait;
	policy->background = background;
	INIT_LIST_HEAD(&policy->backlogged);
	htbs_owed_init(&policy->owed);
	htbs_fair_init(&policy->shares);
	htbs_fair_init(&policy->proportions);
	policy->expected = RB_ROOT_CACHED;
	policy->throttled = RB_ROOT_CACHED;
	htbs_pool_init(&policy->pool, HTBS_NEED_ONE / HTBS_SHARED_PART, 0);
	policy->position = position;
	htbs_claim_init(&policy->claim);
	htbs_init_estimates(policy, 0);
	htbs_policy_set_late(policy, HTBS_LATE_ONE_IN, HTBS_LATE_WRITES);
	policy->expired_at = -HTBS_EXPIRE;
}

/**
 * htbs_flow_init() - initialise a flow
 * @flow: the flow
 * @policy: the policy of its device
 * @params: the reservation; valid. NULL: it has none of its own
 * @now: real time, ns
 */
void htbs_flow_init(struct htbs_flow *flow, struct htbs_policy *policy,
		    const struct htbs_params *params, u64 now)
{
	memset(flow, 0, sizeof(*flow));
	flow->background = flow == policy->background;
	/* Existing flows may seek over short distances only, which says nothing about this flow. */
	htbs_service_time_init(&flow->service, policy->position);
	flow->idle_since = now;
	INIT_LIST_HEAD(&flow->backlogged);
	INIT_LIST_HEAD(&flow->turn);
	RB_CLEAR_NODE(&flow->expected);
	RB_CLEAR_NODE(&flow->cap.rb);
	htbs_fair_node_init(&flow->share);
	htbs_pool_init(&flow->own, HTBS_NEED_ONE, now);
	/* Nothing is owed to the background: all of its requests are surplus. */
	flow->own.relaxed = flow->background;
	htbs_pool_join(params ? &flow->own : &policy->pool, flow);
	htbs_policy_configure(policy, flow, params, now);
}

/* Returns the service time of a request of the flow if the flow has no other. */
static u64 htbs_own_service(const struct htbs_policy *policy,
			    const struct htbs_flow *flow)
{
	return policy->seeks ? flow->service.position :
				    htbs_fastest_time(&flow->fastest);
}

/* Called when a pool gets a request, and had none pending or in flight. */
static __always_inline void
htbs_pool_becomes_busy(struct htbs_policy *policy, struct htbs_pool *pool,
		       const struct htbs_flow *flow, u64 now)
{
	pool->on_pace = now;
	htbs_pace_busy(&pool->pace, now, now - pool->idle_since,
		       htbs_own_service(policy, flow));
}

/* Move a flow, with its requests, to another pool. */
static void htbs_change_pool(struct htbs_policy *policy, struct htbs_flow *flow,
			     struct htbs_pool *pool, u64 now)
{
	bool linked = htbs_policy_unlink(policy, flow);

	htbs_pool_leave(flow);
	if (htbs_flow_busy(flow) && !htbs_pool_busy(pool))
		htbs_pool_becomes_busy(policy, pool, flow, now);
	htbs_pool_join(pool, flow);
	if (linked)
		htbs_policy_link(policy, flow);
}

/**
 * htbs_policy_configure() - set what a flow's reservation promises
 * @policy: the policy
 * @flow: the flow
 * @params: the reservation; valid. NULL: the flow has none of its own any more
 * @now: real time, ns
 *
 * The flow has its whole burst afterwards. Its share begins anew, because its past share was over
 * another weight. If requests are pending, htbs_policy_head_changed() must follow.
 */
void htbs_policy_configure(struct htbs_policy *policy, struct htbs_flow *flow,
			   const struct htbs_params *params, u64 now)
{
	struct htbs_pool *pool = params ? &flow->own : &policy->pool;

	htbs_policy_expect_none(policy, flow);
	htbs_policy_advance_shares(policy);
	if (params) {
		htbs_pool_configure(pool, params, now);
		/* Earlier raises of the limits were not at the expense of this pool. */
		pool->raised = policy->limits.raised;
	}
	if (flow->pool != pool)
		htbs_change_pool(policy, flow, pool, now);
	htbs_fair_reset(&policy->shares, &flow->share);
	htbs_policy_set_cap(policy, flow, params ? params->max : 0, now);
	policy->held = false;
}

/**
 * htbs_policy_configure_pool() - set what flows without a reservation share
 * @policy: the policy
 * @flow: a flow without a reservation, which gets the cap: if there is a cap, the caller charges
 *	the requests of all these flows to it
 * @params: the reservation; valid
 * @now: real time, ns
 *
 * This does the same as htbs_policy_configure() for each of these flows.
 */
void htbs_policy_configure_pool(struct htbs_policy *policy, struct htbs_flow *flow,
				const struct htbs_params *params, u64 now)
{
	struct htbs_flow *each;

	htbs_policy_advance_shares(policy);
	htbs_pool_configure(&policy->pool, params, now);
	list_for_each_entry(each, &policy->pool.members, member) {
		htbs_policy_expect_none(policy, each);
		htbs_fair_reset(&policy->shares, &each->share);
	}
	htbs_policy_set_cap(policy, flow, params->max, now);
	htbs_policy_update_head(policy, flow);
	policy->held = false;
}

/**
 * htbs_policy_exit_flow() - a flow ends
 * @policy: the policy
 * @flow: the flow; it has no requests pending or in flight
 *
 * Return: true if a wait was cancelled.
 */
bool htbs_policy_exit_flow(struct htbs_policy *policy, struct htbs_flow *flow)
{
	bool waited;

	htbs_policy_expect_none(policy, flow);
	htbs_policy_settle(policy);
	htbs_pool_leave(flow);
	policy->capped -= !!flow->cap.max;
	if (policy->active != flow)
		return false;

	/* A held request belongs to another flow. The next completion releases it. */
	waited = policy->wait != HTBS_WAIT_NONE;
	policy->wait = HTBS_WAIT_NONE;
	htbs_policy_release(policy);
	return waited;
}

/* Called when a request arrives, and the flow had none pending or in flight. */
static __always_inline void
htbs_become_busy(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	policy->busy++;
	if (policy->rotational)
		htbs_flow_note_arrival(flow, now, policy->t_wait);
	if (!flow->pool->busy++)
		htbs_pool_becomes_busy(policy, flow->pool, flow, now);
}

/* Learn from an arriving request. */
static __always_inline void
htbs_note_arrival(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	htbs_pool_note_arrival(flow->pool, flow, now);
	if (htbs_pool_busy(flow->pool))
		htbs_pace_mark(&flow->pool->pace, now);
	if (!htbs_flow_busy(flow))
		htbs_become_busy(policy, flow, now);
}

/* An arriving request becomes pending. */
static __always_inline void
htbs_become_pending(struct htbs_policy *policy, struct htbs_flow *flow, u64 now)
{
	policy->pending++;
	flow->pool->pending++;
	/* A request behind others of its flow changes no choice. */
	if (flow->pending++)
		return;
	policy->held = policy->held && policy->full;
	flow->cap.throttled = htbs_policy_throttles(policy, flow, now);
	htbs_policy_head_changed(policy, flow);
}

/**
 * htbs_policy_arrive() - a request arrives
 * @policy: the policy
 * @flow: its flow; if it has no other request pending, flow->head is this one
 * @now: real time, ns
 * @arrival: set to what the request changed
 *
 * The caller puts the request at the end of the flow's queue.
 */
__always_inline void
htbs_policy_arrive(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
		   struct htbs_arrival *arrival)
{
	arrival->hit = policy->active == flow && policy->wait != HTBS_WAIT_NONE;
	if (arrival->hit)
		policy->wait = HTBS_WAIT_NONE;
	htbs_note_arrival(policy, flow, now);
	htbs_become_pending(policy, flow, now);
	if (!htbs_pool_had_conforming(flow->pool, now) &&
	    htbs_policy_owes(policy, flow, now))
		htbs_policy_expect_more(policy, flow, now);
	arrival->wait_shortened = policy->wait != HTBS_WAIT_NONE &&
				  htbs_policy_shorten_wait(policy, now);
}

/**
 * htbs_policy_head_changed() - the oldest pending request of a flow is another one
 * @policy: the policy
 * @flow: a flow with requests pending; flow->head is the oldest of them
 */
__always_inline void
htbs_policy_head_changed(struct htbs_policy *policy, struct htbs_flow *flow)
{
	flow->head.arrived = htbs_cap_waits_since(&flow->cap, flow->head.arrived);
	if (list_empty(&flow->backlogged) && RB_EMPTY_NODE(&flow->cap.rb))
		htbs_policy_link(policy, flow);
	else
		htbs_policy_update_head(policy, flow);
}

/*
 * Fill in @sent for a request that is dispatched. Returns by when the device has to complete it, if
 * it seeks, ns.
 *
 * A request that passes an older one of its flow is due no earlier than the older one. Otherwise a
 * small request that arrived after a large one would be due before the head of the flow, although
 * the device is granted by the deadline of the head.
 */
static __always_inline u64
htbs_describe(const struct htbs_policy *policy, const struct htbs_flow *flow, u64 arrived,
	      u64 start, bool near, const struct htbs_extent *extent, struct htbs_sent *sent)
{
	if (extent->write)
		sent->flags |= HTBS_SENT_WRITE;
	if (!near || (policy->seeks && (policy->active != flow || !policy->run)))
		sent->flags |= HTBS_SENT_FAR;
	if (policy->rotational)
		sent->flags |= htbs_policy_claim_flags(policy, extent->write, near);
	if (flow->background) {
		sent->due = arrived + HTBS_EXPIRE;
		return sent->due;
	}
	/*
	 * In an overload a request is charged to the pace before it is entitled, by up to
	 * HTBS_LEAD.
	 */
	if (!htbs_before(sent->at + (policy->overload.now ? HTBS_LEAD : 0), start))
		sent->flags |= HTBS_SENT_PACED;
	if (policy->order == HTBS_ORDER_NEAREST)
		start = htbs_later(start, htbs_flow_start(flow));
	if (start == arrived)
		sent->flags |= HTBS_SENT_CONFORMS;
	sent->due = start + htbs_flow_latency(flow);
	return policy->seeks ? htbs_flow_deadline_of(flow, arrived, start) : sent->due;
}

/*
 * Charge a dispatched request to the pace of its pool, if it counts there, and in an overload to
 * the proportion of the pool.
 */
static __always_inline void
htbs_charge_dispatch(struct htbs_policy *policy, struct htbs_flow *flow, u64 arrived,
		     const struct htbs_sent *sent, bool backlogged)
{
	struct htbs_pool *pool = flow->pool;

	if (flow->background)
		return;
	pool->served = sent->at;
	if (sent->flags & HTBS_SENT_PACED) {
		htbs_pace_charge(&pool->pace, arrived, sent->cost);
		if (backlogged)
			htbs_flow_turn_over(flow);
	}
	if (!policy->overload.now)
		return;
	htbs_fair_advance(&policy->proportions, &pool->proportion, HTBS_LEAD);
	htbs_fair_charge(&policy->proportions, &pool->proportion,
			 htbs_pace_step(&pool->pace, sent->cost));
}

/*
 * Account a request that is dispatched, from the backlog or as it arrives. Returns true if an
 * overload began.
 */
static __always_inline bool
htbs_send(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
	  const struct htbs_extent *extent, struct htbs_sent *sent, bool backlogged)
{
	u64 arrived = htbs_cap_waits_since(&flow->cap, extent->arrived), deadline;
	u64 start = htbs_pace_start(&flow->pool->pace, arrived, extent->cost);
	bool near = htbs_flow_note_dispatch(flow, extent), began = false;

	policy->next_pos = flow->next_pos;
	*sent = (struct htbs_sent){ .at = now, .cost = extent->cost };
	deadline = htbs_describe(policy, flow, arrived, start, near, extent, sent);
	htbs_policy_inflight_add(policy, flow, sent, deadline);
	/*
	 * A turn is late after the latency of its first request, but at once if the flow is a
	 * latency behind its pace. A flow that is less behind catches up.
	 */
	if (!policy->run && !flow->background)
		began = htbs_policy_account_turn(policy, flow, htbs_before(arrived, deadline) ?
						 sent->due : deadline, now);
	policy->run += policy->active == flow;

	htbs_charge_dispatch(policy, flow, arrived, sent, backlogged);
	if (sent->flags & HTBS_SENT_WRITE)
		htbs_quota_account(&policy->limits.quota,
				   htbs_quota_cost(policy, extent->cost, near),
				   !htbs_flow_owed_from(flow, start, now), now);
	return began;
}

/**
 * htbs_policy_dispatch() - a request of a flow is dispatched
 * @policy: the policy
 * @flow: the flow, as chosen
 * @now: real time, ns
 * @extent: the request, as chosen
 * @sent: set to what the caller keeps of it until it completes
 *
 * If more requests are pending, htbs_policy_head_changed() must follow.
 *
 * Return: true if an overload began.
 */
__always_inline bool
htbs_policy_dispatch(struct htbs_policy *policy, struct htbs_flow *flow,
		     u64 now, const struct htbs_extent *extent,
		     struct htbs_sent *sent)
{
	bool began = htbs_send(policy, flow, now, extent, sent, true);

	if (policy->order == HTBS_ORDER_NEAREST)
		flow->sweep = flow->next_pos;
	htbs_policy_remove(policy, flow);
	if (flow->cap.max)
		htbs_policy_charge_cap(policy, flow, now, extent->cost);
	return began;
}

/**
 * htbs_policy_dispatch_arriving() - a request arrives, and is dispatched or held back
 * @policy: the policy; htbs_policy_has_no_choice() has returned true
 * @flow: its flow; flow->head is the request
 * @now: real time, ns
 * @sent: if it is dispatched, set to what the caller keeps of it until it completes
 *
 * This has the same result as htbs_policy_arrive(), htbs_policy_choose() and
 * htbs_policy_dispatch(), but the flow is not backlogged in between. No overload begins, because
 * the request is due later than now.
 *
 * Return: true if it is dispatched; false if it is pending and held back.
 */
__always_inline bool
htbs_policy_dispatch_arriving(struct htbs_policy *policy, struct htbs_flow *flow,
			      u64 now, struct htbs_sent *sent)
{
	htbs_note_arrival(policy, flow, now);
	if (!htbs_pool_had_conforming(flow->pool, now) && htbs_flow_owed(flow, now))
		htbs_policy_expect_more(policy, flow, now);
	htbs_policy_begin_share(policy, flow);
	if (!htbs_policy_choose_arriving(policy, flow, now)) {
		htbs_become_pending(policy, flow, now);
		htbs_policy_hold(policy, now);
		return false;
	}
	htbs_send(policy, flow, now, &flow->head, sent, false);
	return true;
}

/**
 * htbs_policy_remove() - a request of a flow is no longer pending
 * @policy: the policy
 * @flow: the flow
 *
 * The request was dispatched, was merged into another one, or bypasses the policy from now on. If
 * more requests are pending, htbs_policy_head_changed() must follow.
 */
__always_inline void
htbs_policy_remove(struct htbs_policy *policy, struct htbs_flow *flow)
{
	policy->pending--;
	flow->pool->pending--;
	flow->pending--;
	htbs_policy_note_idle(policy, flow);
	if (!flow->pending)
		htbs_policy_unlink(policy, flow);
}

/**
 * htbs_policy_complete() - a dispatched request completed
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @sent: the request
 *
 * Return: true if the device is now idled until policy->wait_until.
 */
__always_inline bool
htbs_policy_complete(struct htbs_policy *policy, struct htbs_flow *flow,
		     u64 now, const struct htbs_sent *sent)
{
	bool was = policy->seeks && htbs_pool_impossible(flow->pool);
	bool conforms = sent->flags & HTBS_SENT_CONFORMS;

	if (conforms && htbs_before(sent->at, sent->due))
		htbs_policy_judge_limits(policy, flow, now, sent);
	htbs_policy_learn(policy, flow, now, sent);
	if (conforms && policy->seeks && !was)
		htbs_policy_judge_margin(policy, flow, now, sent->due);
	htbs_policy_inflight_remove(policy, flow, sent);
	flow->idle_since = now;
	flow->pool->idle_since = now;
	if (policy->rotational && htbs_policy_judge_claim(policy))
		htbs_change_seeks(policy, now);
	if (policy->seeks && htbs_pool_impossible(flow->pool) != was)
		htbs_policy_update_head(policy, flow);
	if (policy->active != flow || policy->wait != HTBS_WAIT_SERVICE)
		return false;

	htbs_policy_wait_for_arrival(policy, now);
	return true;
}

/**
 * htbs_policy_requeue() - the driver requeued a dispatched request
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 *
 * The request may come back or may bypass the scheduler, so the device is not idled for it any
 * longer.
 *
 * Return: true if a wait was cancelled.
 */
bool htbs_policy_requeue(struct htbs_policy *policy, struct htbs_flow *flow,
			 const struct htbs_sent *sent)
{
	htbs_policy_inflight_remove(policy, flow, sent);
	return policy->active == flow && htbs_policy_cancel_wait(policy);
}

/**
 * htbs_policy_redispatch() - a request that bypasses the policy is dispatched
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 *
 * The request was requeued or inserted at the head, is urgent, or is exempt from a cap.
 */
void htbs_policy_redispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			    const struct htbs_sent *sent)
{
	if (!htbs_flow_busy(flow)) {
		policy->busy++;
		flow->pool->busy++;
	}
	htbs_policy_inflight_add(policy, flow, sent, sent->due);
}

/**
 * htbs_policy_charge_bypass() - charge a request that bypasses the policy
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @cost: bytes charged
 *
 * If the flow is not entitled to the request, the request is surplus: it is charged as device time
 * when it completes.
 */
void htbs_policy_charge_bypass(struct htbs_policy *policy,
			       struct htbs_flow *flow, u64 now, u32 cost)
{
	/* As with any request: the pool was idle before, and is not owed that time. */
	if (!htbs_pool_busy(flow->pool))
		htbs_pool_becomes_busy(policy, flow->pool, flow, now);
	if (!flow->background &&
	    !htbs_before(now, htbs_pace_start(&flow->pool->pace, now, cost)))
		htbs_pace_charge(&flow->pool->pace, now, cost);
	htbs_policy_update_head(policy, flow);
	htbs_policy_charge_cap(policy, flow, now, cost);
}
