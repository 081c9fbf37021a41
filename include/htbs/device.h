/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's state: one htbs_device per request queue, one
 * htbs_reservation per cgroup and device.
 *
 * Locks, outermost first:
 *
 *	queue_lock	(blk-cgroup's) groups come and go, io.htbs is written
 *	blkcg->lock	(blk-cgroup's) a group comes or goes
 *	cgroup->lock	(struct htbs_cgroup) what was saved; never together
 *			with dev->lock
 *	dev->lock	everything below that isn't said to be constant; taken
 *			with interrupts off, since requests complete there
 *	admitted->lock	(struct htbs_admission_set) what was promised
 *
 * dev->lock is never held across a call that runs the queue or frees a
 * request, as both come back to us.
 */
#ifndef HTBS_DEVICE_H
#define HTBS_DEVICE_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/spinlock.h>

#include <compat/compat.h>
#include <htbs/admission_set.h>
#include <htbs/core/policy.h>

/* Statistics tell three kinds of operation apart. */
enum htbs_op {
	HTBS_OP_READ,
	HTBS_OP_WRITE,
	HTBS_OP_DISCARD,
	HTBS_OP_NR,
};

/**
 * struct htbs_stats - what a reservation got
 * @bytes: bytes dispatched, by operation
 * @ios: requests dispatched, by operation
 * @inserted: requests that entered the scheduler
 * @merged: of those, merged into another before they were dispatched
 * @completed: requests completed
 * @conforming: requests that kept to the arrival curve
 * @met: of those, completed within the latency
 * @missed: of those, completed after it
 * @late_max: the latest was late by this much, ns
 * @waits: times the device was kept idle for this reservation
 * @hits: of those, its next request came
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
 * struct htbs_reservation - a reservation and the requests charged to it
 * @flow: what the policy knows of it
 * @fifo: its pending requests in order of arrival, so of their tags
 * @by_pos: the same requests by position, for merges and sweeps
 * @stats: what it got
 * @reserved_tags: how many tags surplus leaves for it
 * @blkg: the group it belongs to (constant); NULL for the background
 * @id: that group's cgroup id, for the traces (constant)
 */
struct htbs_reservation {
	struct htbs_flow flow;
	struct list_head fifo;
	struct rb_root by_pos;
	struct htbs_stats stats;
	u32 reserved_tags;
	struct blkcg_gq *blkg;
	u64 id;
};

/**
 * struct htbs_device - the scheduler of one request queue
 * @lock: see above
 * @policy: what to dispatch
 * @dispatch: requests that go first: inserted at the head, or requeued
 * @exempt: requests that others wait for and no cap holds up; charged when they
 *	were inserted
 * @exempt_turn: one of them was dispatched last
 * @reserved_tags: how many tags surplus leaves for reservations; read without the lock
 * @has_work: is there something to dispatch; read without the lock
 * @wait_timer: ends a wait for an arrival
 * @cap_timer: unthrottles flows that a cap throttles
 * @waiters_woken: when those that wait for tags were woken last, ns
 * @queue: the queue (constant)
 * @devt: its disk's number, for the traces (constant): a group may outlive the
 *	disk
 * @defaults: what a group promises that has and inherits no reservation;
 *	written under queue_lock as well
 * @admitted: the reservations that are admitted; has a lock of its own
 * @background: IOPRIO_CLASS_IDLE
 * @ref: the elevator and every group hold one
 */
struct htbs_device {
	spinlock_t lock; /* see above */
	struct htbs_policy policy;
	struct list_head dispatch;
	struct list_head exempt;
	bool exempt_turn;
	u32 reserved_tags;
	bool has_work;
	struct hrtimer wait_timer;
	struct hrtimer cap_timer;
	u64 waiters_woken;
	struct request_queue *queue;
	dev_t devt;
	struct htbs_params defaults;
	struct htbs_admission_set admitted;
	struct htbs_reservation background;
	struct kref ref;
};

static inline struct htbs_device *htbs_device_of(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

static inline struct htbs_reservation *htbs_flow_owner(struct htbs_flow *flow)
{
	return container_of(flow, struct htbs_reservation, flow);
}

/*
 * Read a number of the policy without dev->lock, under which it is written plainly.
 * For hints only, which are as right with the number of a moment ago.
 */
#define htbs_peek(number)	data_race(READ_ONCE(number))

/*
 * Let go of dev->lock after anything that may have changed what can be
 * dispatched.  has_work() reads the result without the lock: who inserts,
 * completes or times out runs the queue afterwards, so no change is missed.
 */
static inline void htbs_device_unlock(struct htbs_device *dev,
				      unsigned long flags)
	__releases(&dev->lock)
{
	bool has_work = !list_empty(&dev->dispatch) ||
			!list_empty(&dev->exempt) ||
			htbs_policy_has_work(&dev->policy);

	WRITE_ONCE(dev->has_work, has_work);
	spin_unlock_irqrestore(&dev->lock, flags);
}

#endif /* HTBS_DEVICE_H */
