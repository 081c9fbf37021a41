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

#include "rule.h"

#define SEC		1000000000ULL

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
/* A flow that had a conforming request may have another one for so long. */
#define HOLD		SEC

static bool before(u64 a, u64 b)
{
	return htbs_before(a, b);
}

static u64 later(u64 a, u64 b)
{
	return before(a, b) ? b : a;
}

static struct rule_flow *flow_of(struct htbs_owed_head *head)
{
	return head ? container_of(head, struct rule_flow, head) : NULL;
}

static struct rule_flow *by_share(struct htbs_fair_node *node)
{
	return node ? container_of(node, struct rule_flow, share) : NULL;
}

static struct rule_flow *by_proportion(struct htbs_fair_node *node)
{
	return node ? container_of(node, struct rule_flow, proportion) : NULL;
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

/* Without a deadline, as it could not be kept: impossible, and late too often. */
static bool gives_up(const struct rule_policy *policy,
		     const struct rule_flow *flow)
{
	return policy->alone && impossible(flow);
}

static bool owed(const struct rule_flow *flow, u64 now)
{
	return !before(now, flow->head.start);
}

static bool behind(const struct rule_flow *flow, u64 now)
{
	return !impossible(flow) && !before(now, htbs_pace_tag(&flow->pace));
}

static u64 head_deadline(const struct rule_flow *flow)
{
	/* A pace that cannot be kept would make all that others are owed late. */
	if (impossible(flow))
		return flow->head.start + flow->pace.params.latency;
	return htbs_pace_deadline(&flow->pace, flow->arrived, flow->cost);
}

/* What the device takes for the head, and for those that are due with it. */
static void set_head_load(const struct rule_policy *policy,
			  struct rule_flow *flow)
{
	struct htbs_owed_head *head = &flow->head;
	u32 together = htbs_pace_due_together(&flow->pace, head->deadline,
					      flow->cost, flow->pending);

	head->last = policy->rotational && sequential(flow);
	memset(&head->load, 0, sizeof(head->load));
	htbs_load_add(&head->load, &flow->service,
		      head->last ? 2 : 2 * together,
		      (u64)together * flow->cost);
}

/* The head, the pace, or what is pending behind it have changed. */
static void update_head(struct rule_policy *policy, struct rule_flow *flow)
{
	struct htbs_owed_head *head = &flow->head;

	if (htbs_owed_contains(head))
		htbs_owed_remove(&policy->owed, head);
	if (!flow->pending)
		return;
	head->start = htbs_pace_start(&flow->pace, flow->arrived, flow->cost);
	head->deadline = head_deadline(flow);
	set_head_load(policy, flow);
	if (!flow->background && !gives_up(policy, flow))
		htbs_owed_insert(&policy->owed, head);
}

/* Which deadlines are given up has changed. */
static void update_heads(struct rule_policy *policy)
{
	struct rule_flow *flow;

	list_for_each_entry(flow, &policy->backlogged, backlogged)
		update_head(policy, flow);
}

static void become_backlogged(struct rule_policy *policy,
			      struct rule_flow *flow)
{
	list_add_tail(&flow->backlogged, &policy->backlogged);
	if (flow->background)
		return;
	htbs_fair_insert(&policy->shares, &flow->share);
	if (policy->overload.now)
		htbs_fair_insert(&policy->proportions, &flow->proportion);
}

static void end_backlog(struct rule_policy *policy, struct rule_flow *flow)
{
	list_del_init(&flow->backlogged);
	update_head(policy, flow);
	if (flow->background)
		return;
	htbs_fair_remove(&policy->shares, &flow->share);
	if (policy->overload.now)
		htbs_fair_remove(&policy->proportions, &flow->proportion);
}

/* What the device has, and a request of @flow with @halves of a positioning. */
static struct htbs_load load_with(const struct rule_policy *policy,
				  const struct rule_flow *flow, u32 halves)
{
	struct htbs_load load = policy->load;

	htbs_load_add(&load, &flow->service, halves, flow->cost);
	return load;
}

/* latest(Q) without @except, if the device serves a load before. */
static u64 latest(const struct rule_policy *policy,
		  const struct rule_flow *except, struct htbs_load load, u64 now,
		  bool at_worst)
{
	u64 most = now + SEC, end = most;

	htbs_owed_latest(&policy->owed, except ? &except->head : NULL, &load,
			 at_worst, &end);
	return before(end, most) ? end : most;
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
	struct htbs_load load = load_with(policy, flow, 2);
	u64 time = htbs_load_longest(&load);
	u32 i;

	if (owed(flow, now)) {
		if (policy->overload.now)
			return false;
		time /= 2;
	}
	for (i = 0; i < policy->due_count; i++)
		if (before(policy->due[i], now + time))
			return true;
	return false;
}

static bool less_latency(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct rule_flow, expected)->pace.params.latency <
	       rb_entry(b, struct rule_flow, expected)->pace.params.latency;
}

