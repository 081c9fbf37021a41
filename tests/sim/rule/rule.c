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
 * This is a model: flows are walked, where the scheduler will have trees, and caps,
 * operations and merges are left out.
 */
#include <linux/math64.h>
#include <linux/string.h>

#include "rule.h"

#define SEC		1000000000ULL

/* Mean deviations that the longest time is above the mean: 4 standard deviations. */
#define MARGIN		5
/* The weight of a new time in mean and deviation. */
#define FADE		64
/* A run of surplus, and each run in an overload, lasts as long as 16 positionings. */
#define RUN		16
/* A flow is waited for if four think times, the longest wait, take one of them. */
#define THINKS		4
/* Sequential: at most so many sectors left out, so many of the last 8 requests. */
#define SEQ_GAP		128
#define SEQ_MIN		5
/* The oldest request goes first that often in a run by position. */
#define SWEEP		16
/* The inverse of the background's part of the device's time. */
#define BACKGROUND	16
#define EXPIRE		(30 * SEC)
/* A quota falls by 1/16 when a conforming request is late, as 1 in 100 may be. */
#define QUOTA_STEP	16
#define QUOTA_LATE	100
#define QUOTA_BURST	(SEC / 1000)
/* A flow that had a conforming request may have another one for so long. */
#define HOLD		SEC

static bool before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static u64 later(u64 a, u64 b)
{
	return before(a, b) ? b : a;
}

