// SPDX-License-Identifier: GPL-2.0
/*
 * The next policy, as a model: one rule, for docs/design.md#the-next-policy.
 *
 * Let Q be what is owed: backlogged heads, each with its deadline d, and what the
 * device has.  Let R_k be the time that the first k of them take at worst, in the
 * order of deadlines.  Then
 *
 *	latest(Q) = min over k of (d_k - R_k)
 *
 * Before latest(Q) the scheduler does what is best for the device.  From then on it
 * serves Q in the order of deadlines.
 *
 * Nothing is tagged when it arrives.  A flow has one tag, its pace: when its next
 * request is due to start by its arrival curve.  A dispatch that is owed moves it on
 * by cost / bandwidth; surplus does not, so nothing has to be refunded and no clock
 * jumps.  Time that a flow waits for the device does not move the tag either: a flow
 * that is behind its pace has an earlier deadline, and keeps a device that seeks until
 * it is not.  So a reader with one request at a time gets its bandwidth.
 *
 * The reasons of the parts, and their numbers, are in the design document.
 *
 * This is a model: caps are left out, and merges, which change what the head costs.
 */
#include <linux/math64.h>
#include <linux/string.h>

#include "flow.h"
#include "inflight.h"
#include "overload.h"
#include "rule.h"
#include "run.h"

/* Sequential requests leave out so many sectors at most. */
#define SEQ_GAP		128
/* The inverse of the background's part of the device's time. */
#define BACKGROUND	16
#define EXPIRE		30000000000ULL	/* ns */

static struct rule_flow *by_share(struct htbs_fair_node *node)
{
	return node ? container_of(node, struct rule_flow, share) : NULL;
}

static struct rule_flow *by_proportion(struct htbs_fair_node *node)
{
	return node ? container_of(node, struct rule_flow, proportion) : NULL;
}

static struct rule_flow *next_flow(struct rule_policy *policy, u64 now)
{
	struct rule_flow *urgent, *flow;

	policy->surplus = false;
	if (rule_background_due(policy, now))
		return policy->background;
	if (policy->overload.now)
		return by_proportion(htbs_fair_first(&policy->proportions)) ?:
		       policy->background;
	urgent = rule_flow_of(htbs_owed_first(&policy->owed));
	if (policy->rotational && urgent &&
	    !htbs_before(now, rule_latest(policy, NULL, policy->load, now, true)))
		return urgent;
	flow = rule_flow_of(htbs_owed_entitled(&policy->owed, now));
	if (flow)
		return flow;
	flow = by_share(htbs_fair_first(&policy->shares));
	if (!flow)
		return policy->background;
	/* There has to be time to position for it. */
	if (policy->rotational && urgent && flow != urgent &&
	    !htbs_before(now, rule_latest(policy, flow, rule_load_with(policy, flow, 2), now,
				true)))
		return urgent;
	policy->surplus = true;
	return flow;
}

/* What is next may not go: reserved work, else on flash the other direction. */
static struct rule_flow *next_dispatchable(struct rule_policy *policy, u64 now)
{
	struct rule_flow *flow =
		rule_flow_of(htbs_owed_entitled(&policy->owed, now));
	struct htbs_fair_node *node;

	if (flow && rule_can_dispatch(policy, flow, now))
		return flow;
	if (policy->rotational)
		return NULL;
	for (node = htbs_fair_first(&policy->shares); node;
	     node = htbs_fair_next(node)) {
		flow = by_share(node);
		if (rule_can_dispatch(policy, flow, now))
			return flow;
	}
	return NULL;
}

/*
 * A head that waits for too long goes first.  One backlogged flow is looked at each
 * time, in turn, so that none is forgotten.
 */
static struct rule_flow *expired(struct rule_policy *policy, u64 now)
{
	struct rule_flow *flow = list_first_entry(&policy->backlogged,
						  struct rule_flow, backlogged);

	list_rotate_left(&policy->backlogged);
	if (now - flow->arrived < EXPIRE ||
	    now - policy->expired_at <
	    2 * htbs_service_time_longest(&policy->service))
		return NULL;
	policy->expired_at = now;
	return flow;
}

/**
 * rule_choose() - which flow is dispatched from
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: the flow, or NULL: nothing is pending, held or waited for.
 */
