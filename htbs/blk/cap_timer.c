// SPDX-License-Identifier: GPL-2.0
/*
 * Unthrottling flows when it is time.
 *
 * The requests of a throttled flow are pending on a device that may be idle,
 * and then blk-mq does not ask for them. So a timer runs the queue when the
 * first cap allows it.
 *
 * Sometimes the queue has to be emptied, which at the rate of a cap might take
 * hours, and at that of a limit of surplus half a minute, while no request can arrive
 * for which it holds back others:
 *
 *  - the queue is frozen, for a switch to another scheduler, say, or because
 *    its disk is removed;
 *  - the last CPU of one of its hardware queues goes offline, which waits until
 *    nothing is pending there;
 *  - the machine is about to be suspended, which waits for the tasks that wait
 *    for I/O.
 *
 * blk-mq does not tell of the first two, so the timer looks for them while a
 * flow is throttled, and a choice does that holds back a request. Meanwhile caps throttle
 * nothing, and surplus has no limits.
 *
 * A freed tag wakes one waiter. That may be a task of a throttled group, which
 * may not have the tag (tag_depth.c), while a task that may have it waits; and
 * if all pending requests are throttled, no other tag is freed for long. So the
 * timer wakes as many waiters as there are tags, too.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include <linux/suspend.h>

#include <htbs/cap_timer.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/core/throttle.h>
#include <htbs/idle_timer.h>
#include <htbs/queue.h>
#include <htbs/timer.h>
#include <htbs/trace.h>

/*
 * How often the timer looks whether the queue has to be emptied, and the longest time for which
 * one with throttled requests that has to be goes unnoticed; if a CPU went offline, twice that.
 */
#define HTBS_CAP_TIMER_LOOK	(100 * NSEC_PER_MSEC)

static bool htbs_suspending;

/* Called before tasks are frozen, and after they are thawed. */
static int htbs_pm_notify(struct notifier_block *nb, unsigned long event,
			  void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		WRITE_ONCE(htbs_suspending, true);
		break;
	default:
		WRITE_ONCE(htbs_suspending, false);
	}
	return NOTIFY_DONE;
}

static struct notifier_block htbs_pm_notifier = {
	.notifier_call = htbs_pm_notify,
};

/**
 * htbs_cap_timer_register() - register for notifications of suspends
 *
 * Return: 0 or an error.
 */
int htbs_cap_timer_register(void)
{
	return register_pm_notifier(&htbs_pm_notifier);
}

/**
 * htbs_cap_timer_unregister() - undo htbs_cap_timer_register()
 */
void htbs_cap_timer_unregister(void)
{
	unregister_pm_notifier(&htbs_pm_notifier);
}

/*
 * Whether a pending request belongs to a hardware queue without CPUs. No new
 * requests are inserted there, so it is soon empty.
 */
static bool htbs_inactive_has_pending(const struct htbs_device *dev)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	lockdep_assert_held(&dev->lock);

	queue_for_each_hw_ctx(dev->queue, hctx, i)
		if (dev->hctx_pending[i] && htbs_hctx_inactive(hctx))
			return true;
	return false;
}

/*
 * The same as of late: a device may have many hardware queues, some without CPUs for good,
 * and caps and holds end thousands of times a second.
 */
static bool htbs_inactive_waits(struct htbs_device *dev, u64 now)
{
	lockdep_assert_held(&dev->lock);

	if (now - dev->inactive_looked >= HTBS_CAP_TIMER_LOOK) {
		dev->inactive_looked = now;
		dev->inactive_waits = htbs_inactive_has_pending(dev);
	}
	return dev->inactive_waits;
}

static bool htbs_has_to_drain(struct htbs_device *dev, u64 now)
{
	return htbs_queue_freezes(dev->queue) || READ_ONCE(htbs_suspending) ||
	       htbs_inactive_waits(dev, now);
}

/* Look whether the queue has to be emptied. Returns whether that has changed. */
static bool htbs_look_for_drain(struct htbs_device *dev, u64 now)
{
	lockdep_assert_held(&dev->lock);

	if (!htbs_policy_drain(&dev->policy, htbs_has_to_drain(dev, now)))
		return false;
	htbs_trace_drain(dev, now);
	return true;
}

