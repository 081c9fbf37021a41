// SPDX-License-Identifier: GPL-2.0
/*
 * Unthrottle flows when their caps allow it.
 *
 * The requests of a throttled flow are pending on a device that may be idle. blk-mq
 * does not ask for them then, so a timer runs the queue when the first cap allows it.
 *
 * Sometimes the queue has to be drained. At the rate of a cap this might take
 * hours, and at the rate of a limit of surplus half a minute, although no request
 * can arrive for which the limit holds others back:
 *
 *  - the queue is frozen, for example for a switch to another scheduler, or because
 *    its disk is removed;
 *  - the last CPU of one of its hardware queues goes offline, which waits until
 *    nothing is pending there;
 *  - the machine is about to be suspended, which waits for the tasks that wait
 *    for I/O.
 *
 * blk-mq does not notify the scheduler of the first two. The timer checks for them
 * while a flow is throttled, and so does a choice that holds back a request. While
 * the queue is drained, caps throttle nothing and surplus has no limits.
 *
 * A freed tag wakes one waiter. This may be a task of a throttled group, which may
 * not have the tag (tag_depth.c), while a task that may have the tag keeps waiting.
 * If all pending requests are throttled, no other tag is freed for a long time. So
 * the timer also wakes as many waiters as there are tags.
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
 * How often the timer checks whether the queue has to be drained. If requests are throttled, the
 * drain begins at most this much later, or twice this if a CPU went offline.
 */
#define HTBS_CAP_TIMER_LOOK	(100 * NSEC_PER_MSEC)

static bool htbs_suspending;

/* Called before tasks are frozen and after they are thawed. */
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
 * Return true if a pending request belongs to a hardware queue whose CPUs are all
 * offline. No new requests are inserted there, so it is soon empty.
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
 * Return the result of htbs_inactive_has_pending(), which is up to HTBS_CAP_TIMER_LOOK old. It is
 * cached because a device may have many hardware queues, some of them without CPUs for good, and
 * caps and holds end thousands of times a second.
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

/* Check whether the queue has to be drained. Returns true if that has changed. */
static bool htbs_look_for_drain(struct htbs_device *dev, u64 now)
{
	lockdep_assert_held(&dev->lock);

	if (!htbs_policy_drain(&dev->policy, htbs_has_to_drain(dev, now)))
		return false;
	htbs_trace_drain(dev, now);
	return true;
}

/* Return true if it is time to wake the tasks that wait for tags. */
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
 * __htbs_cap_timer_arm() - set the timer to when it has something to do next
 * @dev: the device, locked
 *
 * The timer expires when a flow may dispatch again, and after HTBS_CAP_TIMER_LOOK at the latest.
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
 * __htbs_drain_begins() - check whether the queue has to be drained from now on
 * @dev: the device, locked; its queue did not have to be drained so far
 * @now: real time, ns
 *
 * The timer checks when the drain is over.
 *
 * Return: true if the queue has to be drained.
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
 * The timer runs the queue; see htbs_device_run_later().
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
