// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of the active flow, and waits for its next request.
 *
 * While nothing that is owed needs the device, the active flow keeps it if that
 * saves positioning: it is sequential; or it is served by position, as it has
 * several requests pending; or it is behind its pace, and then catches up in one
 * batch. A flow that had less than its share keeps it, too, until it had as much as
 * others: else one with one request at a time has a request for each run of theirs.
 * If others were late before, a run of what a sequential flow is owed lasts at least
 * as long as the positioning for it. Surplus lasts for HTBS_RUN positionings at worst
 * if another flow had less; in an overload a run lasts until the pool is HTBS_LEAD
 * ahead of another.
 *
 * A run by position is a sweep in one direction, then again from the first
 * sector on. The oldest request goes first, and then every HTBS_SWEEP requests,
 * so that it is not passed for ever. Synchronous requests go before others, but for
 * the oldest one that conformed. If none is pending, the next one by position goes before
 * an oldest one that did not conform, too.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/overload.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>

/*
 * A flow is waited for if so many of its mean think times take less than one positioning, or than a
 * quarter of the longest wait. So long a wait lasts.
 */
#define HTBS_THINKS		4

/* Whether the active flow is served by position. A device with requests in flight orders them. */
static bool htbs_sweeps(const struct htbs_policy *policy)
{
	const struct htbs_flow *flow = policy->active;

	return policy->seeks && !policy->in_flight && flow->pending > 1 &&
	       flow->passed + 1 < HTBS_SWEEP;
}

/*
 * Whether the oldest request of a flow gives way to others of it. A task waits for a
 * synchronous request, seldom for one that is not. But what conformed is promised to be in
 * time.
 */
static bool htbs_oldest_yields(const struct htbs_policy *policy, const struct htbs_flow *flow)
{
	return policy->seeks && !flow->background && flow->pending > 1 &&
	       !flow->head.sync && htbs_flow_start(flow) != flow->head.arrived &&
	       flow->passed + 1 < HTBS_SWEEP;
}

/**
 * htbs_policy_pass_oldest() - pass the oldest request of a flow, if it is to be, and count that
 * @policy: the policy
 * @flow: the flow that is chosen; it is active
 * @stays: it had the device before
 *
 * Return: true if the next request by position goes before it.
 */
bool htbs_policy_pass_oldest(const struct htbs_policy *policy, struct htbs_flow *flow,
			     bool stays)
{
	bool passes = (stays && htbs_sweeps(policy)) || htbs_oldest_yields(policy, flow);

	flow->passed = passes ? flow->passed + 1 : 0;
	return passes;
}

static u64 htbs_longest_run(const struct htbs_policy *policy)
{
	return policy->run_since +
	       HTBS_RUN * htbs_service_time_longest(&policy->service);
}

/* When the next request of the active flow is entitled, if it arrives now or is pending. */
static u64 htbs_next_start(const struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->active;

	return flow->pending ? htbs_flow_start(flow) :
	       htbs_pace_start(&flow->pool->pace, now, flow->head.cost);
}

/*
 * When the run of the active flow has to end for others. A flow at random gives up the device two
 * positionings earlier than at the last moment, there and back, so that the heads that are served
 * next, and its own, may go by position. That is not worth the time to a sequential flow, which
 * loses a positioning when it is switched from, wherever the next head is; nor to a device with
 * requests in flight, which orders them itself. A flow that is owed its next request is one of a
 * batch that began in time at worst: it goes on while the others are in time on average. A relaxed
 * flow is in no batch of what has deadlines, but may be in one of relaxed flows.
 */
static u64 htbs_latest_end(struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->active;
	u32 spare = policy->in_flight || htbs_flow_sequential(flow) ? 0 : HTBS_THERE_AND_BACK;
	struct htbs_load load = htbs_policy_load_with(policy, flow, 1 + spare);
	bool in_batch;

	if (policy->overload.now)
		return htbs_longest_run(policy);
	in_batch = flow->pool->relaxed ?
		   !htbs_policy_expected(policy, flow, now) :
		   !htbs_before(now, htbs_next_start(policy, now));
	return htbs_policy_latest(policy, flow, &load, now, !in_batch);
}

