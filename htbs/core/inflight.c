// SPDX-License-Identifier: GPL-2.0
/*
 * What a device that orders by itself may have in flight.
 *
 * A device that seeks may pass a request for as long as it gets others. So each
 * request in flight has a deadline, whether it was owed or surplus, as if it were still
 * pending. No request is added that could make one of them late, but one that is owed
 * and has an earlier deadline; nor one behind which a conforming request of a flow that
 * had one of late would be late, if it arrived now.
 *
 * The writes of surplus have a quota: what a drive has in its buffer it owes to the
 * medium, and estimates show little of that before a read waits for it. On a device that does not
 * seek the reads of surplus have a window. Reserved work is limited by neither.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/depth.h>
#include <htbs/core/flow.h>
#include <htbs/core/inflight.h>
#include <htbs/core/policy.h>
#include <htbs/core/quota.h>
#include <htbs/core/tree.h>

/* What the device takes for the requests that it has and the head of a flow. */
static struct htbs_load htbs_load_to_last(const struct htbs_policy *policy,
					  const struct htbs_flow *flow)
{
	struct htbs_load load = htbs_policy_load_with(policy, flow, 2);

	if (policy->in_flight)
		htbs_depth_add(&policy->depth, policy->in_flight + 1,
			       policy->service.position, &load);
	return load;
}

static bool htbs_risks_deadline(const struct htbs_policy *policy,
				const struct htbs_flow *flow, u64 now)
{
	struct htbs_load load = htbs_load_to_last(policy, flow);
	u64 until = now + htbs_load_longest(&load, policy->margin), deadline;
	u32 i;

	if (htbs_flow_owed(flow, now)) {
		if (policy->overload.now)
			return false;
		/* A request in flight that has more time is none to wait for. */
		deadline = htbs_flow_deadline(flow, htbs_flow_start(flow));
		until = htbs_before(deadline, until) ? deadline : until;
	}
	for (i = 0; i < policy->deadline_count; i++)
		if (htbs_before(policy->deadlines[i].at, until))
			return true;
	return policy->later && htbs_before(policy->later_at, until);
}

static bool htbs_less_latency(struct rb_node *a, const struct rb_node *b)
{
	return htbs_flow_latency(rb_entry(a, struct htbs_flow, expected)) <
	       htbs_flow_latency(rb_entry(b, struct htbs_flow, expected));
}

/*
 * For how long another conforming request is expected after one: for twice as long as it took
 * until the next one arrived, at most, of late. Of flows that share a reservation no longer than
 * at first.
 */
static u64 htbs_expect_for(const struct htbs_flow *flow, u64 now)
{
	u64 since = flow->expected_until - flow->expect_for, most = 2 * (now - since);

	if (!flow->expect_for || flow->pool != &flow->own)
		return HTBS_HORIZON;
	if (most < flow->expect_for)
		return flow->expect_for - (flow->expect_for - HTBS_HORIZON) / HTBS_FADE;
	return most < HTBS_EXPECT_MOST ? most : HTBS_EXPECT_MOST;
}

/**
 * htbs_policy_expect_more() - a conforming request has arrived: others may
 * @policy: the policy
 * @flow: its flow
 * @now: real time, ns
 */
void htbs_policy_expect_more(struct htbs_policy *policy, struct htbs_flow *flow,
			     u64 now)
{
	flow->expect_for = htbs_expect_for(flow, now);
	flow->expected_until = now + flow->expect_for;
	if (RB_EMPTY_NODE(&flow->expected))
		rb_add_cached(&flow->expected, &policy->expected,
			      htbs_less_latency);
}

/**
 * htbs_policy_expect_none() - no conforming request of a flow is expected any more
 * @policy: the policy
 * @flow: the flow
 */
void htbs_policy_expect_none(struct htbs_policy *policy, struct htbs_flow *flow)
{
	if (RB_EMPTY_NODE(&flow->expected))
		return;
	rb_erase_cached(&flow->expected, &policy->expected);
	RB_CLEAR_NODE(&flow->expected);
}

/**
 * htbs_policy_expected() - of which flow a conforming request is expected
 * @policy: the policy
 * @except: a flow that is left out, or NULL
 * @now: real time, ns
 *
 * Return: the flow with the shortest latency of these, or NULL.
 */
struct htbs_flow *htbs_policy_expected(struct htbs_policy *policy,
				       const struct htbs_flow *except, u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected);
	struct htbs_flow *flow;

	while (rb) {
		flow = rb_entry(rb, struct htbs_flow, expected);
		if (htbs_before(now, flow->expected_until) && flow != except)
			return flow;
		rb = rb_next(rb);
		if (!htbs_before(now, flow->expected_until))
			htbs_policy_expect_none(policy, flow);
	}
	return NULL;
}

/* Whether conforming requests of another flow are expected: most often there is none. */
static bool htbs_others_expected(struct htbs_policy *policy,
				 const struct htbs_flow *flow, u64 now)
{
	return !htbs_tree_holds_only(&policy->expected.rb_root, &flow->expected) &&
	       htbs_policy_expected(policy, flow, now);
}

