/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy: which reservation is served next, and when to keep the disk
 * idle for one.  A state machine fed with time and events; it holds no
 * requests, takes no locks and reads no clock.
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
 * @HTBS_RULE_SLACK: what the others can bear; also B_max and T_wait
 */
enum htbs_rule {
	HTBS_RULE_PAPER,
	HTBS_RULE_SLACK,
};

/**
 * enum htbs_wait - is the device kept from serving what is pending, and why
 * @HTBS_WAIT_NONE: it is not
 * @HTBS_WAIT_SERVICE: the active reservation's last request is being served,
 *	and its next one is expected
 * @HTBS_WAIT_ARRIVAL: the active reservation's next request is expected
 */
enum htbs_wait {
	HTBS_WAIT_NONE,
	HTBS_WAIT_SERVICE,
	HTBS_WAIT_ARRIVAL,
};

/**
 * enum htbs_outcome - how a wait ended
 * @HTBS_WAIT_HIT: the request came
 * @HTBS_WAIT_TIMEOUT: it did not come within T_wait
 * @HTBS_WAIT_CANCELLED: the reservation or a tunable changed
 */
enum htbs_outcome {
	HTBS_WAIT_HIT,
	HTBS_WAIT_TIMEOUT,
	HTBS_WAIT_CANCELLED,
};

/**
 * enum htbs_order - which of a reservation's requests it is
 * @HTBS_ORDER_NONE: one that goes past the policy, before all others
 * @HTBS_ORDER_OLDEST: the oldest one
 * @HTBS_ORDER_NEAREST: the next one by position
 */
enum htbs_order {
	HTBS_ORDER_NONE,
	HTBS_ORDER_OLDEST,
	HTBS_ORDER_NEAREST,
};

/**
 * struct htbs_policy - the policy's state for one device
 * @tree: the backlogged reservations
 * @clock: the device's virtual clock
 * @v: the virtual time by which tags are given; behind @clock in an overload
 * @background: requests that go behind all others (constant)
 * @background_due: when one of them goes first all the same, ns
 * @expired: an expired head was chosen once
 * @expired_at: when one was last, ns
 * @active: the reservation that the device is granted to, or NULL
 * @run: requests of @active dispatched since it became active
 * @wait: is the device kept idle for @active
 * @wait_until: when the wait ends at the latest, ns
 * @b_max: longest run of one reservation, requests
 * @t_wait: longest wait, ns; 0: never wait
 * @rule: what bounds a run and a wait
 * @run_since: when @active became active, ns
 * @crowded: then more conformed than can be in time at worst
 * @turn_until: if @crowded, when its turn is over, ns
 * @pending: requests waiting in the scheduler, of all reservations
 * @in_flight: requests dispatched and not completed, of all reservations
 * @busy: reservations that have requests pending or in flight
 * @service: how long the device takes for a request
 * @overload: do turns come too late
 * @writes: those of @in_flight that write
 * @window: bounds them, [true], and the others, [false]
 * @held: what was to be dispatched is held back until something changes
 * @rotational: the device seeks, and serves first what it reaches first (constant)
 * @inflight_deadlines: those of @in_flight that conform, if @rotational
 * @order: which of its reservation's requests was chosen
 * @shares: of what is not reserved
 * @throttled: those with requests pending that their caps stop; not in @tree
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
 * struct htbs_incoming - what the policy must know of a request that arrives
 * @arrived: since when it waits, real ns; not after its insertion
 * @cost: what it is charged, bytes
 * @write: it writes
 */
struct htbs_incoming {
	u64 arrived;
	u32 cost;
	bool write;
};

/**
 * struct htbs_head - the oldest pending request of a reservation
 * @kept: its start tags as they are kept
 * @due: when it is due, real ns
 * @arrived: since when it waits, real ns
 * @conforms: it did when it arrived
 * @write: it writes
 */
struct htbs_head {
	struct htbs_start_tags kept;
	u64 due;
	u64 arrived;
	bool conforms;
	bool write;
};

/**
 * struct htbs_arrival - what the policy made of an arrival
 * @start: start tag S, virtual ns
 * @kept: its start tags to keep, see htbs_flow_start_tag()
 * @v: virtual time of the arrival, after the jump
 * @due: when it is due, real ns: had it come when the curve entitles it, it
 *	would be due then
 * @jump: how far the virtual clock jumped first, ns
 * @conforming: it came no earlier than that: S <= v
 * @hit: a wait ended by this arrival
 * @wait_shortened: the wait for another's ends earlier now: policy->wait_until
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
 * @flow: dispatch a request of this one; NULL: of none
 * @jump: how far the virtual clock jumped first, ns
 * @order: the oldest, or the next one by position: from flow->sweep on, and then
 *	from the first sector on
 * @switched: @flow has just become the active reservation
 * @wait_began: the device is kept idle as from now
 * @timed_out: a wait ended without its request
 * @overload_ended: an overload ended
 * @held: a request is held back until the device has less
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
 * struct htbs_sent - what the policy must know of a request that the device has
 * @at: when it got it, ns
 * @due: when it is due, real ns
 * @conforms: it did when it arrived
 * @write: it writes
 */
struct htbs_sent {
	u64 at;
	u64 due;
	bool conforms;
	bool write;
};

/**
 * htbs_policy_in_flight() - how many requests of a kind the device has
 * @policy: the policy
 * @write: those that write, or the others
 *
 * Return: requests.
 */
static inline u32 htbs_policy_in_flight(const struct htbs_policy *policy,
					bool write)
{
	return write ? policy->writes : policy->in_flight - policy->writes;
}

/**
 * htbs_policy_overloaded() - is an overload dealt with
 * @policy: the policy
 *
 * Return: true if there is one, which the paper's rule ignores.
 */
static inline bool htbs_policy_overloaded(const struct htbs_policy *policy)
{
	return policy->rule == HTBS_RULE_SLACK && policy->overload.now;
}

/**
 * htbs_policy_weighted() - does the rest go by weights
 * @policy: the policy
 *
 * Return: true if a weight is given, but for an overload.
 */
static inline bool htbs_policy_weighted(const struct htbs_policy *policy)
{
	return policy->shares.given && !htbs_policy_overloaded(policy);
}

/**
 * htbs_policy_is_early() - is a reservation's oldest request not entitled yet
 * @policy: the policy; its time is up to date
 * @flow: a reservation with requests pending
 *
 * Return: true if the rest goes by weights, and it would be served from that.
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
 * htbs_policy_has_work() - would a choice find something to serve
 * @policy: the policy
 *
 * Return: true if requests are pending of one that isn't throttled, none is held
 * back, and the device isn't kept idle.
 */
static inline bool htbs_policy_has_work(const struct htbs_policy *policy)
{
	return policy->wait == HTBS_WAIT_NONE && !policy->held &&
	       (!htbs_tree_empty(&policy->tree) || policy->background->pending);
}

#endif /* HTBS_CORE_POLICY_H */
