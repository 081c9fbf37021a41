// SPDX-License-Identifier: GPL-2.0
/*
 * What the device has in flight, and which flow may add to it, with policy=slack.
 *
 * There is a window (window.c) for writes and one for all other requests.  In a
 * flash drive they delay each other in the dies, not in the queue: many writes in
 * flight fill its buffer, which takes them as fast as the dies do, whatever else
 * waits.  With one window for both, reads would wait for writes to complete.  A
 * conforming request that was late shrinks both windows, as it is not known which
 * requests delayed it.
 */
#include <htbs/core/eligible.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/policy.h>
#include <htbs/core/slack.h>
#include <htbs/core/tree.h>
#include <htbs/core/window.h>

/**
 * htbs_policy_inflight_add() - the device has one request more
 * @policy: the policy
 * @flow: its reservation
 * @sent: the request
 * @streaming: it goes on where the one before ended
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
 * htbs_policy_inflight_remove() - the device has one request less
 * @policy: the policy
 * @flow: its reservation
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
	/* Should one have been missed, nothing waits for it for ever. */
	if (!policy->in_flight)
		policy->inflight_deadlines.count = 0;
	policy->held = false;
}

/**
 * htbs_policy_update_windows() - a conforming request is done that was in time when it began
 * @policy: the policy; the device still has it
 * @now: real time, ns
 * @sent: the request
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
 * A device that reorders may go past a conforming request that it has, as long
 * as it is given others.  Might this one be late if it got one more?  If that is
 * eligible, half a seek is believed for each: what such a device reaches first is
 * near.  In an overload deadlines are lost anyway, and it is fastest with all.
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
 * htbs_policy_can_dispatch() - may the device have a reservation's next request now
 * @policy: the policy
 * @flow: the reservation
 * @now: real time, ns
 *
 * Return: true if it may.
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

/* The first by finish tag that may be dispatched; by weights, of those entitled. */
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

/* The first by share tag that may be dispatched. */
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

/* The first by finish tag that is eligible; no window holds it back. */
static struct htbs_flow *htbs_dispatchable_eligible(struct htbs_policy *policy,
						    u64 now)
{
	struct htbs_node *node = htbs_tree_eligible(&policy->tree, now);
	struct htbs_flow *flow;

	if (!node)
		return NULL;
	/* What else might hold it back would hold back all that are. */
	flow = rb_entry(node, struct htbs_flow, node);
	return htbs_policy_can_dispatch(policy, flow, now) ? flow : NULL;
}

/**
 * htbs_policy_next_dispatchable() - the flow next in turn is held back: which one goes
 * @policy: the policy; its time is up to date
 * @now: real time, ns
 *
 * Reserved work waits for no surplus that is held back, on any device.  Else reads
 * wait for no writes that are held back, nor writes for reads.  On a disk that
 * would end runs, so there surplus waits.
 *
 * Return: the next in the order of turns that isn't held back, or NULL.
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