/*
 * A device with nothing in flight may have any request, unless it destages and what is owed
 * can wait.
 */
static bool htbs_is_idle(struct htbs_policy *policy, u64 destages, u64 now)
{
	return !policy->in_flight && (!destages || !htbs_policy_has_slack(policy, now));
}

/* For how long the device destages the head of a flow, besides what it takes to complete it. */
static u64 htbs_destages_more(const struct htbs_policy *policy, const struct htbs_flow *flow)
{
	u64 cost = htbs_destage_cost(&policy->destage, 0), takes = flow->service.position;

	return flow->head.write && cost > takes ? cost - takes : 0;
}

/*
 * A conforming request may arrive at any time, of a flow that had one of late. Is
 * it in time, behind all that the device has and this one, and, if it is a read, behind what
 * the device destages?
 */
static bool htbs_leaves_room(struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 now)
{
	struct htbs_load load = htbs_load_to_last(policy, flow);
	u64 destages = htbs_destage_time(&policy->destage, now);
	u64 time = htbs_load_longest(&load, policy->margin);
	u64 start = htbs_flow_start(flow);
	const struct htbs_flow *other;

	/* Its own deadline is as near. */
	if (htbs_is_idle(policy, destages, now) ||
	    (!htbs_before(now, start) &&
	     !htbs_before(now, htbs_flow_deadline(flow, start) - time)))
		return true;
	other = htbs_policy_expected(policy, flow, now);
	if (!other)
		return true;
	htbs_load_add(&load, &other->service, 2, other->head.cost);
	time = htbs_load_longest(&load, policy->margin);
	if (!other->head.write)
		time += destages + htbs_destages_more(policy, flow);
	return htbs_flow_latency(other) >= time;
}

