/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy: which flow is dispatched next, and when the device is idled for a
 * flow. A state machine fed with time and events: it holds no requests, takes
 * no locks and reads no clock.
 */
#ifndef HTBS_CORE_POLICY_H
#define HTBS_CORE_POLICY_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/core/curve.h>
#include <htbs/core/curves.h>
#include <htbs/core/flow.h>
#include <htbs/core/share.h>
#include <htbs/core/slack.h>
#include <htbs/core/tree.h>
#include <htbs/core/window.h>

/**
 * enum htbs_rule - what bounds a run and a wait
 * @HTBS_RULE_PAPER: B_max and T_wait, as in the paper
 * @HTBS_RULE_SLACK: the deadlines of the other flows; also B_max and T_wait
 */
enum htbs_rule {
	HTBS_RULE_PAPER,
	HTBS_RULE_SLACK,
};

/**
 * enum htbs_wait - what the device is idled for while requests may be pending
 * @HTBS_WAIT_NONE: nothing, the device is not idled
 * @HTBS_WAIT_SERVICE: the completion of the active flow's last request, after
 *	which its next one is expected
 * @HTBS_WAIT_ARRIVAL: the arrival of the active flow's next request
 */
enum htbs_wait {
	HTBS_WAIT_NONE,
	HTBS_WAIT_SERVICE,
	HTBS_WAIT_ARRIVAL,
};

/**
 * enum htbs_outcome - how a wait ended
 * @HTBS_WAIT_HIT: the request arrived
 * @HTBS_WAIT_TIMEOUT: the request did not arrive in time
 * @HTBS_WAIT_CANCELLED: the flow or a tunable changed, or the driver gave a
 *	request back
 */
enum htbs_outcome {
	HTBS_WAIT_HIT,
	HTBS_WAIT_TIMEOUT,
	HTBS_WAIT_CANCELLED,
};

/**
 * enum htbs_order - which request of a flow is dispatched
 * @HTBS_ORDER_NONE: a request that bypasses the policy
 * @HTBS_ORDER_OLDEST: the oldest request
 * @HTBS_ORDER_NEAREST: the next request by position
 */
enum htbs_order {
	HTBS_ORDER_NONE,
	HTBS_ORDER_OLDEST,
	HTBS_ORDER_NEAREST,
};

/**
 * struct htbs_policy - the policy's state for one device
 * @tree: the backlogged flows
 * @clock: the device's virtual clock
 * @v: the virtual time by which tags are given; behind @clock in an overload
 * @background: the flow of IOPRIO_CLASS_IDLE, dispatched after all others
 *	(constant)
 * @background_due: when its next request is eligible, real ns
 * @expired: an expired head was chosen before, at @expired_at
 * @expired_at: when the last expired head was chosen, real ns
 * @active: the flow that the device is granted to, or NULL
 * @run: requests of @active dispatched since it became active
 * @wait: what the device is idled for
 * @wait_until: when the wait ends at the latest, real ns
 * @b_max: longest run, requests
 * @t_wait: longest wait, ns; 0: never wait
 * @rule: what bounds a run and a wait
 * @run_since: when @active became active, real ns
 * @crowded: more requests conformed then than the device can complete in time
 *	at worst
 * @turn_until: if @crowded, when the turn ends, real ns
 * @pending: pending requests of all flows
 * @in_flight: requests of all flows that are dispatched and not completed
 * @busy: flows with requests pending or in flight
 * @service: how long the device takes for a request
 * @overload: whether turns begin too late
 * @writes: the writes among @in_flight
 * @window: limits @in_flight: [true] for writes, [false] for all others
 * @held: the chosen request was held back; no choice is made before something
 *	changes
 * @rotational: the device seeks, and reorders requests by position (constant)
 * @inflight_deadlines: the conforming requests among @in_flight, if @rotational
 * @order: which request of its flow was chosen last
 * @shares: how surplus is shared by weight
 * @throttled: flows with requests pending that are throttled by their caps; not
 *	in @tree
 * @drains: the queue has to be emptied: caps throttle nothing
 */
struct htbs_policy {
	struct htbs_tree tree;
	struct htbs_clock clock;
	u64 v;
	struct htbs_flow *background;
	u64 background_due;
	bool expired;
	u64 expired_at;
	struct htbs_flow *active;
	u32 run;
	enum htbs_wait wait;
	u64 wait_until;
	u32 b_max;
	u64 t_wait;
	enum htbs_rule rule;
	u64 run_since;
	bool crowded;
	u64 turn_until;
	u32 pending;
	u32 in_flight;
	u32 busy;
	struct htbs_service service;
	struct htbs_overload overload;
	u32 writes;
	struct htbs_window window[2];
	bool held;
	bool rotational;
	struct htbs_deadlines inflight_deadlines;
	enum htbs_order order;
	struct htbs_shares shares;
	struct rb_root_cached throttled;
	bool drains;
};

/**
 * struct htbs_incoming - an arriving request, as far as the policy needs it
 * @arrived: since when it waits, real ns; not after its insertion
 * @cost: bytes charged
 * @write: moves data to the device, or discards
 */
struct htbs_incoming {
	u64 arrived;
	u32 cost;
	bool write;
};

/**
 * struct htbs_head - the oldest pending request of a flow
 * @kept: its start tags, as stored
 * @due: when it is due, real ns
 * @arrived: since when it waits, real ns
 * @conforms: it conformed when it arrived
 * @write: moves data to the device, or discards
 */