/* A conforming request has arrived: others may. */
static void expect_more(struct rule_policy *policy, struct rule_flow *flow,
			u64 now)
{
	policy->quota_until = now + HOLD;
	if (impossible(flow))
		return;
	flow->expected_until = now + HOLD;
	if (RB_EMPTY_NODE(&flow->expected))
		rb_add_cached(&flow->expected, &policy->expected, less_latency);
}

/* The flow with the shortest latency of those of which one is expected. */
static struct rule_flow *first_expected(struct rule_policy *policy,
					const struct rule_flow *except, u64 now)
{
	struct rb_node *rb = rb_first_cached(&policy->expected), *next;
	struct rule_flow *flow;

	for (; rb; rb = next) {
		next = rb_next(rb);
		flow = rb_entry(rb, struct rule_flow, expected);
		if (!before(now, flow->expected_until)) {
			rb_erase_cached(rb, &policy->expected);
			RB_CLEAR_NODE(rb);
		} else if (flow != except) {
			return flow;
		}
	}
	return NULL;
}

/*
 * A conforming request may arrive at any time, of a flow that had one of late.  Is it
 * in time, behind all that the device has and this one?
 */
static bool leaves_room(struct rule_policy *policy,
			const struct rule_flow *flow, u64 now)
{
	struct htbs_load load = load_with(policy, flow, 2);
	const struct rule_flow *other;

	/* Its own deadline is as near. */
	if (!policy->in_flight ||
	    (owed(flow, now) &&
	     !before(now, flow->head.deadline - htbs_load_longest(&load))))
		return true;
	other = first_expected(policy, flow, now);
	if (!other)
		return true;
	htbs_load_add(&load, &other->service, 2, other->cost);
	return other->pace.params.latency >= htbs_load_longest(&load);
}

static bool in_quota(struct rule_policy *policy, const struct rule_flow *flow,
		     u64 now)
{
	return !before(now, policy->quota_until) ||
	       htbs_quota_allows(&policy->quota[flow->write], now);
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
	struct htbs_load load = load_with(policy, flow, sequential(flow) ? 1 : 2);

	if (policy->overload.now)
		return run;
	start = flow->head.start;
	if (!flow->pending)
		start = htbs_pace_start(&flow->pace, now, flow->cost);
	return latest(policy, flow, load, now, before(now, start));
}