/* Not inlined: a device that does not seek, and is fast, pays for no more than a test. */
static noinline bool htbs_disk_has_room(struct htbs_policy *policy,
					const struct htbs_flow *flow, u64 now)
{
	return !htbs_risks_deadline(policy, flow, now) &&
	       htbs_leaves_room(policy, flow, now);
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
 * Whether the head of a flow may go as surplus. That is limited for others: what a flow
 * itself has reserved does not limit it.
 */
static noinline bool htbs_within_limits(struct htbs_policy *policy,
					const struct htbs_flow *flow, u64 now)
{
	return flow->head.write ? htbs_quota_allows(&policy->quota, now) :
	       policy->rotational || htbs_window_open(policy);
}

/**
 * htbs_policy_limits_allow() - whether no limit of surplus is in the way of a flow's head
 * @policy: the policy
 * @flow: the flow; not the background
 * @now: real time, ns
 *
 * Surplus is limited while conforming requests of other flows are expected. A device that
 * does not seek may have whatever the limits allow.
 *
 * Return: true if none is.
 */
__always_inline bool
htbs_policy_limits_allow(struct htbs_policy *policy, const struct htbs_flow *flow,
			 u64 now)
{
	return !htbs_others_expected(policy, flow, now) ||
	       htbs_flow_owed(flow, now) || htbs_within_limits(policy, flow, now);
}

/**
 * htbs_policy_can_dispatch() - whether the device may have the head of a flow
 * @policy: the policy
 * @flow: the flow; not the background
 * @now: real time, ns
 *
 * Return: true if it may.
 */
bool htbs_policy_can_dispatch(struct htbs_policy *policy,
			      struct htbs_flow *flow, u64 now)
{
	if (policy->rotational && !htbs_disk_has_room(policy, flow, now))
		return false;
	return htbs_policy_limits_allow(policy, flow, now);
}

static void htbs_update_load(struct htbs_policy *policy, struct htbs_flow *flow)
{
	policy->load.mean -= flow->load.mean;
	policy->load.variance -= flow->load.variance;
	htbs_flow_update_load(flow);
	policy->load.mean += flow->load.mean;
	policy->load.variance += flow->load.variance;
}

/*
 * Of more deadlines than there is room for the earliest ones are kept. Of the others it is
 * known how many they are and that none is before a moment: once that is near the device is
 * drained of them.
 */
static void htbs_note_deadline(struct htbs_policy *policy, u64 at, u64 due)
{
	struct htbs_deadline deadline = { at, due }, *of = policy->deadlines, *latest = of;
	u32 i;

	if (policy->deadline_count < HTBS_DEADLINES_MAX) {
		of[policy->deadline_count++] = deadline;
		return;
	}
	for (i = 1; i < HTBS_DEADLINES_MAX; i++)
		if (htbs_before(latest->at, of[i].at))
			latest = &of[i];
	if (htbs_before(at, latest->at)) {
		deadline = *latest;
		*latest = (struct htbs_deadline){ at, due };
	}
	if (!policy->later++ || htbs_before(deadline.at, policy->later_at))
		policy->later_at = deadline.at;
}

/**
 * htbs_policy_inflight_add() - the device gets a request
 * @policy: the policy
 * @flow: its flow, busy
 * @sent: the request
 * @deadline: until when the device has to complete it, real ns; not after it is due
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
	}
	if (!policy->in_flight++)
		policy->busy_since = sent->at;
	policy->writes += !!(sent->flags & HTBS_SENT_WRITE);
	if (!policy->rotational)
		return;
	flow->far += !!(sent->flags & HTBS_SENT_FAR);
	flow->bytes += sent->cost;
	htbs_update_load(policy, flow);
	htbs_note_deadline(policy, deadline, sent->due);
}

static void htbs_forget_deadline(struct htbs_policy *policy, u64 due)
{
	u32 i;

	for (i = 0; i < policy->deadline_count; i++)
		if (policy->deadlines[i].due == due) {
			policy->deadlines[i] = policy->deadlines[--policy->deadline_count];
			return;
		}
	policy->later--;
}

/**
 * htbs_policy_note_idle() - a flow has one request less
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
 * What was held back may be dispatched now.
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
	}
	policy->in_flight--;
	policy->writes -= !!(sent->flags & HTBS_SENT_WRITE);
	htbs_policy_note_idle(policy, flow);
	if (!policy->rotational)
		return;
	flow->far -= !!(sent->flags & HTBS_SENT_FAR);
	flow->bytes -= sent->cost;
	htbs_update_load(policy, flow);
	htbs_forget_deadline(policy, sent->due);
}

/*
 * How far surplus keeps a flow behind its pace, ns. What it was owed and has in flight it
 * has not had yet. Not at all if it asks for too few requests at a time to reach its
 * bandwidth on an idle device.
 */
static u64 htbs_held_up(const struct htbs_flow *flow, u64 now)
{
	const struct htbs_pool *pool = flow->pool;
	u64 ahead = htbs_pace_span(&pool->pace, &pool->paced);
	u64 tag = htbs_pace_tag(&pool->pace) - ahead;

	if (!htbs_before(tag, now) || htbs_fastest_time(&flow->fastest) >= ahead)
		return 0;
	return now - tag;
}

/* Whether no flow with a shorter latency is expected. */
static bool htbs_is_tightest(struct htbs_policy *policy,
			     const struct htbs_flow *flow, u64 now)
{
	const struct htbs_flow *first;

	if (htbs_tree_holds_only(&policy->expected.rb_root, &flow->expected))
		return true;
	first = htbs_policy_expected(policy, NULL, now);
	return !first || htbs_flow_latency(first) >= htbs_flow_latency(flow);
}

/* How far a flow is behind its pace is asked once in a latency. */
static bool htbs_pace_is_due(const struct htbs_policy *policy, const struct htbs_flow *flow,
			     u64 now)
{
	return !policy->rotational && now - flow->pool->judged >= htbs_flow_latency(flow);
}

/* Whether a flow is behind its pace by more than a latency. */
static bool htbs_falls_behind(const struct htbs_policy *policy, struct htbs_flow *flow,
			      u64 now)
{
	if (!htbs_pace_is_due(policy, flow, now))
		return false;
	flow->pool->judged = now;
	return htbs_held_up(flow, now) > htbs_flow_latency(flow);
}

/* Whether a limit was in the way of surplus, since this was asked last. */
static bool htbs_surplus_was_held(const struct htbs_policy *policy)
{
	return policy->window.full || policy->quota.limit.full;
}

/* Whether a request in time raises the limits. */
static bool htbs_may_raise(struct htbs_policy *policy, const struct htbs_flow *flow,
			   u64 now, u32 cost)
{
	return htbs_held_up(flow, now) <= htbs_pace_step(&flow->pool->pace, cost) &&
	       htbs_is_tightest(policy, flow, now);
}

/*
 * Until a request was slow the window doubles with one that is not, once in an interval: a flow
 * that has few requests tells as much by each of them.
 */
static void htbs_judge_window(struct htbs_policy *policy, u64 now, bool slow)
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

/* Most requests tell nothing of the limits. */
static noinline void htbs_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow,
				       u64 now, const struct htbs_sent *sent, bool slow)
{
	bool probes = htbs_limit_probes(&policy->quota.limit);
	bool late = policy->rotational || probes ? slow : htbs_before(sent->due, now);
	bool raises;

	if (!late && htbs_falls_behind(policy, flow, now)) {
		slow = true;
		late = true;
	}
	raises = htbs_surplus_was_held(policy) && htbs_may_raise(policy, flow, now, sent->cost);
	if (slow || raises)
		htbs_judge_window(policy, now, slow);
	if (late || raises)
		htbs_quota_judge(&policy->quota, late);
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
 * a longer latency than another all are in time anyway: they raise no limit.
 */
void htbs_policy_judge_limits(struct htbs_policy *policy, struct htbs_flow *flow, u64 now,
			      const struct htbs_sent *sent)
{
	bool slow = 4 * (now - sent->at) > 3 * (sent->due - sent->at);

	if (slow || htbs_surplus_was_held(policy) || htbs_pace_is_due(policy, flow, now))
		htbs_judge_limits(policy, flow, now, sent, slow);
}
