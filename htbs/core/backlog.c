// SPDX-License-Identifier: GPL-2.0
/*
 * The backlogged flows, and what they are owed.
 *
 * A flow with requests pending is either backlogged or throttled. A backlogged flow is in the tree
 * of shares and in the list of backlogged flows of its pool. A throttled flow is in the tree of
 * throttled flows. For each pool, the head of the first backlogged flow is in the tree of owed
 * heads. If the pool is relaxed, or if the flow is sequential on a device that seeks, that head is
 * never entitled there and waits for its deadline. The background is backlogged, but in none of the
 * trees.
 */
#include <linux/string.h>

#include <htbs/core/backlog.h>
#include <htbs/core/flow.h>
#include <htbs/core/owed.h>
#include <htbs/core/policy.h>

static bool htbs_cap_less(struct rb_node *a, const struct rb_node *b)
{
	return htbs_before(rb_entry(a, struct htbs_cap, rb)->tag,
			   rb_entry(b, struct htbs_cap, rb)->tag);
}

/**
 * htbs_policy_throttles() - whether a flow has to stay throttled
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it has to.
 */
bool htbs_policy_throttles(const struct htbs_policy *policy,
			   const struct htbs_flow *flow, u64 now)
{
	return flow->cap.throttled && !policy->drains &&
	       htbs_before(now, htbs_cap_end(&flow->cap));
}

/* On a device that seeks, a sequential flow needs fewer positionings the later it is served. */
static bool htbs_waits_for_deadline(const struct htbs_policy *policy,
				    const struct htbs_flow *flow)
{
	return policy->seeks && htbs_flow_sequential(flow);
}

static void htbs_set_head(struct htbs_policy *policy, struct htbs_pool *pool)
{
	const struct htbs_flow *first = htbs_pool_first(pool);
	struct htbs_owed_head *head = &pool->head;

	if (!first) {
		if (htbs_owed_contains(head))
			htbs_owed_remove(&policy->owed, head);
		return;
	}
	if (policy->seeks)
		pool->relaxed = htbs_pool_greedy(pool, first);
	head->start = htbs_flow_start(first);
	head->deadline = htbs_flow_deadline_of(first, first->head.arrived, head->start);
	if (pool->relaxed || htbs_waits_for_deadline(policy, first))
		head->start = head->deadline + HTBS_FAR;
	head->pos = first->head.pos;
	if (policy->rotational) {
		head->load = (struct htbs_load){ };
		if (policy->seeks)
			htbs_load_add(&head->load, &first->service, 1, first->head.cost);
	}
	htbs_owed_update(&policy->owed, head);
}

static void htbs_insert_lone(struct htbs_policy *policy)
{
	if (policy->lone)
		htbs_fair_insert(&policy->shares, &policy->lone->share);
	policy->lone = NULL;
}

static void htbs_settle_head(struct htbs_policy *policy)
{
	if (policy->changed)
		htbs_set_head(policy, policy->changed);
	policy->changed = NULL;
}

/**
 * htbs_policy_settle() - bring the trees of shares and of owed heads up to date
 * @policy: the policy
 *
 * Has to be called before one of these trees is read.
 */
void htbs_policy_settle(struct htbs_policy *policy)
{
	htbs_settle_head(policy);
	htbs_insert_lone(policy);
}

/**
 * htbs_policy_update_head() - note that what a flow or its pool is owed has changed
 * @policy: the policy
 * @flow: the flow; its head, its pace or its pending requests have changed
 *
 * On a device that does not seek, the trees are read only while more than one flow is backlogged.
 * So they are brought up to date when they are read, or when the head of another pool changes. For
 * the same reason the only backlogged flow is put into the tree of shares only when that tree is
 * read or when another flow becomes backlogged.
 */
void htbs_policy_update_head(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (policy->changed != flow->pool)
		htbs_settle_head(policy);
	policy->changed = flow->pool;
	if (policy->seeks)
		htbs_settle_head(policy);
}

/**
 * htbs_policy_owes() - whether the head of a flow is owed now
 * @policy: the policy
 * @flow: a flow with requests pending
 * @now: real time, ns
 *
 * Return: true if the head is entitled, and the flow is neither throttled nor relaxed.
 */
bool htbs_policy_owes(const struct htbs_policy *policy,
		      const struct htbs_flow *flow, u64 now)
{
	return !list_empty(&flow->turn) && htbs_flow_owed(flow, now);
}

/* Called when a pool becomes backlogged during an overload. */
static void htbs_proportion_insert(struct htbs_policy *policy, struct htbs_pool *pool)
{
	if (!policy->active || policy->active->pool != pool)
		htbs_fair_busy(&policy->proportions, &pool->proportion, 0);
	htbs_fair_insert(&policy->proportions, &pool->proportion);
}

/**
 * htbs_policy_least_served() - the backlogged flow that had the least of its share
 * @policy: the policy
 *
 * While the quota holds back writes, flows with a write at their head are skipped.
 *
 * Return: the flow, or NULL.
 */
struct htbs_flow *htbs_policy_least_served(const struct htbs_policy *policy)
{
	struct htbs_fair_node *node = htbs_fair_first(&policy->shares);

	while (node && htbs_quota_holds(&policy->limits.quota) &&
	       htbs_flow_of_share(node)->head.write)
		node = htbs_fair_next(node);
	return htbs_flow_of_share(node);
}

/**
 * htbs_policy_advance_shares() - advance virtual time
 * @policy: the policy
 *
 * Has to be called before a flow begins at virtual time. Virtual time follows the smallest share of
 * the active flow and of the backlogged flows. So a flow that gets more than its share from its
 * reservation does not move virtual time. Nor does a flow with a write that the quota holds back:
 * it begins anew at virtual time.
 */