/*
 * A sequential flow that is owed, while others were late before its run began, keeps the device
 * for as long as it took to position for it: else flows with deadlines take turns request by
 * request, what is owed grows, and none is in time ever after.
 */
static u64 htbs_batch_end(const struct htbs_policy *policy, u64 end, u64 now)
{
	if (policy->surplus || policy->overload.now ||
	    !htbs_flow_sequential(policy->active) ||
	    htbs_before(now, htbs_next_start(policy, now)) ||
	    htbs_before(policy->run_since, end))
		return end;
	return htbs_later(end, policy->run_since + 2 * policy->service.position);
}

/* Until when the active flow may keep the device. */
static u64 htbs_run_end(struct htbs_policy *policy, u64 now)
{
	return htbs_batch_end(policy, htbs_latest_end(policy, now), now);
}

/*
 * In an overload a pool has had HTBS_LEAD more of what it reserved than another has. So
 * none waits for much longer than that for its turn, however long the runs are that suit
 * the device.
 */
static bool htbs_part_over(const struct htbs_policy *policy,
			   const struct htbs_pool *pool)
{
	const struct htbs_fair_node *first = htbs_fair_first(&policy->proportions);

	return first && htbs_before(first->tag + HTBS_LEAD, pool->proportion.tag);
}

/*
 * Another flow had less of its share, and may go, and this one had a run. A run that began
 * with what the flow is owed ends earlier, once it has more than a run over its share;
 * unless it is behind its pace, and no other flow of its pool has requests pending.
 */
static bool htbs_share_over(const struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->active;
	const struct htbs_flow *first = htbs_policy_least_served(policy);
	u64 position = htbs_service_time_longest(&policy->service);
	u64 lead = htbs_flow_share_of_run(flow, position);

	if (!first || !htbs_before(first->share.tag, flow->share.tag) ||
	    (htbs_flow_alone(flow) && htbs_flow_behind(flow, now)))
		return false;
	return !htbs_before(now, htbs_longest_run(policy)) ||
	       (!policy->surplus &&
		htbs_before(first->share.tag + lead, flow->share.tag));
}

static u64 htbs_max_wait(const struct htbs_policy *policy,
			 const struct htbs_flow *flow)
{
	u64 wait = htbs_later(HTBS_THINKS * flow->think, HTBS_MOMENT);

	return wait < policy->t_wait ? wait : policy->t_wait;
}

/* Otherwise positioning away and back is cheaper. In a frozen queue no request arrives. */
static bool htbs_worth_waiting(const struct htbs_policy *policy,
			       const struct htbs_flow *flow)
{
	return flow->sync && policy->seeks && policy->t_wait && !policy->drains &&
	       HTBS_THINKS * flow->think < htbs_later(policy->service.position,
						      policy->t_wait / 4);
}

static bool htbs_begin_wait(struct htbs_policy *policy, struct htbs_flow *flow,
			    u64 end, u64 now)
{
	u64 most = htbs_flow_latency(flow), until;

	if (!htbs_worth_waiting(policy, flow))
		return false;
	if (flow->in_flight) {
		/* A lost request must not idle the device for ever. */
		if (most > HTBS_HORIZON)
			most = HTBS_HORIZON;
		policy->wait = HTBS_WAIT_SERVICE;
		policy->wait_until = now + most + policy->t_wait;
		return true;
	}
	until = flow->idle_since + htbs_max_wait(policy, flow);
	if (htbs_before(end, until))
		until = end;
	if (!htbs_before(now, until))
		return false;
	policy->wait = HTBS_WAIT_ARRIVAL;
	policy->wait_until = until;
	return true;
}

/**
 * htbs_policy_background_due() - whether a request of the background goes first
 * @policy: the policy
 * @now: real time, ns
 *
 * A write that the quota holds back ends no run.
 *
 * Return: true if it does.
 */