/* The root of n, rounded down. */
static u64 root(u64 n)
{
	u64 root = 0, bit = 1ULL << 31;

	for (; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	return root;
}

/*
 * The device: what a request takes.
 */

/* More of a flow's requests: @of halves of a positioning, and so many bytes. */
static void add(struct rule_load *load, const struct rule_cost *cost, u32 of,
		u64 bytes)
{
	u64 deviation = cost->deviation >> 10;

	load->mean += of * cost->position / 2 + (bytes * cost->stream >> 10);
	load->variance += of * deviation * deviation / 2;
}

/*
 * How long a load takes, at worst or in the mean.  Deviations are independent, so
 * that of the sum is the root of the sum of their squares.
 */
static u64 takes(const struct rule_load *load, bool worst)
{
	return worst ? load->mean + MARGIN * (root(load->variance) << 10) :
		       load->mean;
}

/* The longest that one positioning takes. */
static u64 longest(const struct rule_cost *cost)
{
	return cost->position + MARGIN * cost->deviation;
}

static void learn(struct rule_cost *cost, u64 took, u32 bytes, bool far)
{
	u64 transfer = bytes * cost->stream >> 10, most, error;

	if (!far) {
		took = (took << 10) / bytes;
		cost->stream += ((s64)took - (s64)cost->stream) / FADE;
		return;
	}
	took = took > transfer ? took - transfer : 0;
	/* One time, however long, says little: the drive had to spin up. */
	most = 2 * longest(cost) + SEC / 1000;
	if (took > most)
		took = most;
	error = took > cost->position ? took - cost->position :
					cost->position - took;
	cost->position += ((s64)took - (s64)cost->position) / FADE;
	cost->deviation += ((s64)error - (s64)cost->deviation) / FADE;
}

/*
 * Flows: what is owed to them.
 */

static bool sequential(const struct rule_flow *flow)
{
	return __builtin_popcount(flow->history) >= SEQ_MIN;
}

/* A reservation that alone takes more than the device has: its pace cannot be kept. */
static bool impossible(const struct rule_flow *flow)
{
	return flow->need >= 256;
}

static u64 step(const struct rule_flow *flow, u32 cost)
{
	return div64_u64(cost * SEC, flow->promise.bw);
}

/* How much earlier than its pace a request is entitled, by the burst. */
static u64 tau(const struct rule_flow *flow, u32 cost)
{
	if (flow->promise.burst <= cost)
		return 0;
	return div64_u64((flow->promise.burst - cost) * SEC, flow->promise.bw);
}

static void update_head(struct rule_flow *flow)
{
	u64 latency = flow->promise.latency, since;

	flow->start = later(flow->arrived, flow->tag - tau(flow, flow->cost));
	since = flow->start;
	/* Behind its pace: as much less time. */
	if (before(flow->tag, flow->arrived) && !impossible(flow))
		since = later(flow->tag, flow->arrived - latency);
	flow->deadline = since + latency;
}

/* How many of its requests may have the head's deadline. */
static u32 due_together(const struct rule_flow *flow)
{
	u64 entitled = flow->deadline - flow->promise.latency;
	u64 first = flow->tag - tau(flow, flow->cost);
	u64 more;

	if (before(entitled, first))
		return 1;
	more = div64_u64(entitled - first, step(flow, flow->cost) ?: 1);
	return more + 1 < flow->pending ? more + 1 : flow->pending;
}

static bool owed(const struct rule_flow *flow, u64 now)
{
	return !before(now, flow->start);
}

static bool behind(const struct rule_flow *flow, u64 now)
{
	return !impossible(flow) && !before(now, flow->tag);
}

/*
 * Choosing among flows.
 */

/* Without a deadline, as it could not be kept: impossible, and late too often. */
static bool gives_up(const struct rule_policy *policy,
		     const struct rule_flow *flow)
{
	return policy->alone && impossible(flow);
}

typedef bool (*rule_less)(const struct rule_flow *, const struct rule_flow *);

static bool by_deadline(const struct rule_flow *a, const struct rule_flow *b)
{
	return before(a->deadline, b->deadline);
}

static bool by_share(const struct rule_flow *a, const struct rule_flow *b)
{
	return before(a->share, b->share);
}

static bool by_proportion(const struct rule_flow *a, const struct rule_flow *b)
{
	return before(a->proportion, b->proportion);
}

static bool by_arrival(const struct rule_flow *a, const struct rule_flow *b)
{
	return before(a->arrived, b->arrived);
}

/* The first backlogged flow in an order, without @skip. */
static struct rule_flow *first(const struct rule_policy *policy, rule_less less,
			       const struct rule_flow *skip)
{
	struct rule_flow *found = NULL, *flow;
	u32 i;

	for (i = 0; i < policy->count; i++) {
		flow = policy->flows[i];
		if (!flow->pending || flow == skip)
			continue;
		if (flow->background && less != by_arrival)
			continue;
		if (less == by_deadline && gives_up(policy, flow))
			continue;
		if (!found || less(flow, found))
			found = flow;
	}
	return found;
}

/*
 * The first by deadline whose head is owed.  Sequential flows wait on a device that
 * seeks: the longer the more they have of one positioning.
 */
static struct rule_flow *first_owed(const struct rule_policy *policy, u64 now)
{
	struct rule_flow *found = NULL, *flow;
	u32 i;

	for (i = 0; i < policy->count; i++) {
		flow = policy->flows[i];
		if (!flow->pending || flow->background || !owed(flow, now) ||
		    gives_up(policy, flow))
			continue;
		if (policy->rotational && sequential(flow))
			continue;
		if (!found || by_deadline(flow, found))
			found = flow;
	}
	return found;
}

/* What the device has, and a request of @flow with @of halves of a positioning. */
static struct rule_load load_with(const struct rule_policy *policy,
				  const struct rule_flow *flow, u32 of)
{
	struct rule_load load = policy->load;

	add(&load, &flow->service, of, flow->cost);
	return load;
}

/*
 * latest(Q) without @skip, if the device serves a load before.
 */
static u64 latest(const struct rule_policy *policy, const struct rule_flow *skip,
		  struct rule_load load, u64 now, bool worst)
{
	const struct rule_flow *order[RULE_FLOWS], *flow;
	u32 i, place, count = 0, together;
	u64 most = now + SEC, begin;

	for (i = 0; i < policy->count; i++) {
		flow = policy->flows[i];
		if (!flow->pending || flow->background || flow == skip ||
		    gives_up(policy, flow))
			continue;
		for (place = count++; place &&
		     by_deadline(flow, order[place - 1]); place--)
			order[place] = order[place - 1];
		order[place] = flow;
	}
	for (i = 0; i < count; i++) {
		flow = order[i];
		together = due_together(flow);
		add(&load, &flow->service,
		    policy->rotational && sequential(flow) ? 2 : 2 * together,
		    (u64)together * flow->cost);
		begin = flow->deadline - takes(&load, worst);
		if (before(begin, most))
			most = begin;
	}
	return most;
}

/*
 * What a device that orders by itself may have.
 */

/*
 * A device that seeks may pass a conforming request for as long as it gets others.
 * What is owed is near, on the average: half as long.
 */
static bool risks_deadline(const struct rule_policy *policy,
			   const struct rule_flow *flow, u64 now)
{
	struct rule_load load = load_with(policy, flow, 2);
	u64 time;
	u32 i;

	time = takes(&load, true);
	if (owed(flow, now)) {
		if (policy->overload.now)
			return false;
		time /= 2;
	}
	for (i = 0; i < policy->deadline_count; i++)
		if (before(policy->deadlines[i], now + time))
			return true;
	return false;
}

/*
 * A conforming request may arrive at any time, of a flow that had one of late.  Is it
 * in time, behind all that the device has and this one?
 */
static bool leaves_room(const struct rule_policy *policy,
			const struct rule_flow *flow, u64 now)
{
	struct rule_load load = load_with(policy, flow, 2), with;
	const struct rule_flow *other;
	u32 i;

	/* Its own deadline is as near. */
	if (!policy->in_flight ||
	    (owed(flow, now) &&
	     !before(now, flow->deadline - takes(&load, true))))
		return true;
	for (i = 0; i < policy->count; i++) {
		other = policy->flows[i];
		if (other == flow || !before(now, other->expected_until))
			continue;
		with = load;
		add(&with, &other->service, 2, other->cost);
		if (other->promise.latency < takes(&with, true))
			return false;
	}
	return true;
}

static void refill(struct rule_quota *quota, u64 now)
{
	u64 most = div64_u64(quota->rate, SEC / QUOTA_BURST) + 131072;
	u64 passed = now - quota->at;

	if (passed > QUOTA_BURST)
		passed = QUOTA_BURST;
	quota->tokens += div64_u64(passed * (quota->rate >> 10), SEC >> 10);
	if (quota->tokens > (s64)most)
		quota->tokens = most;
	quota->at = now;
}

static bool in_quota(struct rule_policy *policy, const struct rule_flow *flow,
		     u64 now)
{
	struct rule_quota *quota = &policy->quota[flow->write];

	if (!before(now, quota->until))
		return true;
	refill(quota, now);
	if (quota->tokens >= flow->cost)
		return true;
	quota->full = true;
	return false;
}

/* A conforming request is done: late, or in time. */
static void judge_quotas(struct rule_policy *policy, bool late)
{
	struct rule_quota *quota;

	for (quota = policy->quota; quota < policy->quota + 2; quota++) {
		if (late && quota->used && quota->used < quota->rate)
			quota->rate = quota->used;
		if (late)
			quota->rate -= quota->rate / QUOTA_STEP;
		else if (quota->full)
			quota->rate += quota->rate / (QUOTA_STEP * QUOTA_LATE);
		quota->full &= late;
	}
}

static void charge_quota(struct rule_policy *policy, bool write, u32 cost,
			 bool surplus, u64 now)
{
	struct rule_quota *quota = &policy->quota[write];

	if (surplus) {
		refill(quota, now);
		quota->tokens -= cost;
	}
	quota->bytes += cost;
	if (now - quota->since < SEC / 10)
		return;
	quota->used = div64_u64(quota->bytes * SEC, now - quota->since);
	quota->bytes = 0;
	quota->since = now;
}

static bool can_dispatch(struct rule_policy *policy, struct rule_flow *flow,
			 u64 now)
{
	if (policy->rotational)
		return !risks_deadline(policy, flow, now) &&
		       leaves_room(policy, flow, now);
	return owed(flow, now) || in_quota(policy, flow, now);
}

/*
 * Runs and waits.
 */

static bool sweeps(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;

	return policy->rotational && !policy->in_flight && flow->pending > 1 &&
	       policy->run % SWEEP &&
	       (policy->overload.now || !owed(flow, now) ||
		before(now, latest(policy, NULL, load_with(policy, flow, 2),
				   now, true)));
}

/* Until when the active flow may keep the device. */
static u64 run_end(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;
	u64 run = policy->run_since + RUN * policy->service.position, start;
	struct rule_load load = load_with(policy, flow, sequential(flow) ? 1 : 2);

	if (policy->overload.now)
		return run;
	start = flow->pending ? flow->start : flow->tag - tau(flow, flow->cost);
	return latest(policy, flow, load, now, before(now, start));
}

/* It had its share: surplus of another goes first. */
static bool share_over(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;
	const struct rule_flow *other = first(policy, by_share, flow);

	if (behind(flow, now) && policy->rotational)
		return false;
	if (!policy->surplus && !gives_up(policy, flow) &&
	    !before(now, flow->start))
		return false;
	return other && by_share(other, flow) &&
	       !before(now, policy->run_since + RUN * policy->service.position);
}

static u64 max_wait(const struct rule_policy *policy,
		    const struct rule_flow *flow)
{
	u64 wait = later(THINKS * flow->think, policy->t_wait / 16);

	return wait < policy->t_wait ? wait : policy->t_wait;
}

static bool worth_waiting(const struct rule_policy *policy,
			  const struct rule_flow *flow)
{
	return flow->sync && policy->rotational &&
	       THINKS * flow->think < later(policy->service.position,
					    policy->t_wait / 4);
}

static bool begin_wait(struct rule_policy *policy, struct rule_flow *flow,
		       u64 end, u64 now)
{
	u64 most = flow->promise.latency < SEC ? flow->promise.latency : SEC;

	if (!worth_waiting(policy, flow))
		return false;
	if (flow->in_flight) {
		policy->waits = RULE_WAIT_SERVICE;
		policy->wait_until = now + most + policy->t_wait;
		return true;
	}
	if (before(flow->idle_since + max_wait(policy, flow), end))
		end = flow->idle_since + max_wait(policy, flow);
	if (!before(now, end))
		return false;
	policy->waits = RULE_WAIT_ARRIVAL;
	policy->wait_until = end;
	return true;
}

static bool background_due(const struct rule_policy *policy, u64 now)
{
	u32 i;

	for (i = 0; i < policy->count; i++)
		if (policy->flows[i]->background && policy->flows[i]->pending)
			return !before(now, policy->background_due);
	return false;
}

/* Does the active flow keep the device?  If so it may have to be waited for. */
static bool keep_active(struct rule_policy *policy, u64 now)
{
	struct rule_flow *flow = policy->active;
	u64 end;

	if (!flow || background_due(policy, now))
		return false;
	if (!(policy->rotational && (sequential(flow) ||
				     (!policy->overload.now &&
				      behind(flow, now)))) &&
	    !sweeps(policy, now))
		return false;
	end = run_end(policy, now);
	if (!before(now, end) ||
	    (!policy->overload.now && share_over(policy, now)))
		return false;
	return flow->pending || begin_wait(policy, flow, end, now);
}

static struct rule_flow *background(const struct rule_policy *policy)
{
	u32 i;

	for (i = 0; i < policy->count; i++)
		if (policy->flows[i]->background && policy->flows[i]->pending)
			return policy->flows[i];
	return NULL;
}

static struct rule_flow *next_flow(struct rule_policy *policy, u64 now)
{
	struct rule_flow *urgent = first(policy, by_deadline, NULL), *flow;

	policy->surplus = false;
	if (background_due(policy, now))
		return background(policy);
	if (policy->overload.now)
		return first(policy, by_proportion, NULL) ?: background(policy);
	if (policy->rotational && urgent &&
	    !before(now, latest(policy, NULL, policy->load, now, true)))
		return urgent;
	flow = first_owed(policy, now);
	if (flow)
		return flow;
	flow = first(policy, by_share, NULL);
	if (!flow)
		return background(policy);
	/* There has to be time to position for it. */
	if (policy->rotational && urgent && flow != urgent &&
	    !before(now, latest(policy, flow, load_with(policy, flow, 2), now,
				true)))
		return urgent;
	policy->surplus = true;
	return flow;
}

/* What is next may not go: reserved work, else on flash the other direction. */
static struct rule_flow *next_dispatchable(struct rule_policy *policy, u64 now)
{
	struct rule_flow *found = first_owed(policy, now), *flow;
	u32 i;

	if (found && can_dispatch(policy, found, now))
		return found;
	found = NULL;
	for (i = 0; i < policy->count && !policy->rotational; i++) {
		flow = policy->flows[i];
		if (flow->pending && !flow->background &&
		    can_dispatch(policy, flow, now) &&
		    (!found || by_share(flow, found)))
			found = flow;
	}
	return found;
}

static struct rule_flow *expired(struct rule_policy *policy, u64 now)
{
	struct rule_flow *flow = first(policy, by_arrival, NULL);

	if (!flow || now - flow->arrived < EXPIRE ||
	    now - policy->expired_at < 2 * longest(&policy->service))
		return NULL;
	policy->expired_at = now;
	return flow;
}

/* Once all that is pending can be in time, no flow gives up its deadlines. */
static void end_overload(struct rule_policy *policy, u64 now)
{
	bool alone = policy->alone;
	u32 i;

	if (!alone && !policy->overload.now)
		return;
	if (before(now, latest(policy, NULL, policy->load, now, true)) &&
	    htbs_overload_end(&policy->overload))
		for (i = 0; i < policy->count; i++)
			if (policy->flows[i]->pending)
				update_head(policy->flows[i]);
	policy->alone = false;
	if (alone && (policy->overload.now ||
		      !before(now, latest(policy, NULL, policy->load, now, true))))
		policy->alone = true;
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
	if (policy->waits || policy->held || !first(policy, by_arrival, NULL))
		return NULL;
	end_overload(policy, now);
	flow = expired(policy, now);
	if (!flow) {
		kept = keep_active(policy, now);
		if (policy->waits)
			return NULL;
		flow = kept ? policy->active : next_flow(policy, now);
		if (!flow->background && !can_dispatch(policy, flow, now)) {
			flow = next_dispatchable(policy, now);
			kept = false;
		}
	}
	policy->held = !flow;
	if (!flow)
		return NULL;
	policy->by_position = kept && sweeps(policy, now);
	if (!kept) {
		policy->active = flow->background ? NULL : flow;
		policy->run = 0;
		policy->run_since = now;
	}
	if (flow->background)
		policy->background_due = now + BACKGROUND *
					 longest(&policy->service);
	return flow;
}

/*
 * Events.
 */

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
	u64 idle = now - flow->idle_since, earned, pause;

	policy->held = false;
	if (hit)
		policy->waits = RULE_NO_WAIT;
	if (!flow->pending && !flow->in_flight) {
		pause = idle < 2 * policy->t_wait ? idle : 2 * policy->t_wait;
		if (flow->known)
			flow->think = (7 * flow->think + pause) / 8;
		/*
		 * Did it think for so long that it would not have reached its
		 * bandwidth with a device of its own?  Then nothing was lost.
		 */
		earned = flow->tag - flow->busy_tag;
		if (idle + flow->service.position >= earned)
			flow->tag = later(flow->tag, now);
		else
			flow->tag = later(flow->tag,
					  now - flow->promise.latency);
		flow->busy_tag = flow->tag;
		flow->share = later(flow->share, policy->share);
		flow->proportion = later(flow->proportion, policy->proportion);
	}
	if (!flow->pending++)
		rule_set_head(flow, now, cost, write);
	if (!flow->background && owed(flow, now)) {
		policy->quota[false].until = now + HOLD;
		policy->quota[true].until = now + HOLD;
		if (!impossible(flow))
			flow->expected_until = now + HOLD;
	}
	if (policy->waits && !policy->overload.now) {
		u64 end = latest(policy, policy->active, policy->load, now,
				 true);

		if (policy->waits == RULE_WAIT_SERVICE)
			end += policy->load.mean;
		if (before(end, policy->wait_until))
			policy->wait_until = end;
	}
	return hit;
}

