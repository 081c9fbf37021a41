// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of the active flow, and waits for its next request.
 *
 * While no owed request of another flow needs the device, the active flow keeps a device that seeks
 * if
 *  - the flow is sequential,
 *  - several of its requests are pending, so that it is served by position,
 *  - it is behind its pace: then it catches up in one batch, or
 *  - it had less of its share than others, until it had as much. Otherwise a flow with one request
 *    at a time would get one request for each run of the others.
 *
 * If another flow had less of its share, a run ends after HTBS_RUN of the longest positionings. If
 * the run began with an owed request, it ends before that if the flow has more than a run over its
 * share. If others were late before a sequential flow began a run of owed requests, the run lasts
 * for at least two mean positionings. In an overload a run lasts for HTBS_RUN of the longest
 * positionings, but no longer than until the pool is HTBS_LEAD ahead of another.
 *
 * A run by position is a sweep in one direction, then again from the first sector on. It begins
 * with the oldest request. After that one in HTBS_SWEEP requests is the oldest one, so that it is
 * not passed forever. Synchronous requests go before others, except for an oldest request that
 * conforms. If no synchronous request is pending, the next request by position still goes before an
 * oldest one that does not conform.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/expect.h>
#include <htbs/core/flow.h>
#include <htbs/core/overload.h>
#include <htbs/core/policy.h>
#include <htbs/core/run.h>

/*
 * The device is idled for a flow if this many of its mean think times take less than one
 * positioning, or than a quarter of the longest wait. A wait lasts for this many think times, but
 * at least HTBS_MOMENT.
 */
#define HTBS_THINKS		4

/*
 * Returns true if the active flow is served by position. While requests are in flight, the device
 * orders them itself.
 */
static bool htbs_sweeps(const struct htbs_policy *policy)
{
	const struct htbs_flow *flow = policy->active;

	return policy->seeks && !policy->in_flight && flow->pending > 1 &&
	       flow->passed + 1 < HTBS_SWEEP;
}

/*
 * Returns true if the oldest request of a flow gives way to others of the flow. A task waits for a
 * synchronous request, but seldom for an asynchronous one. A conforming request does not give way,
 * because it has to be in time.
 */
static bool htbs_oldest_yields(const struct htbs_policy *policy, const struct htbs_flow *flow)
{
	return policy->seeks && !flow->background && flow->pending > 1 &&
	       !flow->head.sync && htbs_flow_start(flow) != flow->head.arrived &&
	       flow->passed + 1 < HTBS_SWEEP;
}

/**
 * htbs_policy_pass_oldest() - decide whether the oldest request of a flow is passed, and count that
 * @policy: the policy
 * @flow: the chosen flow
 * @stays: it was active before, and keeps the device
 *
 * Return: true if the next request by position goes before the oldest one.
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

/*
 * Returns when the next request of the active flow is entitled: its head, or a request that arrives
 * now.
 */
static u64 htbs_next_start(const struct htbs_policy *policy, u64 now)
{
	const struct htbs_flow *flow = policy->active;

	return flow->pending ? htbs_flow_start(flow) :
	       htbs_pace_start(&flow->pool->pace, now, flow->head.cost);
}

/*
 * Returns when the run of the active flow has to end for the sake of others.
 *
 * A random flow gives up the device two positionings before the last moment, one there and one
 * back, so that the heads that are served next, and its own, can go by position. A sequential flow
 * does not give up the device earlier, because a switch costs it a positioning wherever the next
 * head is. Nor does any flow while requests are in flight, because the device orders them itself.
 *
 * If a flow is owed its next request, it is part of a batch that began in time in the worst case.
 * So it goes on while the others are in time on average. A relaxed flow is not part of a batch of
 * heads with deadlines, but may be part of a batch of relaxed flows: it goes on in the same way
 * while no conforming request is expected.
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
 * If others were late before the run of a sequential flow began, and the flow is owed its next
 * request, the run lasts for at least two mean positionings: one for the positioning, and as long
 * again. Otherwise flows with deadlines would take turns request by request, the owed requests
 * would pile up, and none would ever be in time again.
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

/* Returns until when the active flow may keep the device. */
static u64 htbs_run_end(struct htbs_policy *policy, u64 now)
{
	return htbs_batch_end(policy, htbs_latest_end(policy, now), now);
}

/*
 * Returns true if, in an overload, a pool is more than HTBS_LEAD ahead of another one, in time of
 * its reservation. So no pool waits for its turn for much longer than that, however long the runs
 * are that suit the device.
 */
static bool htbs_part_over(const struct htbs_policy *policy,
			   const struct htbs_pool *pool)
{
	const struct htbs_fair_node *first = htbs_fair_first(&policy->proportions);

	return first && htbs_before(first->tag + HTBS_LEAD, pool->proportion.tag);
}

/*
 * Returns true if another flow, which the quota does not hold back, had less of its share, and the
 * active flow had a run. If the run began with an owed request, it ends before that if the flow has
 * more than a run over its share. A flow that is behind its pace goes on, unless another flow of
 * its pool has requests pending.
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

/*
 * Returns true if idling the device is cheaper than positioning away and back. In a queue that has
 * to be emptied no request arrives.
 */
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
 * htbs_policy_background_due() - whether a request of the background goes before others
 * @policy: the policy
 * @now: real time, ns
 *
 * A write that the quota holds back does not end a run.
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
 * Returns true if a flow had less of its share than any other flow that has requests pending; in an
 * overload, if its pool had less of its reservation. A difference of up to one positioning does not
 * count, because a share is charged only when a request completes.
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

/*
 * Returns true if a device that seeks saves positioning by staying with a flow, or owes the flow a
 * part of its share.
 */
static bool htbs_stays(const struct htbs_policy *policy, const struct htbs_flow *flow, u64 now)
{
	if (!policy->seeks)
		return false;
	/* If the flow has nothing pending, another flow of its pool can catch up instead. */
	return htbs_flow_sequential(flow) ||
	       (!policy->overload.now && htbs_flow_behind(flow, now) &&
		(flow->pending || htbs_flow_alone(flow))) ||
	       htbs_sweeps(policy) || htbs_lacks_share(policy, flow);
}

/**
 * htbs_policy_keep_or_wait() - let the active flow keep the device, or idle the device for it
 * @policy: the policy
 * @now: real time, ns
 *
 * If the flow keeps the device and has nothing pending, the device is idled as policy->wait says.
 *
 * Return: true if a flow is active and keeps the device.
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
 * htbs_policy_shorten_wait() - let a wait end before it makes other flows late
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: true if the wait ends earlier than before.
 */
bool htbs_policy_shorten_wait(struct htbs_policy *policy, u64 now)
{
	u64 end;

	if (policy->wait == HTBS_WAIT_NONE || policy->overload.now)
		return false;
	end = htbs_policy_latest(policy, policy->active, &policy->load, now,
				 true);
	/* The device serves the requests in flight meanwhile. */
	if (policy->wait == HTBS_WAIT_SERVICE)
		end += policy->load.mean;
	end = htbs_batch_end(policy, end, now);
	if (!htbs_before(end, policy->wait_until))
		return false;
	policy->wait_until = end;
	return true;
}

/**
 * htbs_policy_wait_for_arrival() - idle the device for the next request of the active flow
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