bool htbs_policy_background_due(const struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->background;

	return flow->pending && !htbs_before(now, policy->background_due) &&
	       !(flow->head.write && htbs_quota_holds(&policy->limits.quota));
}

/*
 * Whether a flow had less of its share than any other that has requests pending; in an overload,
 * its pool of its reservation. A share is charged when a request completes, so of flows that had
 * as much some have less, by up to a positioning.
 */
static bool htbs_lacks_share(const struct htbs_policy *policy, const struct htbs_flow *flow)
{
	u64 position = htbs_service_time_longest(&policy->service);
	const struct htbs_fair_node *first;

	if (policy->overload.now) {
		first = htbs_fair_first(&policy->proportions);
		if (first == &flow->pool->proportion)
			first = htbs_fair_next(first);
		return first && htbs_before(flow->pool->proportion.tag, first->tag);
	}
	first = htbs_fair_first(&policy->shares);
	if (first == &flow->share)
		first = htbs_fair_next(first);
	return first && htbs_before(flow->share.tag + htbs_flow_share(flow, position),
				    first->tag);
}

/* Whether a device that seeks saves positioning if it stays with a flow, or owes it its share. */
static bool htbs_stays(const struct htbs_policy *policy, const struct htbs_flow *flow, u64 now)
{
	if (!policy->seeks)
		return false;
	/* What a pool lacks is had by any flow of it that has requests pending. */
	return htbs_flow_sequential(flow) ||
	       (!policy->overload.now && htbs_flow_behind(flow, now) &&
		(flow->pending || htbs_flow_alone(flow))) ||
	       htbs_sweeps(policy) || htbs_lacks_share(policy, flow);
}

/**
 * htbs_policy_keep_or_wait() - let the active flow keep the device, or begin to wait for it
 * @policy: the policy
 * @now: real time, ns
 *
 * If it does and has nothing pending, the device is idled as policy->wait says.
 *
 * Return: true if a flow is active, and keeps the device.
 */
bool htbs_policy_keep_or_wait(struct htbs_policy *policy, u64 now)
{
	struct htbs_flow *flow = policy->active;
	u64 end;

	if (!flow || htbs_policy_background_due(policy, now) ||
	    htbs_policy_throttles(policy, flow, now) ||
	    !htbs_stays(policy, flow, now))
		return false;
	end = htbs_run_end(policy, now);
	if (!htbs_before(now, end) ||
	    (policy->overload.now ? htbs_part_over(policy, flow->pool) :
				    htbs_share_over(policy, now)))
		return false;
	return flow->pending || htbs_begin_wait(policy, flow, end, now);
}

/**
 * htbs_policy_shorten_wait() - end a wait before it makes other flows late
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if the wait ends earlier now.
 */
bool htbs_policy_shorten_wait(struct htbs_policy *policy, u64 now)
{
	u64 end;

	if (policy->wait == HTBS_WAIT_NONE || policy->overload.now)
		return false;
	end = htbs_policy_latest(policy, policy->active, &policy->load, now,
				 true);
	/* The requests in flight complete while the device waits for them. */
	if (policy->wait == HTBS_WAIT_SERVICE)
		end += policy->load.mean;
	end = htbs_batch_end(policy, end, now);
	if (!htbs_before(end, policy->wait_until))
		return false;
	policy->wait_until = end;
	return true;
}

/**
 * htbs_policy_wait_for_arrival() - idle the device for the next request
 * @policy: the policy
 * @now: real time, ns
 */
void htbs_policy_wait_for_arrival(struct htbs_policy *policy, u64 now)
{
	u64 end = htbs_run_end(policy, now);

	policy->wait = HTBS_WAIT_ARRIVAL;
	policy->wait_until = now + htbs_max_wait(policy, policy->active);
	if (htbs_before(end, policy->wait_until))
		policy->wait_until = htbs_later(now, end);
}
