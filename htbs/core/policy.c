// SPDX-License-Identifier: GPL-2.0
/*
 * The policy of the paper: earliest deadline first over arrival curves
 * (pClock), in runs and with anticipation (BFQ). It is fed with time and events
 * and holds no requests.
 *
 * One flow is active: the device is granted to it. It stays active until
 *
 *  - B_max requests of it were dispatched in a row,
 *  - T_wait has passed since its last request completed, without a new one, or
 *  - its pattern is not sequential,
 *
 * and then the flow with the smallest finish tag becomes active. While the
 * active flow has nothing pending but is expected to (a synchronous sequential
 * reader thinks between two requests), the device is idled for it rather than
 * sent away and back. B_max 1 and T_wait 0 make this pClock.
 *
 * That is the paper's rule. run.c has the rule of slack, which bounds runs and
 * waits by deadlines; inflight.c holds requests back; tagging.c gives tags.
 * Once a flow has a weight, surplus is shared by weight: share.c.
 *
 * The background has no curve. It is served when nothing else is pending, and
 * has a small part of the device's time. For this, and for why no request is
 * pending for ever, see eligible.c.
 *
 * The caller keeps the requests of each flow in order of arrival, which is also
 * the order of their tags. So it only calls htbs_policy_set_head() with the
 * tags of the oldest request whenever that has changed. With the rule of slack
 * the oldest request is not always the first to go: sweep.c.
 */
#include <linux/string.h>

#include <htbs/core/backlog.h>
#include <htbs/core/cap.h>
#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/device_share.h>
#include <htbs/core/eligible.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/share.h>
#include <htbs/core/slack.h>
#include <htbs/core/sweep.h>
#include <htbs/core/tagging.h>
#include <htbs/core/tree.h>
#include <htbs/core/window.h>

/**
 * htbs_policy_init() - start with no flow backlogged and none active
 * @policy: the policy
 * @background: the flow of IOPRIO_CLASS_IDLE; the caller initialises it next,
 *	like any flow
 * @b_max: longest run, requests; at least 1
 * @t_wait: longest wait, ns; 0: never wait
 */
void htbs_policy_init(struct htbs_policy *policy, struct htbs_flow *background,
		      u32 b_max, u64 t_wait)
{
	memset(policy, 0, sizeof(*policy));
	htbs_tree_init(&policy->tree);
	policy->background = background;
	policy->b_max = b_max;
	policy->t_wait = t_wait;
	htbs_window_init(&policy->window[false]);
	htbs_window_init(&policy->window[true]);
}

/**
 * htbs_policy_arrive() - a request arrives: the paper's add_request()
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 * @in: the request
 * @arrival: how it is tagged
 *
 * The caller puts the request at the end of the flow's queue and stores its
 * start tags.
 */
void htbs_policy_arrive(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 now, const struct htbs_incoming *in,
			struct htbs_arrival *arrival)
{
	struct htbs_head head = {
		.arrived	= in->arrived,
		.write		= in->write,
	};
	struct htbs_start_tags tags;

	policy->held = false;
	arrival->hit = false;
	arrival->wait_shortened = false;
	if (policy->active == flow && policy->wait != HTBS_WAIT_NONE) {
		policy->wait = HTBS_WAIT_NONE;
		arrival->hit = true;
	}
	htbs_flow_note_arrival(flow, now, policy->t_wait);