/* Whether it is time to wake the tasks that wait for tags. */
static bool htbs_wakes_waiters(struct htbs_device *dev, u64 now)
{
	lockdep_assert_held(&dev->lock);

	if (now - dev->waiters_woken < HTBS_CAP_TIMER_LOOK)
		return false;
	dev->waiters_woken = now;
	return true;
}

/**
 * __htbs_unthrottle_due() - unthrottle all flows that may dispatch again
 * @dev: the device, locked
 * @now: real time, ns
 */
void __htbs_unthrottle_due(struct htbs_device *dev, u64 now)
{
	struct htbs_flow *flow;
	bool some = false;

	lockdep_assert_held(&dev->lock);

	while ((flow = htbs_policy_unthrottle(&dev->policy, now))) {
		htbs_trace_go(dev, htbs_flow_owner(flow), now);
		some = true;
	}
	if (some && dev->policy.wait != HTBS_WAIT_NONE)
		htbs_idle_timer_arm(dev);
}

/**
 * __htbs_cap_timer_arm() - set the timer to when it has something to do
 * @dev: the device, locked
 *
 * That is when a flow may dispatch again, and every HTBS_CAP_TIMER_LOOK.
 */
void __htbs_cap_timer_arm(struct htbs_device *dev)
{
	u64 at = ktime_get_ns() + HTBS_CAP_TIMER_LOOK, alarm;

	lockdep_assert_held(&dev->lock);

	if (htbs_policy_next_unthrottle(&dev->policy, &alarm) &&
	    htbs_before(alarm, at))
		at = alarm;
	htbs_timer_by(&dev->cap_timer, at);
}

static enum hrtimer_restart htbs_cap_timer_expired(struct hrtimer *timer)
{
	struct htbs_device *dev = container_of(timer, struct htbs_device,
					       cap_timer);
	unsigned long flags;
	bool wakes;
	u64 now;

	now = htbs_device_lock(dev, &flags, ktime_get_ns());
	wakes = htbs_wakes_waiters(dev, now);
	htbs_look_for_drain(dev, now);
	htbs_unthrottle_due(dev, now);
	htbs_cap_timer_arm(dev);
	htbs_device_unlock(dev, flags);

	if (wakes)
		htbs_wake_tag_waiters(dev->queue);
	if (htbs_device_has_work(dev))
		blk_mq_run_hw_queues(dev->queue, true);
	return HRTIMER_NORESTART;
}

/**
 * __htbs_drain_begins() - look whether the queue has to be emptied from now on
 * @dev: the device, locked; its queue had not to be emptied
 * @now: real time, ns
 *
 * The timer looks whether that is over.
 *
 * Return: true if it has to.
 */
bool __htbs_drain_begins(struct htbs_device *dev, u64 now)
{
	lockdep_assert_held(&dev->lock);

	if (!htbs_look_for_drain(dev, now))
		return false;
	htbs_unthrottle_due(dev, now);
	htbs_cap_timer_arm(dev);
	return true;
}

/**
 * htbs_cap_timer_now() - run the queue after a cap was removed
 * @dev: the device, locked
 *
 * As htbs_device_run_later().
 */
void htbs_cap_timer_now(struct htbs_device *dev)
{
	lockdep_assert_held(&dev->lock);

	if (dev->policy.wait != HTBS_WAIT_NONE)
		htbs_idle_timer_arm(dev);
	htbs_device_run_later(dev);
}

/**
 * htbs_cap_timer_init() - initialise the timer of a device
 * @dev: the device
 */
void htbs_cap_timer_init(struct htbs_device *dev)
{
	htbs_setup_timer(&dev->cap_timer, htbs_cap_timer_expired);
}

/**
 * htbs_cap_timer_cancel() - cancel the timer of a device
 * @dev: the device; nothing is or will be pending
 */
void htbs_cap_timer_cancel(struct htbs_device *dev)
{
	hrtimer_cancel(&dev->cap_timer);
}
