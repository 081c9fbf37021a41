// SPDX-License-Identifier: GPL-2.0
/*
 * The requests in flight, and which flow may add to them, with policy=slack.
 *
 * There is a window (window.c) for writes and one for all other requests. In a
 * flash drive they delay each other in the dies, not in the queue: many writes
 * in flight fill its buffer, which takes them as fast as the dies do, whatever
 * else waits. With one window for both, reads would wait for writes to
 * complete. A conforming request that was late shrinks both windows, as it is
 * not known which requests delayed it.
 */
#include <htbs/core/eligible.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/policy.h>
#include <htbs/core/slack.h>
#include <htbs/core/tree.h>
#include <htbs/core/window.h>

/**
 * htbs_policy_inflight_add() - account a dispatched request
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 * @streaming: the request continues a run
 */
void htbs_policy_inflight_add(struct htbs_policy *policy,
			      struct htbs_flow *flow,
			      const struct htbs_sent *sent, bool streaming)
{
	policy->busy += !htbs_flow_busy(flow);
	if (!policy->in_flight++)
		htbs_service_begin(&policy->service, sent->at, streaming);
	flow->in_flight++;
	policy->writes += sent->write;
	if (policy->rotational && sent->conforms)
		htbs_deadlines_add(&policy->inflight_deadlines, sent->due);
}

/**
 * htbs_policy_inflight_remove() - account a request that is no longer in flight
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 */
void htbs_policy_inflight_remove(struct htbs_policy *policy,
				 struct htbs_flow *flow,
				 const struct htbs_sent *sent)
{
	flow->in_flight--;
	policy->busy -= !htbs_flow_busy(flow);
	policy->in_flight--;
	policy->writes -= sent->write;
	if (policy->rotational && sent->conforms)
		htbs_deadlines_remove(&policy->inflight_deadlines, sent->due);
	/* An idle device has none, even if a removal was missed. */
	if (!policy->in_flight)
		policy->inflight_deadlines.count = 0;
	policy->held = false;
}

/**
 * htbs_policy_update_windows() - adapt the windows to a completed request
 * @policy: the policy; the request still counts as in flight
 * @now: real time, ns
 * @sent: a conforming request that was not late yet when it was dispatched
 */
void htbs_policy_update_windows(struct htbs_policy *policy, u64 now,
				const struct htbs_sent *sent)
{
	unsigned int write;

	for (write = false; write <= true; write++)
		htbs_window_update(&policy->window[write],
				   htbs_policy_in_flight(policy, write),
				   now - sent->at, sent->due - sent->at);
}

/*
 * A device that reorders may pass a conforming request for as long as it is
 * given others. Tell whether one more request could make a conforming one late.
 * An eligible request is taken for a near one, which such a device reaches
 * first, and counts half a seek. In an overload deadlines are lost anyway, and
 * the device is fastest with all requests.
 */
static bool htbs_policy_risks_deadline(const struct htbs_policy *policy,
				       bool eligible, u64 now)
{
	u64 worst = (policy->in_flight + 1) * policy->service.seek;

	if (eligible && htbs_policy_overloaded(policy))
		return false;
	if (eligible)
		worst = (worst + policy->service.seek) / 2;
	return htbs_deadlines_before(&policy->inflight_deadlines, now + worst);
}

/**
 * htbs_policy_can_dispatch() - whether a flow's next request may be dispatched
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Return: true if it may, false if it is held back.
 */
bool htbs_policy_can_dispatch(struct htbs_policy *policy,
			      const struct htbs_flow *flow, u64 now)
{
	bool eligible = htbs_policy_eligible(policy, flow, now);
	bool write = flow->node.write;

	if (policy->rule == HTBS_RULE_PAPER)
		return true;
	if (htbs_policy_risks_deadline(policy, eligible, now))
		return false;
	return eligible ||
	       htbs_window_open(&policy->window[write],
				htbs_policy_in_flight(policy, write), now);
}

/*
 * The first flow by finish tag that is not held back; with weights, nor early.
 */
static struct htbs_flow *htbs_dispatchable_by_tag(struct htbs_policy *policy,
						  u64 now)
{
	struct htbs_node *node = htbs_tree_first(&policy->tree);
	struct htbs_flow *flow;
	unsigned int heads;

	for (heads = 0; node && heads < HTBS_SLACK_HEADS; heads++) {
		flow = rb_entry(node, struct htbs_flow, node);
		if (!htbs_policy_is_early(policy, flow) &&
		    htbs_policy_can_dispatch(policy, flow, now))
			return flow;
		node = htbs_tree_next(node);
	}
	return NULL;
}

/* The first flow by share tag that is not held back. */
static struct htbs_flow *htbs_dispatchable_by_share(struct htbs_policy *policy,
						    u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->shares.root);
	struct htbs_flow *flow;
	unsigned int heads;

	for (heads = 0; rb && heads < HTBS_SLACK_HEADS; heads++) {
		flow = rb_entry(rb, struct htbs_flow, share.rb);
		if (htbs_policy_can_dispatch(policy, flow, now))
			return flow;
		rb = rb_next(rb);
	}
	return NULL;
}

/*
 * The first flow by finish tag with an eligible head, which no window limits.
 */
static struct htbs_flow *htbs_dispatchable_eligible(struct htbs_policy *policy,
						    u64 now)
{
	struct htbs_node *node = htbs_tree_eligible(&policy->tree, now);
	struct htbs_flow *flow;

	if (!node)
		return NULL;
	/* A deadline in flight holds all eligible heads back, or none. */
	flow = rb_entry(node, struct htbs_flow, node);
	return htbs_policy_can_dispatch(policy, flow, now) ? flow : NULL;
}

/**
 * htbs_policy_next_dispatchable() - find a flow to go instead of a held one
 * @policy: the policy; its time is up to date
 * @now: real time, ns
 *
 * Reserved work does not wait for surplus that is held back, on any device. Nor
 * do reads wait for writes that are held back, or writes for reads, unless the
 * device is rotational: there that would end runs.
 *
 * Return: the next flow in turn that is not held back, or NULL.
 */
struct htbs_flow *htbs_policy_next_dispatchable(struct htbs_policy *policy,
						u64 now)
{
	struct htbs_flow *flow = htbs_dispatchable_eligible(policy, now);

	if (flow || policy->rotational)
		return flow;

	flow = htbs_dispatchable_by_tag(policy, now);
	if (!flow && htbs_policy_weighted(policy))
		flow = htbs_dispatchable_by_share(policy, now);
	return flow;
}