	arrival->jump = htbs_policy_advance_clock(policy, now);
	arrival->v = htbs_clock_read(&policy->clock, now);
	arrival->conforming = false;
	arrival->due = 0;
	policy->busy += !htbs_flow_busy(flow);
	policy->pending++;
	if (flow == policy->background) {
		arrival->start = arrival->v;
		arrival->kept.bytes = arrival->v;
		arrival->kept.ops = arrival->v;
		if (!flow->pending++) {
			htbs_policy_defer_background(policy, now);
			htbs_policy_set_head(policy, flow, &head);
		}
		return;
	}
	arrival->start = htbs_flow_arrive(policy, flow, policy->v, in->cost,
					  &tags);
	htbs_flow_store_tags(flow, &tags, &arrival->kept);
	arrival->conforming = !htbs_before(arrival->v, arrival->start);
	arrival->due = htbs_policy_due(policy, flow, now, arrival->start);
	if (arrival->conforming) {
		htbs_window_hold(&policy->window[false], now);
		htbs_window_hold(&policy->window[true], now);
	}
	flow->cost = in->cost;
	flow->conforming += arrival->conforming;
	if (flow->pending++) {
		flow->node.count = htbs_flow_burst(flow);
		if (arrival->conforming)
			htbs_policy_update_eligible(flow);
	} else {
		flow->share.head_refunded = false;
		htbs_device_share_wake(flow, policy->v);
		flow->cap.throttled = htbs_cap_throttles(policy, flow, now);
		head.kept = arrival->kept;
		head.due = arrival->due;
		head.conforms = arrival->conforming;
		htbs_policy_set_head(policy, flow, &head);
	}
	arrival->wait_shortened = htbs_policy_limit_wait(policy);
}

/**
 * htbs_policy_set_head() - set the tags of a flow's oldest request
 * @policy: the policy
 * @flow: a flow with requests pending
 * @head: the oldest of them
 */
void htbs_policy_set_head(struct htbs_policy *policy, struct htbs_flow *flow,
			  const struct htbs_head *head)
{
	u64 start = htbs_flow_start_tag(flow, &head->kept), finish;

	flow->node.write = head->write;
	flow->node.arrived = htbs_flow_waits_since(flow, head->arrived);
	if (flow == policy->background)
		return;
	htbs_flow_set_oldest(flow, &head->kept);
	flow->share.head_refunded &= start == flow->share.refund_time;
	start = htbs_device_share_start(flow, policy->v, start);
	finish = start + flow->curve.params.latency;
	flow->node.due = htbs_flow_due(flow, head->due);
	flow->node.conforms = head->conforms;
	flow->node.count = htbs_flow_burst(flow);
	htbs_policy_update_eligible(flow);
	if (htbs_flow_linked(flow) && flow->node.start == start &&
	    flow->node.finish == finish)
		return;

	htbs_policy_unlink(policy, flow);
	flow->node.start = start;
	flow->node.finish = finish;
	htbs_policy_link(policy, flow);
}

/* The flow that is next in turn, the background included. */
static struct htbs_flow *htbs_policy_first(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *background = policy->background;

	if (background->pending &&
	    (htbs_tree_empty(&policy->tree) ||
	     htbs_policy_eligible(policy, background, now)))
		return background;
	return htbs_policy_next_flow(policy);
}

/* Make a flow active, or none if the background has the device. */
static bool htbs_policy_set_active(struct htbs_policy *policy,
				   struct htbs_flow *flow, u64 now)
{
	bool switched;

	policy->shares.turn = htbs_policy_is_surplus(policy, flow);
	if (flow == policy->background) {
		htbs_policy_defer_background(policy, now);
		flow = NULL;
	}
	switched = flow != policy->active;
	policy->active = flow;
	policy->run = 0;
	policy->run_since = now;
	htbs_policy_update_crowded(policy, now);
	return switched;
}

/**
 * htbs_policy_choose() - what to dispatch: the paper's dispatch_request()
 * @policy: the policy
 * @now: real time, ns
 * @choice: the decision
 *
 * Call htbs_policy_unthrottle() before: a throttled flow is not chosen.
 *
 * If no flow is chosen, either nothing is pending, or the request is held back,
 * or the device is idled as policy->wait says, until policy->wait_until.
 */
void htbs_policy_choose(struct htbs_policy *policy, u64 now,
			struct htbs_choice *choice)
{
	struct htbs_flow *next;
	bool stays = false;

	memset(choice, 0, sizeof(*choice));
	choice->timed_out = htbs_policy_timeout(policy, now);
	if (!htbs_policy_has_work(policy))
		return;

