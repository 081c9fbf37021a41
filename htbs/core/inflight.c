// SPDX-License-Identifier: GPL-2.0
/*
 * The requests in flight, and whether a device that seeks may get one more.
 *
 * A device that orders its requests by itself may pass over a request for as long as it gets
 * others. So each request in flight has a deadline, owed or surplus, as if it were still pending. A
 * request is not dispatched if it could make a request in flight late, unless it is owed and has an
 * earlier deadline. Nor is it dispatched if a conforming request that is expected would be late
 * behind it if that request arrived now.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/deadlines.h>
#include <htbs/core/depth.h>
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/policy.h>
#include <htbs/core/stall.h>

/*
 * Return how long the device takes for its requests in flight and the head of a flow, whichever is
 * the last.
 */
static struct htbs_load htbs_load_to_last(const struct htbs_policy *policy,
					  const struct htbs_flow *flow)
{
	struct htbs_load load = htbs_policy_load_with(policy, flow, 1);

	if (policy->in_flight)
		htbs_depth_add(&policy->depth, policy->in_flight + 1,
			       policy->service.position, &load);
	return load;
}

/*
 * Return how long the device takes for a load of @requests requests in the worst case. It may stall
 * meanwhile (stall.c). No request is assumed to take longer than the longest one recently. That
 * bounds the margin of few requests, no matter how many were late before. A stall that is no
 * shorter than @latency does not count: it makes a request late whatever else the device has.
 */
static u64 htbs_longest(const struct htbs_policy *policy, const struct htbs_load *load,
			u32 requests, u64 latency)
{
	u64 margin = htbs_load_margin(load->variance, policy->margin);
	u64 most = requests * policy->stall.longest;
	u64 stall = htbs_stall_time(&policy->stall);

	if (htbs_service_time_known(&policy->service) && load->mean + margin > most)
		margin = most > load->mean ? most - load->mean : 0;
	return load->mean + (margin < stall && stall < latency ? stall : margin);
}

/*
 * Return true if the head of @flow could make a request in flight late. @time is how long the
 * device takes for its requests in flight and the head in the worst case. If a request has not
 * completed by @time and HTBS_HORIZON after its deadline, it may never complete. No other request
 * waits for it.
 */
static bool htbs_risks_deadline(const struct htbs_policy *policy,
				const struct htbs_flow *flow, u64 now, u64 time)
{
	u64 until = now + time, deadline;

	if (htbs_flow_owed(flow, now)) {
		if (policy->overload.now)
			return false;
		/* The head does not wait for requests in flight that have more time. */
		deadline = htbs_flow_deadline(flow);
		until = htbs_before(deadline, until) ? deadline : until;
	}
	return htbs_deadlines_between(&policy->deadlines, now - time - HTBS_HORIZON, until);
}

/*
 * A flow that had a conforming request recently may submit the next one at any time. Return true if
 * that request would still be in time behind the requests in flight and the head of @flow.
 */
static bool htbs_leaves_room(struct htbs_policy *policy, const struct htbs_flow *flow,
			     u64 now, struct htbs_load load)
{
	u64 time = htbs_longest(policy, &load, policy->in_flight + 1, htbs_flow_latency(flow));
	u64 start = htbs_flow_start(flow), latency;
	const struct htbs_flow *other;

	/*
	 * An entitled head that has no more time itself need not leave room. The background has no
	 * deadline before it expires.
	 */
	if (!policy->in_flight ||
	    (!flow->background && !htbs_before(now, start) &&
	     !htbs_before(now, htbs_flow_deadline_of(flow, flow->head.arrived, start) - time)))
		return true;
	other = htbs_policy_expected(policy, flow, now);
	if (!other)
		return true;
	htbs_load_add(&load, &other->service, 1, other->head.cost);
	latency = htbs_flow_latency(other);
	return latency >= htbs_longest(policy, &load, policy->in_flight + 2, latency);
}