struct rule_flow *rule_choose(struct rule_policy *policy, u64 now)
{
	struct rule_flow *flow;
	bool kept = false;

	if (policy->waits)
		rule_timeout(policy, now);
	if (policy->waits || policy->held ||
	    list_empty(&policy->backlogged))
		return NULL;
	rule_end_overload(policy, now);
	flow = expired(policy, now);
	if (!flow) {
		kept = rule_keep_active(policy, now);
		if (policy->waits)
			return NULL;
		flow = kept ? policy->active : next_flow(policy, now);
		if (!flow->background && !rule_can_dispatch(policy, flow, now)) {
			flow = next_dispatchable(policy, now);
			kept = false;
		}
	}
	policy->held = !flow;
	if (!flow)
		return NULL;
	policy->by_position = kept && rule_sweeps(policy, now);
	if (!kept) {
		policy->active = flow->background ? NULL : flow;
		policy->run = 0;
		policy->run_since = now;
	}
	if (flow->background)
		policy->background_due = now + BACKGROUND *
			htbs_service_time_longest(&policy->service);
	return flow;
}

/**
 * rule_arrive() - a request arrives
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @cost: what it is charged, bytes
 * @write: it writes
 *
 * Return: true if it was waited for.
 */
bool rule_arrive(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		 u32 cost, bool write)
{
	bool hit = policy->waits && policy->active == flow;

	policy->held = false;
	if (hit)
		policy->waits = RULE_NO_WAIT;
	if (!flow->pending && !flow->in_flight)
		rule_become_busy(policy, flow, now);
	if (!flow->pending++) {
		rule_become_backlogged(policy, flow);
		rule_set_head(policy, flow, now, cost, write);
	} else {
		rule_update_head(policy, flow);
	}
	if (!flow->background && rule_owed(flow, now))
		rule_expect_more(policy, flow, now);
	rule_shorten_wait(policy, now);
	return hit;
}

/**
 * rule_set_head() - tell the oldest pending request
 * @policy: the policy
 * @flow: its flow
 * @arrived: when it arrived, ns
 * @cost: what it is charged, bytes
 * @write: it writes
 */
void rule_set_head(struct rule_policy *policy, struct rule_flow *flow,
		   u64 arrived, u32 cost, bool write)
{
	flow->arrived = arrived;
	flow->cost = cost;
	flow->write = write;
	rule_update_head(policy, flow);
}

/**
 * rule_dispatch() - a request of the flow chosen is dispatched
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 * @arrived: when the request arrived, ns
 * @extent: where it is
 * @sent: what to keep of it
 *
 * If more are pending, rule_set_head() must follow.
 */
void rule_dispatch(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		   u64 arrived, const struct rule_extent *extent,
		   struct rule_sent *sent)
{
	bool near = flow->known && extent->pos - flow->next_pos <= SEQ_GAP;
	bool surplus = !rule_owed(flow, now) || flow->background;

	memset(sent, 0, sizeof(*sent));
	sent->at = now;
	sent->due = arrived + flow->pace.params.latency;
	sent->pace_due = htbs_pace_tag(&flow->pace) + flow->pace.params.latency;
	sent->depth = flow->in_flight + 1;
	sent->cost = extent->cost;
	sent->write = extent->write;
	sent->conforms = !flow->background &&
			 htbs_pace_start(&flow->pace, arrived,
					 extent->cost) == arrived;

	flow->history = flow->history << 1 | near;
	flow->next_pos = extent->pos + extent->sectors;
	flow->sync = extent->sync;
	flow->known = true;
	if (policy->by_position) {
		flow->sweep = flow->next_pos;
		near = true;
	}
	sent->far = !(near && policy->active == flow && policy->run);
	htbs_load_add(&sent->load, &flow->service, sent->far ? 2 : 0,
		      sent->cost);
	policy->load.mean += sent->load.mean;
	policy->load.variance += sent->load.variance;
	if (!policy->in_flight++)
		policy->busy_since = now;
	flow->in_flight++;
	if (policy->rotational && sent->conforms &&
	    policy->due_count < RULE_DEADLINES)
		policy->due[policy->due_count++] = sent->due;
	if (!policy->run && !flow->background)
		rule_account_turn(policy, flow, now);
	policy->run += policy->active == flow;

