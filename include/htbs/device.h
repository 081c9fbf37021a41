/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's state: one htbs_device per request queue, and one
 * htbs_reservation per device and cgroup that uses it.
 *
 * Locks, outermost first:
 *
 *	queue_lock	(blk-cgroup's) groups come and go, io.htbs is written
 *	blkcg->lock	(blk-cgroup's) a group comes or goes
 *	cgroup->lock	(struct htbs_cgroup) stored reservations; never
 *			together with dev->lock
 *	dev->lock	everything below that is not marked constant; taken by
 *			htbs_device_lock() with interrupts off, because requests
 *			complete in interrupt context
 *	admitted->lock	(struct htbs_admission_set) admitted reservations
 *
 * dev->lock is never held across a call that runs the queue or frees a request,
 * because both call back into the scheduler.
 */
#ifndef HTBS_DEVICE_H
#define HTBS_DEVICE_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <compat/compat.h>
#include <htbs/admission_set.h>
#include <htbs/completions.h>
#include <htbs/core/policy.h>
#include <htbs/ahead.h>

struct htbs_group;
struct htbs_tags;

/**
 * enum htbs_op - the kinds of operations that statistics distinguish
 * @HTBS_OP_READ: reads
 * @HTBS_OP_WRITE: writes
 * @HTBS_OP_DISCARD: operations that move no data
 * @HTBS_OP_NR: their number
 */
enum htbs_op {
	HTBS_OP_READ,
	HTBS_OP_WRITE,
	HTBS_OP_DISCARD,
	HTBS_OP_NR,
};

/**
 * struct htbs_stats - statistics of a reservation
 * @bytes: bytes dispatched, by operation
 * @ios: requests dispatched, by operation
 * @inserted: requests inserted
 * @merged: inserted requests that were merged into another
 * @completed: requests completed
 * @conforming: requests that conformed
 * @met: conforming requests that completed in time
 * @missed: conforming requests that completed late
 * @late_max: the most by which one of them was late, ns
 * @waits: how often the device was idled for this reservation
 * @hits: how often its next request ended such a wait
 */
struct htbs_stats {
	u64 bytes[HTBS_OP_NR];
	u64 ios[HTBS_OP_NR];
	u64 inserted;
	u64 merged;
	u64 completed;
	u64 conforming;
	u64 met;
	u64 missed;
	u64 late_max;
	u64 waits;
	u64 hits;
};

/**
 * struct htbs_reservation - a reservation, or a part of the pool's, and the requests
 * charged to it
 * @flow: the policy's view of it
 * @fifo: its pending requests in order of arrival
 * @by_pos: if the device claims to seek, the same requests by position, for merges and
 *	sweeps: first the asynchronous ones, then the synchronous ones
 * @stats: its statistics
 * @unmerged: requests queued since one was merged, modulo 2^16
 * @reserved_tags: how many tags surplus leaves to it
 * @requests: requests that may still complete; once the group is removed they hold a
 *	reference to @blkg
 * @removed: the group's cgroup or its disk is going away
 * @group: the group it belongs to (constant); NULL for the background
 * @blkg: blk-cgroup's part of the group (constant)
 * @id: the group's cgroup id, for the traces (constant)
 * @node: place in the device's list; the root's and the background are not in it
 * @rcu: frees it when htbs_limit_tag_depth() can no longer be using it
 */
struct htbs_reservation {
	struct htbs_flow flow;
	struct list_head fifo;
	struct rb_root by_pos[2];
	struct htbs_stats stats;
	u16 unmerged;
	u16 reserved_tags;
	u32 requests;
	bool removed;
	struct htbs_group *group;
	struct blkcg_gq *blkg;
	u64 id;
	struct list_head node;
	struct rcu_head rcu;
};

/**
 * struct htbs_device - the scheduler of one request queue
 * @lock: see above
 * @now: when the last event was, real ns
 * @policy: decides what to dispatch
 * @dispatch: requests to dispatch first: inserted at the head, or requeued
 * @exempt: requests that are exempt from their caps; charged on insertion, except those that were
 *	pending when the cap was set
 * @urgent: requests that groups with a reservation may wait for (core/urgent.c), in
 *	the order in which they are due; charged on insertion
 * @first: number of requests on these three lists
 * @exempt_turn: the last request dispatched was one of @exempt
 * @pool_tags: how many tags surplus leaves to the groups without a reservation
 * @reserved_tags: how many tags surplus leaves to reservations; read without
 *	the lock
 * @polled: requests in flight that are polled
 * @ending: number of reservations that have requests although their group was removed
 * @reservations: those of all groups except the root, in no order
 * @reservation_count: their number
 * @ahead: requests that were dispatched before blk-mq asked for them
 * @completions: completed requests that are not accounted for
 * @wait_timer: ends a wait or a hold
 * @cap_timer: unthrottles flows, and runs the queue
 * @waiters_woken: when tasks that wait for tags were last woken, ns
 * @inactive_looked: when it was last checked whether a hardware queue without CPUs has requests
 *	pending, ns
 * @inactive_waits: the result of this check
 * @queue: the queue (constant)
 * @devt: its disk's number, for the traces, because a group may outlive the disk
 *	(constant)
 * @hctx_tags: the number of driver tags of a hardware queue that is not polled, when the
 *	scheduler was attached (constant)
 * @tag_sets: how many such sets of tags there are (constant)
 * @tags: the state of the tags of each hardware queue (tag_depth.c; constant)
 * @shared: the root's reservation, which groups without one share (constant)
 * @root: the group of the root cgroup; freed by RCU
 * @dispatches_ahead: requests may be dispatched before blk-mq asks for them (constant)
 * @has_work: a request can be chosen; read without the lock
 * @prompt: completions have to be accounted for at once, because a request is held back
 *	until another completes, the device is idled, or a removed group goes with its last
 *	request; read without the lock
 * @defaults: the default reservation of all groups without one; written under
 *	queue_lock as well
 * @admitted: the admitted reservations; has a lock of its own
 * @background: the reservation of IOPRIO_CLASS_IDLE
 * @reclaim: frees reservations that are not used
 * @ref: held by the elevator and by every group
 * @hctx_pending: pending requests of reservations, by hardware queue
 *
 * Each request reads the members from @queue to @prompt without the lock. They have a cache
 * line of their own, so that the CPU that holds the lock does not take it from the others.
 */
struct htbs_device {
	spinlock_t lock; /* see above */
	u64 now;
	struct htbs_policy policy;
	struct list_head dispatch;
	struct list_head exempt;
	struct list_head urgent;
	u32 first;
	bool exempt_turn;
	u16 pool_tags;
	u32 reserved_tags;
	u32 polled;
	u32 ending;
	u32 reservation_count;
	struct list_head reservations;
	struct hrtimer wait_timer;
	struct hrtimer cap_timer;
	u64 waiters_woken;
	u64 inactive_looked;
	bool inactive_waits;
	struct request_queue *queue ____cacheline_aligned_in_smp;
	dev_t devt;
	u32 hctx_tags;
	u32 tag_sets;
	struct htbs_tags *tags;
	struct htbs_reservation *shared;
	struct htbs_group *root;
	bool dispatches_ahead;
	bool has_work;
	bool prompt;
	struct htbs_ahead ahead ____cacheline_aligned_in_smp;
	struct htbs_completions completions ____cacheline_aligned_in_smp;
	struct htbs_params defaults ____cacheline_aligned_in_smp;
	struct htbs_admission_set admitted;
	struct htbs_reservation background;
	struct delayed_work reclaim;
	struct kref ref;
	u32 hctx_pending[];
};

/**
 * htbs_device_of() - the device of a queue
 * @q: a queue with this scheduler
 *
 * Return: the device.
 */
static inline struct htbs_device *htbs_device_of(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

/**
 * htbs_flow_owner() - the reservation of a flow
 * @flow: the flow
 *
 * Return: the reservation.
 */
static inline struct htbs_reservation *htbs_flow_owner(struct htbs_flow *flow)
{
	return container_of(flow, struct htbs_reservation, flow);
}

/**
 * htbs_reservation_is_root() - whether a reservation is the root's
 * @res: the reservation
 *
 * Return: true if it is the one that all groups without one share.
 */
static inline bool htbs_reservation_is_root(const struct htbs_reservation *res)
{
	return res->blkg && !res->blkg->parent;
}

/**
 * htbs_reservation_weight() - the weight that was given to a reservation
 * @res: the reservation; its device is locked
 *
 * Return: the weight; 0: none. The weight of the pool belongs to the root's reservation.
 */
static inline u32 htbs_reservation_weight(const struct htbs_reservation *res)
{
	if (htbs_flow_pooled(&res->flow) && !htbs_reservation_is_root(res))
		return 0;
	return res->flow.pool->pace.params.weight;
}

/**
 * htbs_peek() - read a number without dev->lock
 * @number: a number that is written without WRITE_ONCE() under dev->lock
 *
 * For hints only, for which a slightly outdated number is good enough.
 */
#define htbs_peek(number)	data_race(READ_ONCE(number))

void htbs_device_account(struct htbs_device *dev, const struct htbs_completion *own);
void htbs_device_set_prompt(struct htbs_device *dev, bool prompt);

/**
 * htbs_device_run_later() - have the queue run
 * @dev: the device, locked
 *
 * The timer runs it, because the caller may hold queue_lock, under which no queue is run.
 */
static inline void htbs_device_run_later(struct htbs_device *dev)
{
	lockdep_assert_held(&dev->lock);

	hrtimer_start(&dev->cap_timer, ktime_get(), HRTIMER_MODE_ABS);
}

/**
 * htbs_device_lock() - take dev->lock for an event
 * @dev: the device
 * @flags: saved for htbs_device_unlock()
 * @at: when the event was, real ns
 *
 * All earlier completions are accounted for. This may release a request that was held back.
 * So the caller runs the queue afterwards, or releases the lock by htbs_device_unlock_run().
 *
 * The clock is read before the lock is taken, so another event may have come first. The
 * policy's events are in the order of their times.
 *
 * Return: @at or the time of the last event, whichever is later; real ns.
 */
static __always_inline u64 htbs_device_lock(struct htbs_device *dev,
					    unsigned long *flags, u64 at)
	__acquires(&dev->lock)
{
	unsigned long saved;

	spin_lock_irqsave(&dev->lock, saved);
	*flags = saved;
	if (htbs_completions_pending(&dev->completions))
		htbs_device_account(dev, NULL);
	dev->now = htbs_later(dev->now, at);
	return dev->now;
}

/* Update what completions and has_work() read without the lock. */
static __always_inline void htbs_device_publish(struct htbs_device *dev)
{
	bool prompt = htbs_policy_waits(&dev->policy) || dev->ending, has_work;

	/* Other CPUs read both all the time, so write them only if they change. */
	if (dev->prompt != prompt)
		htbs_device_set_prompt(dev, prompt);
	has_work = dev->first || htbs_policy_has_work(&dev->policy);
	if (dev->has_work != has_work)
		WRITE_ONCE(dev->has_work, has_work);
}

/**
 * htbs_device_has_work() - whether blk-mq has to ask for requests
 * @dev: the device, not locked
 *
 * The run of a hardware queue ends when a request finds no tag there. The requests that are in
 * the ring by then count as dispatched, so dev->has_work does not cover them.
 *
 * Return: true if it has to.
 */
static inline bool htbs_device_has_work(const struct htbs_device *dev)
{
	return htbs_ahead_any(&dev->ahead) | READ_ONCE(dev->has_work);
}

/**
 * htbs_device_unlock() - release dev->lock
 * @dev: the device, locked
 * @flags: as saved by htbs_device_lock()
 *
 * The caller runs the queue afterwards. has_work() reads dev->has_work without the lock. No
 * change is missed, because the queue is run after each insertion, completion and timeout.
 */
static __always_inline void htbs_device_unlock(struct htbs_device *dev,
					       unsigned long flags)
	__releases(&dev->lock)
{
	htbs_device_publish(dev);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/**
 * htbs_device_unlock_run() - release dev->lock, and have the queue run if that is needed
 * @dev: the device, locked
 * @flags: as saved by htbs_device_lock()
 *
 * For callers that do not run the queue, because they may hold queue_lock.
 */
static inline void htbs_device_unlock_run(struct htbs_device *dev,
					  unsigned long flags)
	__releases(&dev->lock)
{
	/* With dev->prompt set, dev->has_work may be true for a request that must not go yet. */
	bool had_work = dev->has_work && !dev->prompt;

	htbs_device_publish(dev);
	if (!had_work && dev->has_work)
		htbs_device_run_later(dev);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/**
 * htbs_device_account_pending() - account for completions before data is read without the lock
 * @dev: the device, not locked
 */
static inline void htbs_device_account_pending(struct htbs_device *dev)
{
	unsigned long flags;

	if (!htbs_completions_pending(&dev->completions))
		return;
	htbs_device_lock(dev, &flags, ktime_get_ns());
	htbs_device_unlock_run(dev, flags);
}

#endif /* HTBS_DEVICE_H */