/**
 * rule_set_head() - tell the oldest pending request
 * @flow: its flow
 * @arrived: when it arrived, ns
 * @cost: what it is charged, bytes
 * @write: it writes
 */
void rule_set_head(struct rule_flow *flow, u64 arrived, u32 cost, bool write)
{
	flow->arrived = arrived;
	flow->cost = cost;
	flow->write = write;
	update_head(flow);
}

/*
 * The device was granted to a flow.  If that is too late too often, more is reserved
 * than the device can do.  Reservations that no device could keep give up first.
 */
static void account_turn(struct rule_policy *policy,
			 const struct rule_flow *flow, u64 now)
{
	u64 position = flow->service.position;
	u32 i;

	if (gives_up(policy, flow))
		return;
	if (policy->rotational && flow->promise.latency > 2 * position)
		now += position;
	if (!htbs_overload_account(&policy->overload,
				   before(flow->start + flow->promise.latency,
					  now)))
		return;
	for (i = 0; i < policy->count && !policy->alone; i++)
		policy->alone = policy->flows[i]->pending &&
				impossible(policy->flows[i]);
	if (policy->alone && !policy->gave_up)
		htbs_overload_end(&policy->overload);
	policy->gave_up = policy->alone;
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
	bool surplus = !owed(flow, now) || flow->background;
	u64 least = arrived - flow->promise.latency;

	memset(sent, 0, sizeof(*sent));
	sent->at = now;
	sent->due = arrived + flow->promise.latency;
	sent->cost = extent->cost;
	sent->write = extent->write;
	sent->conforms = !flow->background &&
			 !before(arrived, flow->tag - tau(flow, extent->cost));

	flow->history = flow->history << 1 | near;
	flow->next_pos = extent->pos + extent->sectors;
	flow->sync = extent->sync;
	flow->known = true;
	if (policy->by_position) {
		flow->sweep = flow->next_pos;
		near = true;
	}
	sent->far = !(near && policy->active == flow && policy->run);
	add(&sent->load, &flow->service, sent->far ? 2 : 0, sent->cost);
	policy->load.mean += sent->load.mean;
	policy->load.variance += sent->load.variance;
	if (!policy->in_flight++)
		policy->busy_since = now;
	flow->in_flight++;
	flow->pending--;
	if (policy->rotational && sent->conforms &&
	    policy->deadline_count < RULE_DEADLINES)
		policy->deadlines[policy->deadline_count++] = sent->due;
	if (!policy->run && !flow->background)
		account_turn(policy, flow, now);
	policy->run += policy->active == flow;

	policy->share = later(policy->share, flow->share);
	policy->proportion = later(policy->proportion, flow->proportion);
	if (!surplus || policy->overload.now)
		flow->tag = later(flow->tag, least) + step(flow, extent->cost);
	flow->proportion += step(flow, extent->cost);
	charge_quota(policy, sent->write, extent->cost, surplus, now);
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
	u64 took = now - policy->busy_since, of = step(flow, sent->cost);
	u64 weight = flow->promise.weight ? flow->promise.weight << 14 :
					    flow->promise.bw;
	u64 need = div64_u64(took << 8, of ?: 1);
	u32 i;

	if (sent->conforms && before(sent->at, sent->due))
		judge_quotas(policy, before(sent->due, now));
	learn(&policy->service, took, sent->cost, sent->far);
	learn(&flow->service, took, sent->cost, sent->far);
	policy->busy_since = now;
	policy->in_flight--;
	policy->load.mean -= sent->load.mean;
	policy->load.variance -= sent->load.variance;
	policy->held = false;
	for (i = 0; i < policy->deadline_count; i++)
		if (sent->conforms && policy->deadlines[i] == sent->due) {
			policy->deadlines[i] =
				policy->deadlines[--policy->deadline_count];
			break;
		}
	if (!policy->in_flight)
		policy->deadline_count = 0;

	flow->in_flight--;
	flow->idle_since = now;
	flow->need = flow->need ? flow->need - flow->need / 32 + need / 32 : need;
	flow->share += div64_u64(took << 20, weight);
	/* No reservation counts for more than the whole device. */
	if (took > of)
		flow->proportion += took - of;
	if (policy->active == flow && policy->waits == RULE_WAIT_SERVICE) {
		u64 end = run_end(policy, now);

		policy->waits = RULE_WAIT_ARRIVAL;
		policy->wait_until = now + max_wait(policy, flow);
		if (before(end, policy->wait_until))
			policy->wait_until = later(now, end);
	}
}