	if (policy->overload.now && htbs_policy_in_time(policy, now))
		choice->overload_ended = htbs_overload_end(&policy->overload);
	choice->jump = htbs_policy_advance_clock(policy, now);
	next = htbs_policy_expired(policy, now);
	if (!next) {
		stays = htbs_policy_keep_active(policy, now);
		choice->wait_began = policy->wait != HTBS_WAIT_NONE;
		if (choice->wait_began)
			return;
		next = stays ? policy->active : htbs_policy_first(policy, now);
		if (!htbs_policy_can_dispatch(policy, next, now)) {
			next = htbs_policy_next_dispatchable(policy, now);
			stays = false;
		}
	}
	policy->held = !next;
	choice->held = policy->held;
	if (choice->held)
		return;

	choice->flow = next;
	choice->order = stays && htbs_policy_sweeps(policy, now) ?
			HTBS_ORDER_NEAREST : HTBS_ORDER_OLDEST;
	policy->order = choice->order;
	if (!stays)
		choice->switched = htbs_policy_set_active(policy, next, now);
}

/**
 * htbs_policy_dispatch() - a request of a flow is dispatched
 * @policy: the policy
 * @flow: the flow, as chosen
 * @extent: the request, as chosen
 * @sent: the same request; for sent->due see htbs_flow_due()
 *
 * If more requests are pending, htbs_policy_set_head() must follow.
 *
 * Return: true if an overload began.
 */
bool htbs_policy_dispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			  const struct htbs_extent *extent,
			  const struct htbs_sent *sent)
{
	bool turn = flow != policy->background && !policy->run;
	bool near = htbs_flow_note_dispatch(flow, extent);
	bool overload = false;

	if (policy->order == HTBS_ORDER_NEAREST) {
		flow->sweep = flow->next_pos;
		near = true;
	}
	htbs_policy_inflight_add(policy, flow, sent,
				 near && policy->active == flow && policy->run);
	if (policy->active == flow)
		policy->run++;
	if (turn)
		overload = htbs_policy_account_lateness(policy, flow, sent);
	htbs_policy_remove(policy, flow, sent->conforms);
	if (flow != policy->background)
		htbs_flow_advance_pace(flow, sent->at, extent->cost);
	htbs_policy_charge_surplus(policy, flow, extent->cost);
	htbs_cap_charge(policy, flow, sent->at, extent->cost);
	return overload;
}

/**
 * htbs_policy_remove() - a request leaves the pending ones of its flow
 * @policy: the policy
 * @flow: the flow
 * @conforming: one less of the conforming requests is pending
 *
 * The request was dispatched or merged into another. If more requests are
 * pending, htbs_policy_set_head() must follow.
 */
void htbs_policy_remove(struct htbs_policy *policy, struct htbs_flow *flow,
			bool conforming)
{
	policy->pending--;
	flow->pending--;
	flow->conforming -= conforming;
	policy->busy -= !htbs_flow_busy(flow);
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
bool htbs_policy_complete(struct htbs_policy *policy, struct htbs_flow *flow,
			  u64 now, const struct htbs_sent *sent)
{
	if (sent->conforms && htbs_before(sent->at, sent->due))
		htbs_policy_update_windows(policy, now, sent);
	htbs_policy_inflight_remove(policy, flow, sent);
	htbs_device_share_charge(policy, flow,
				 htbs_service_end(&policy->service, now));
	flow->idle_since = now;
	htbs_policy_extend_turn(policy, flow, now);
	if (policy->active != flow || policy->wait != HTBS_WAIT_SERVICE)
		return false;

	htbs_policy_begin_wait(policy, flow);
	return true;
}

/**
 * htbs_policy_requeue() - the driver gave a dispatched request back
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 *
 * The request may come back or may bypass the scheduler, so no wait goes on for
 * it.
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
 * htbs_policy_redispatch() - a request is dispatched that bypasses the policy
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 *
 * The request was requeued or inserted at the head, or was exempt from a cap.
 */
void htbs_policy_redispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			    const struct htbs_sent *sent)
{
	htbs_policy_inflight_add(policy, flow, sent, false);
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

	htbs_policy_set_weight(policy, flow, 0);
	if (policy->active != flow)
		return false;

	/*
	 * A held request belongs to another flow: the next completion releases
	 * it.
	 */
	waited = policy->wait != HTBS_WAIT_NONE;
	policy->wait = HTBS_WAIT_NONE;
	policy->active = NULL;
	return waited;
}