struct htbs_head {
	struct htbs_start_tags kept;
	u64 due;
	u64 arrived;
	bool conforms;
	bool write;
};

/**
 * struct htbs_arrival - how the policy tagged an arriving request
 * @start: start tag S, virtual ns
 * @kept: its start tags to store, see htbs_flow_start_tag()
 * @v: virtual time of the arrival, after the jump
 * @due: when it is due, real ns: the latency after its arrival, or after the
 *	time at which its curve entitles it, if that is later
 * @jump: how far the virtual clock jumped before, ns
 * @conforming: the curve entitles it now: S <= v
 * @hit: the request ended a wait
 * @wait_shortened: a wait for another flow ends earlier, see policy->wait_until
 */
struct htbs_arrival {
	u64 start;
	struct htbs_start_tags kept;
	u64 v;
	u64 due;
	u64 jump;
	bool conforming;
	bool hit;
	bool wait_shortened;
};

/**
 * struct htbs_choice - what to dispatch
 * @flow: dispatch a request of this flow; NULL: dispatch nothing
 * @jump: how far the virtual clock jumped before, ns
 * @order: the oldest request, or the next by position: from flow->sweep on,
 *	then from the first sector on
 * @switched: @flow has just become active
 * @wait_began: the device is idled from now on
 * @timed_out: a wait ended without a request
 * @overload_ended: an overload ended
 * @held: the request is held back until the device has fewer
 */
struct htbs_choice {
	struct htbs_flow *flow;
	u64 jump;
	enum htbs_order order;
	bool switched;
	bool wait_began;
	bool timed_out;
	bool overload_ended;
	bool held;
};

/**
 * struct htbs_sent - a dispatched request, as far as the policy needs it
 * @at: when it was dispatched, real ns
 * @due: when it is due, real ns
 * @conforms: it conformed when it arrived
 * @write: moves data to the device, or discards
 */
struct htbs_sent {
	u64 at;
	u64 due;
	bool conforms;
	bool write;
};

/**
 * htbs_policy_in_flight() - the number of requests of a kind in flight
 * @policy: the policy
 * @write: count writes, or all other requests
 *
 * Return: requests.
 */
static inline u32 htbs_policy_in_flight(const struct htbs_policy *policy,
					bool write)
{
	return write ? policy->writes : policy->in_flight - policy->writes;
}

/**
 * htbs_policy_overloaded() - whether the policy is in overload mode
 * @policy: the policy
 *
 * The paper's rule ignores overloads.
 *
 * Return: true if it is.
 */
static inline bool htbs_policy_overloaded(const struct htbs_policy *policy)
{
	return policy->rule == HTBS_RULE_SLACK && policy->overload.now;
}

/**
 * htbs_policy_weighted() - whether surplus is shared by weight
 * @policy: the policy
 *
 * Return: true if a flow has a weight and there is no overload.
 */
static inline bool htbs_policy_weighted(const struct htbs_policy *policy)
{
	return policy->shares.given && !htbs_policy_overloaded(policy);
}

/**
 * htbs_policy_is_early() - whether a flow's start tag is in the future
 * @policy: the policy; its time is up to date
 * @flow: a flow with requests pending
 *
 * Return: true if it is, and surplus is shared by weight.
 */
static inline bool htbs_policy_is_early(const struct htbs_policy *policy,
					const struct htbs_flow *flow)
{
	return htbs_policy_weighted(policy) &&
	       htbs_before(policy->v, flow->node.start);
}

void htbs_policy_init(struct htbs_policy *policy, struct htbs_flow *background,
		      u32 b_max, u64 t_wait);

void htbs_policy_arrive(struct htbs_policy *policy, struct htbs_flow *flow,
			u64 now, const struct htbs_incoming *in,
			struct htbs_arrival *arrival);
void htbs_policy_choose(struct htbs_policy *policy, u64 now,
			struct htbs_choice *choice);
bool htbs_policy_dispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			  const struct htbs_extent *extent,
			  const struct htbs_sent *sent);
void htbs_policy_remove(struct htbs_policy *policy, struct htbs_flow *flow,
			bool conforming);
void htbs_policy_set_head(struct htbs_policy *policy, struct htbs_flow *flow,
			  const struct htbs_head *head);
bool htbs_policy_complete(struct htbs_policy *policy, struct htbs_flow *flow,
			  u64 now, const struct htbs_sent *sent);
bool htbs_policy_requeue(struct htbs_policy *policy, struct htbs_flow *flow,
			 const struct htbs_sent *sent);
void htbs_policy_redispatch(struct htbs_policy *policy, struct htbs_flow *flow,
			    const struct htbs_sent *sent);
bool htbs_policy_exit_flow(struct htbs_policy *policy, struct htbs_flow *flow);

/**
 * htbs_policy_has_work() - whether a choice would find a request to dispatch
 * @policy: the policy
 *
 * Return: true if a flow that is not throttled has requests pending, none is
 * held back and the device is not idled.
 */
static inline bool htbs_policy_has_work(const struct htbs_policy *policy)
{
	return policy->wait == HTBS_WAIT_NONE && !policy->held &&
	       (!htbs_tree_empty(&policy->tree) || policy->background->pending);
}

#endif /* HTBS_CORE_POLICY_H */