void htbs_policy_advance_shares(struct htbs_policy *policy)
{
	u64 position = htbs_service_time_longest(&policy->service);
	const struct htbs_flow *least = policy->active;
	struct htbs_flow *first;

	htbs_insert_lone(policy);
	first = htbs_policy_least_served(policy);
	if (!least || (first && htbs_before(first->share.tag, least->share.tag)))
		least = first;
	if (least)
		htbs_fair_advance(&policy->shares, &least->share,
				  htbs_flow_share_of_run(least, position));
	htbs_fair_pass(&policy->shares, first ? &first->share : NULL);
}

/**
 * htbs_policy_release() - grant the device to no flow
 * @policy: the policy
 *
 * Virtual time advances by what the active flow had, so that a flow that begins later gets no
 * credit for that.
 */
void htbs_policy_release(struct htbs_policy *policy)
{
	htbs_policy_advance_shares(policy);
	policy->active = NULL;
}

/**
 * htbs_policy_begin_share() - a flow gets a request to be served, and had none
 * @policy: the policy
 * @flow: the flow, not backlogged
 *
 * If the device was kept for the flow, the flow was not idle between two requests. A device that
 * does not seek is kept for no flow. On such a device a flow with requests in flight was not idle
 * either. It keeps what it lacks of its share, but no more than HTBS_HORIZON of device time: it may
 * lack more just because it asked for less.
 */
void htbs_policy_begin_share(struct htbs_policy *policy, struct htbs_flow *flow)
{
	u64 keeps = 0;

	if (policy->active == flow)
		return;
	if (flow->in_flight && !policy->seeks)
		keeps = htbs_flow_share(flow, HTBS_HORIZON);
	htbs_policy_advance_shares(policy);
	htbs_fair_busy(&policy->shares, &flow->share, keeps);
}

/**
 * htbs_policy_link() - a flow becomes backlogged or throttled
 * @policy: the policy
 * @flow: the flow, with its oldest request; not linked yet
 */
void htbs_policy_link(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (flow->cap.throttled) {
		rb_add_cached(&flow->cap.rb, &policy->throttled, htbs_cap_less);
		return;
	}
	list_add_tail(&flow->backlogged, &policy->backlogged);
	if (flow->background)
		return;
	htbs_policy_begin_share(policy, flow);
	if (policy->overload.now && !htbs_pool_first(flow->pool))
		htbs_proportion_insert(policy, flow->pool);
	list_add_tail(&flow->turn, &flow->pool->backlog);
	htbs_policy_update_head(policy, flow);
	htbs_insert_lone(policy);
	if (!policy->seeks && list_is_singular(&policy->backlogged))
		policy->lone = flow;
	else
		htbs_fair_insert(&policy->shares, &flow->share);
}

/**
 * htbs_policy_unlink() - a flow is neither backlogged nor throttled any more
 * @policy: the policy
 * @flow: the flow
 *
 * Return: true if it was one or the other.
 */
bool htbs_policy_unlink(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (!RB_EMPTY_NODE(&flow->cap.rb)) {
		rb_erase_cached(&flow->cap.rb, &policy->throttled);
		RB_CLEAR_NODE(&flow->cap.rb);
		return true;
	}
	if (list_empty(&flow->backlogged))
		return false;
	list_del_init(&flow->backlogged);
	if (flow->background)
		return true;
	list_del_init(&flow->turn);
	htbs_policy_update_head(policy, flow);
	if (policy->lone == flow)
		policy->lone = NULL;
	else
		htbs_fair_remove(&policy->shares, &flow->share);
	if (policy->overload.now && !htbs_pool_first(flow->pool))
		htbs_fair_remove(&policy->proportions, &flow->pool->proportion);
	return true;
}

/**
 * htbs_policy_load_with() - the load of the requests in flight and the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @times: how often the device positions for the head
 *
 * Return: the load.
 */
struct htbs_load htbs_policy_load_with(const struct htbs_policy *policy,
				       const struct htbs_flow *flow, u32 times)
{
	struct htbs_load load = policy->load;

	htbs_load_add(&load, &flow->service, times, flow->head.cost);
	return load;
}

/*
 * Return the head that does not count for latest(Q) while @flow has the device: that of its pool,
 * if it is the turn of @flow or if the head of @flow is owed. While a flow has the device, its
 * entitled requests are what its pool is owed, whichever flow is the first of the pool.
 */
static const struct htbs_owed_head *htbs_head_of(const struct htbs_flow *flow,
						 u64 now)
{
	if (!flow || (htbs_pool_first(flow->pool) != flow &&
		      !htbs_flow_owed(flow, now)))
		return NULL;
	return &flow->pool->head;
}

/**
 * htbs_policy_latest() - latest(Q): when the device has to begin with the owed heads
 * @policy: the policy
 * @except: a flow that is left out, or NULL
 * @before: the load that the device serves before
 * @now: real time, ns
 * @at_worst: in the worst case, with the margin; otherwise on average
 *
 * Return: real time, ns; at most HTBS_HORIZON from now.
 */
u64 htbs_policy_latest(struct htbs_policy *policy,
		       const struct htbs_flow *except,
		       const struct htbs_load *before, u64 now, bool at_worst)
{
	u64 most = now + HTBS_HORIZON, end = most;

	htbs_policy_settle(policy);
	htbs_owed_latest(&policy->owed, htbs_head_of(except, now), before,
			 at_worst ? policy->margin : 0, &end);
	return htbs_before(end, most) ? end : most;
}