/**
 * htbs_policy_has_room() - whether a device that seeks has room for the head of a flow
 * @policy: the policy
 * @flow: the flow
 * @now: real time, ns
 *
 * Not inlined, so that a fast device that does not seek pays for no more than a test.
 *
 * Return: true if the head makes no request late that is in flight or expected.
 */
noinline bool htbs_policy_has_room(struct htbs_policy *policy,
				   const struct htbs_flow *flow, u64 now)
{
	struct htbs_load load = htbs_load_to_last(policy, flow);
	u64 time = htbs_longest(policy, &load, policy->in_flight + 1, ~0ULL);

	return !htbs_risks_deadline(policy, flow, now, time) &&
	       htbs_leaves_room(policy, flow, now, load);
}

static void htbs_update_load(struct htbs_policy *policy, struct htbs_flow *flow)
{
	policy->load.mean -= flow->load.mean;
	policy->load.variance -= flow->load.variance;
	htbs_flow_update_load(flow);
	policy->load.mean += flow->load.mean;
	policy->load.variance += flow->load.variance;
}

/**
 * htbs_policy_inflight_add() - the device gets a request
 * @policy: the policy
 * @flow: its flow, busy
 * @sent: the request
 * @deadline: until when the device has to complete it, real ns; this is later than when it is due
 *	only if the flow is relaxed
 */
__always_inline void
htbs_policy_inflight_add(struct htbs_policy *policy, struct htbs_flow *flow,
			 const struct htbs_sent *sent, u64 deadline)
{
	flow->in_flight++;
	flow->pool->in_flight++;
	if (sent->flags & HTBS_SENT_PACED) {
		htbs_paced_add(&flow->paced, sent->cost);
		htbs_paced_add(&flow->pool->paced, sent->cost);
		flow->conforming += !!(sent->flags & HTBS_SENT_CONFORMS);
	}
	if (!policy->in_flight++)
		policy->busy_since = sent->at;
	policy->writes += !!(sent->flags & HTBS_SENT_WRITE);
	if (!policy->rotational)
		return;
	htbs_claim_add(&policy->claim, sent, policy->writes || policy->in_flight > 4);
	flow->far += !!(sent->flags & HTBS_SENT_FAR);
	flow->bytes += sent->cost;
	htbs_update_load(policy, flow);
	/*
	 * A request that is dispatched long after its deadline must not count as one that may never
	 * complete before the device had time for it.
	 */
	deadline = htbs_later(deadline, sent->at - HTBS_HORIZON);
	htbs_deadlines_add(&policy->deadlines, deadline, sent->due);
}

/**
 * htbs_policy_note_idle() - a flow has one request less, and may be idle now
 * @policy: the policy
 * @flow: the flow
 */
void htbs_policy_note_idle(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (htbs_flow_busy(flow))
		return;
	policy->busy--;
	flow->pool->busy--;
}

/**
 * htbs_policy_inflight_remove() - the device no longer has a request
 * @policy: the policy
 * @flow: its flow
 * @sent: the request
 *
 * A request that was held back may be dispatched now.
 */
__always_inline void
htbs_policy_inflight_remove(struct htbs_policy *policy, struct htbs_flow *flow,
			    const struct htbs_sent *sent)
{
	policy->held = false;
	flow->in_flight--;
	flow->pool->in_flight--;
	if (sent->flags & HTBS_SENT_PACED) {
		htbs_paced_sub(&flow->paced, sent->cost);
		htbs_paced_sub(&flow->pool->paced, sent->cost);
		flow->conforming -= !!(sent->flags & HTBS_SENT_CONFORMS);
	}
	policy->in_flight--;
	policy->writes -= !!(sent->flags & HTBS_SENT_WRITE);
	htbs_policy_note_idle(policy, flow);
	if (!policy->rotational)
		return;
	policy->claim.besides -= !!(sent->flags & HTBS_SENT_BESIDE);
	flow->far -= !!(sent->flags & HTBS_SENT_FAR);
	flow->bytes -= sent->cost;
	htbs_update_load(policy, flow);
	htbs_deadlines_remove(&policy->deadlines, sent->due);
}