/* It had its share: surplus of another goes first. */
static bool share_over(const struct rule_policy *policy, u64 now)
{
	const struct rule_flow *flow = policy->active;
	struct htbs_fair_node *first = htbs_fair_first(&policy->shares);

	if (behind(flow, now) && policy->rotational)
		return false;
	if (!policy->surplus && !gives_up(policy, flow) &&
	    !before(now, flow->head.start))
		return false;
	return first && before(first->tag, flow->share.tag) &&
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
	u64 most = flow->pace.params.latency;

	if (most > SEC)
		most = SEC;
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
	return policy->background && policy->background->pending &&
	       !before(now, policy->background_due);
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

static struct rule_flow *next_flow(struct rule_policy *policy, u64 now)
{
	struct rule_flow *urgent, *flow;

	policy->surplus = false;
	if (background_due(policy, now))
		return policy->background;
	if (policy->overload.now)
		return by_proportion(htbs_fair_first(&policy->proportions)) ?:
		       policy->background;
	urgent = flow_of(htbs_owed_first(&policy->owed));
	if (policy->rotational && urgent &&
	    !before(now, latest(policy, NULL, policy->load, now, true)))
		return urgent;
	flow = flow_of(htbs_owed_entitled(&policy->owed, now));
	if (flow)
		return flow;
	flow = by_share(htbs_fair_first(&policy->shares));
	if (!flow)
		return policy->background;
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
	struct rule_flow *flow =
		flow_of(htbs_owed_entitled(&policy->owed, now));
	struct htbs_fair_node *node;

	if (flow && can_dispatch(policy, flow, now))
		return flow;
	if (policy->rotational)
		return NULL;
	for (node = htbs_fair_first(&policy->shares); node;
	     node = htbs_fair_next(node)) {
		flow = by_share(node);
		if (can_dispatch(policy, flow, now))
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

/* Flows are served by what they had of their reservations, or no longer are. */
static void set_overload(struct rule_policy *policy, bool overload)
{
	struct rule_flow *flow;

	policy->proportions.root = RB_ROOT_CACHED;
	list_for_each_entry(flow, &policy->backlogged, backlogged) {
		RB_CLEAR_NODE(&flow->proportion.rb);
		if (overload && !flow->background)
			htbs_fair_insert(&policy->proportions,
					 &flow->proportion);
	}
}

/* Once all that is pending can be in time, no flow gives up its deadlines. */
static void end_overload(struct rule_policy *policy, u64 now)
{
	if (!policy->alone && !policy->overload.now)
		return;
	if (policy->overload.now &&
	    before(now, latest(policy, NULL, policy->load, now, true)) &&
	    htbs_overload_end(&policy->overload))
		set_overload(policy, false);
	if (!policy->alone || policy->overload.now)
		return;
	/* Would what has given up be in time as well? */
	policy->alone = false;
	update_heads(policy);
	if (before(now, latest(policy, NULL, policy->load, now, true)))
		return;
	policy->alone = true;
	update_heads(policy);
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
			htbs_service_time_longest(&policy->service);
	return flow;
}

/*
 * Events.
 */

/* What the device takes for a request of the flow if it has no other. */
static u64 own_service(const struct rule_policy *policy,
		       const struct rule_flow *flow)
{
	return policy->rotational ? flow->service.position :
				    htbs_fastest_time(&flow->fastest);
}

static void become_busy(struct rule_policy *policy, struct rule_flow *flow,
			u64 now)
{
	u64 idle = now - flow->idle_since;
	u64 pause = idle < 2 * policy->t_wait ? idle : 2 * policy->t_wait;

	if (flow->known)
		flow->think = (7 * flow->think + pause) / 8;
	htbs_pace_busy(&flow->pace, now, idle, own_service(policy, flow));
	htbs_fair_busy(&policy->shares, &flow->share);
	htbs_fair_busy(&policy->proportions, &flow->proportion);
}

/* What has arrived may have to be begun with before the wait would end. */
static void shorten_wait(struct rule_policy *policy, u64 now)
{
	u64 end;

	if (!policy->waits || policy->overload.now)
		return;
	end = latest(policy, policy->active, policy->load, now, true);
	if (policy->waits == RULE_WAIT_SERVICE)
		end += policy->load.mean;
	if (before(end, policy->wait_until))
		policy->wait_until = end;
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
		become_busy(policy, flow, now);
	if (!flow->pending++) {
		become_backlogged(policy, flow);
		rule_set_head(policy, flow, now, cost, write);
	} else {
		update_head(policy, flow);
	}
	if (!flow->background && owed(flow, now))
		expect_more(policy, flow, now);
	shorten_wait(policy, now);
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
	update_head(policy, flow);
}

/*
 * The device was granted to a flow.  If that is too late too often, more is reserved
 * than the device can do.  Reservations that no device could keep give up first.
 */
static void account_turn(struct rule_policy *policy,
			 const struct rule_flow *flow, u64 now)
{
	u64 position = flow->service.position;
	u64 latency = flow->pace.params.latency;
	struct rule_flow *other;
	bool found = false;

	if (gives_up(policy, flow))
		return;
	if (policy->rotational && latency > 2 * position)
		now += position;
	if (!htbs_overload_account(&policy->overload,
				   before(flow->head.start + latency, now)))
		return;
	if (!policy->alone) {
		list_for_each_entry(other, &policy->backlogged, backlogged)
			found |= impossible(other);
		policy->alone = found;
		update_heads(policy);
	}
	if (policy->alone && !policy->gave_up)
		htbs_overload_end(&policy->overload);
	policy->gave_up = policy->alone;
	if (policy->overload.now)
		set_overload(policy, true);
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
		account_turn(policy, flow, now);
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
		end_backlog(policy, flow);
}

/* A request that had to be served until then has completed. */
static void forget_due(struct rule_policy *policy, u64 due)
{
	u32 i;

	for (i = 0; i < policy->due_count; i++)
		if (policy->due[i] == due) {
			policy->due[i] = policy->due[--policy->due_count];
			break;
		}
	if (!policy->in_flight)
		policy->due_count = 0;
}

/* The last request of the flow that is waited for has completed. */
static void wait_for_arrival(struct rule_policy *policy, u64 now)
{
	u64 end = run_end(policy, now);

	policy->waits = RULE_WAIT_ARRIVAL;
	policy->wait_until = now + max_wait(policy, policy->active);
	if (before(end, policy->wait_until))
		policy->wait_until = later(now, end);
}

/*
 * Does surplus keep a flow behind its pace by more than a latency?  Not if it asks for
 * too few requests at a time to reach its bandwidth on an idle device.
 */
static bool held_up(const struct rule_flow *flow, u64 now,
		    const struct rule_sent *sent)
{
	return before(sent->pace_due, now) &&
	       htbs_fastest_time(&flow->fastest) <
	       sent->depth * htbs_pace_step(&flow->pace, sent->cost);
}

/*
 * A flow that is behind takes time to catch up.  So its pace lowers the quotas once
 * in a latency, and until then raises none.
 */
static void judge_quotas(struct rule_policy *policy, struct rule_flow *flow,
			 u64 now, const struct rule_sent *sent)
{
	bool late = before(sent->due, now);

	if (!late && held_up(flow, now, sent)) {
		if (now - flow->judged < flow->pace.params.latency)
			return;
		flow->judged = now;
		late = true;
	}
	htbs_quota_judge(&policy->quota[0], late);
	htbs_quota_judge(&policy->quota[1], late);
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
	bool was = impossible(flow);

	if (sent->conforms && before(sent->at, sent->due))
		judge_quotas(policy, flow, now, sent);
	htbs_service_time_learn(&policy->service, took, sent->cost, sent->far);
	htbs_service_time_learn(&flow->service, took, sent->cost, sent->far);
	htbs_fastest_learn(&flow->fastest, now, now - sent->at);
	policy->busy_since = now;
	policy->in_flight--;
	policy->load.mean -= sent->load.mean;
	policy->load.variance -= sent->load.variance;
	policy->held = false;
	if (sent->conforms)
		forget_due(policy, sent->due);

	flow->in_flight--;
	flow->idle_since = now;
	flow->need = flow->need ? flow->need - flow->need / 32 + need / 32 : need;
	htbs_fair_charge(&policy->shares, &flow->share,
			 div64_u64(took << 20, weight));
	/* No reservation counts for more than the whole device. */
	if (took > of)
		htbs_fair_charge(&policy->proportions, &flow->proportion,
				 took - of);
	if (flow->pending && impossible(flow) != was)
		update_head(policy, flow);
	if (policy->active == flow && policy->waits == RULE_WAIT_SERVICE)
		wait_for_arrival(policy, now);
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
	u64 wait = SEC;
	u32 i;

	if (policy->waits)
		return policy->wait_until;
	if (!policy->held || policy->rotational)
		return 0;
	for (i = 0; i < 2; i++)
		if (policy->quota[i].full &&
		    htbs_quota_wait(&policy->quota[i]) < wait)
			wait = htbs_quota_wait(&policy->quota[i]);
	return now + wait;
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