/**
 * rule_timer() - when to choose again, if nothing happens before
 * @policy: the policy
 * @now: real time, ns
 *
 * Return: real time, ns; 0: only after an event.
 */
u64 rule_timer(const struct rule_policy *policy, u64 now)
{
	if (policy->waits)
		return policy->wait_until;
	if (policy->held && !policy->rotational)
		return now + QUOTA_BURST / 50;
	return 0;
}

/**
 * rule_timeout() - the timer expired
 * @policy: the policy
 * @now: real time, ns
 */
void rule_timeout(struct rule_policy *policy, u64 now)
{
	if (!policy->waits) {
		policy->held = false;
	} else if (!before(now, policy->wait_until)) {
		policy->waits = RULE_NO_WAIT;
		policy->active = NULL;
		policy->held = false;
	}
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
	policy->service.position = seek / 2;
	policy->service.deviation = seek / 10;
	policy->service.stream = 10 << 10;
	policy->quota[false].rate = 20 * SEC;
	policy->quota[true].rate = 20 * SEC;
	policy->expired_at = -EXPIRE;
}

/**
 * rule_add_flow() - a reservation
 * @policy: the policy
 * @flow: what is to be known of it
 * @promise: the reservation
 * @background: it is IOPRIO_CLASS_IDLE
 */
void rule_add_flow(struct rule_policy *policy, struct rule_flow *flow,
		   const struct htbs_params *promise, bool background)
{
	memset(flow, 0, sizeof(*flow));
	flow->promise = *promise;
	flow->background = background;
	flow->service = policy->service;
	policy->flows[policy->count++] = flow;
}