	htbs_fair_serve(&policy->shares, &flow->share);
	htbs_fair_serve(&policy->proportions, &flow->proportion);
	if (!surplus || policy->overload.now)
		htbs_pace_charge(&flow->pace, arrived, extent->cost);
	htbs_fair_charge(&policy->proportions, &flow->proportion,
			 htbs_pace_step(&flow->pace, extent->cost));
	htbs_quota_account(&policy->quota[sent->write], extent->cost, surplus,
			   now);
	if (!--flow->pending)
		rule_end_backlog(policy, flow);
}

/**
 * rule_complete() - a request is done
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @sent: what was kept of it
 */
void rule_complete(struct rule_policy *policy, struct rule_flow *flow, u64 now,
		   const struct rule_sent *sent)
{
	const struct htbs_params *params = &flow->pace.params;
	u64 took = now - policy->busy_since;
	u64 of = htbs_pace_step(&flow->pace, sent->cost);
	u64 weight = params->weight ? params->weight << 14 : htbs_params_rate(params);
	u64 need = policy->rotational ? div64_u64(took << 8, of ?: 1) : 0;
	bool was = rule_impossible(flow);

	if (sent->conforms && htbs_before(sent->at, sent->due))
		rule_judge_quotas(policy, flow, now, sent);
	htbs_service_time_learn(&policy->service, took, sent->cost, sent->far);
	htbs_service_time_learn(&flow->service, took, sent->cost, sent->far);
	htbs_fastest_learn(&flow->fastest, now, now - sent->at);
	policy->busy_since = now;
	policy->in_flight--;
	policy->load.mean -= sent->load.mean;
	policy->load.variance -= sent->load.variance;
	policy->held = false;
	if (sent->conforms)
		rule_forget_due(policy, sent->due);

	flow->in_flight--;
	flow->idle_since = now;
	flow->need = flow->need ? flow->need - flow->need / 32 + need / 32 : need;
	htbs_fair_charge(&policy->shares, &flow->share,
			 div64_u64(took << 20, weight));
	/* No reservation counts for more than the whole device. */
	if (took > of)
		htbs_fair_charge(&policy->proportions, &flow->proportion,
				 took - of);
	if (flow->pending && rule_impossible(flow) != was)
		rule_update_head(policy, flow);
	if (policy->active == flow && policy->waits == RULE_WAIT_SERVICE)
		rule_wait_for_arrival(policy, now);
}

/**
 * rule_init() - nothing is known of the device
 * @policy: the policy
 * @seek: what positioning is believed to take at most, ns
 * @t_wait: the longest wait, ns
 * @rotational: the device seeks
 */
void rule_init(struct rule_policy *policy, u64 seek, u64 t_wait, bool rotational)
{
	memset(policy, 0, sizeof(*policy));
	policy->rotational = rotational;
	policy->t_wait = t_wait;
	INIT_LIST_HEAD(&policy->backlogged);
	htbs_owed_init(&policy->owed);
	policy->expected = RB_ROOT_CACHED;
	htbs_fair_init(&policy->shares);
	htbs_fair_init(&policy->proportions);
	htbs_service_time_init(&policy->service, seek);
	htbs_quota_init(&policy->quota[false], 0);
	htbs_quota_init(&policy->quota[true], 0);
	policy->expired_at = -EXPIRE;
}

/**
 * rule_add_flow() - a reservation
 * @policy: the policy
 * @flow: what is to be known of it
 * @promise: the reservation
 * @background: it is IOPRIO_CLASS_IDLE
 * @now: real time, ns
 */
void rule_add_flow(struct rule_policy *policy, struct rule_flow *flow,
		   const struct htbs_params *promise, bool background, u64 now)
{
	memset(flow, 0, sizeof(*flow));
	htbs_pace_init(&flow->pace, promise, now);
	flow->background = background;
	flow->service = policy->service;
	INIT_LIST_HEAD(&flow->backlogged);
	htbs_owed_head_init(&flow->head);
	RB_CLEAR_NODE(&flow->expected);
	htbs_fair_node_init(&flow->share);
	htbs_fair_node_init(&flow->proportion);
	if (background)
		policy->background = flow;
}
