// SPDX-License-Identifier: GPL-2.0
/*
 * Who was stopped by a cap goes on.
 *
 * What a cap holds up is pending on a device that may be idle, and then nobody asks
 * for it.  So a timer does, when the first cap allows it.
 *
 * A queue that is frozen, for a switch to another scheduler, say, or because its disk
 * goes, waits until nothing is pending, which at the pace of a cap might take hours.
 * blk-mq doesn't tell us, so while somebody is stopped the timer looks for it, and
 * meanwhile caps stop nobody.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>

#include <htbs/release.h>
#include <htbs/timer.h>
#include <htbs/trace.h>
#include <htbs/wait.h>

/* How long a queue that has to be emptied goes unnoticed at the most. */
#define HTBS_RELEASE_LOOK	(100 * NSEC_PER_MSEC)

/**
 * htbs_release_due() - let go of those whose time has come
 * @dev: the device, locked
 * @now: real time, ns
 */
void htbs_release_due(struct htbs_device *dev, u64 now)
{
	struct htbs_flow *flow;
	bool some = false;

	lockdep_assert_held(&dev->lock);

	while ((flow = htbs_policy_release(&dev->policy, now))) {
		htbs_trace_go(dev, htbs_flow_owner(flow), now);
		some = true;
	}
	if (some && dev->policy.wait == HTBS_WAIT_ARRIVAL)
		htbs_arm_wait_timer(dev);
}

void __htbs_release_arm(struct htbs_device *dev)
{
	u64 at = ktime_get_ns() + HTBS_RELEASE_LOOK, alarm;

	lockdep_assert_held(&dev->lock);

	if (htbs_policy_alarm(&dev->policy, &alarm) && htbs_before(alarm, at))
		at = alarm;
	htbs_timer_by(&dev->release_timer, at);
}

static enum hrtimer_restart htbs_release_expired(struct hrtimer *timer)
{
	struct htbs_device *dev = container_of(timer, struct htbs_device,
					       release_timer);
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&dev->lock, flags);
	now = ktime_get_ns();
	if (htbs_policy_drain(&dev->policy,
			      READ_ONCE(dev->queue->mq_freeze_depth)))
		htbs_trace_drain(dev, now);
	htbs_release_due(dev, now);
	htbs_release_arm(dev);
	htbs_device_unlock(dev, flags);

	if (READ_ONCE(dev->has_work))
		blk_mq_run_hw_queues(dev->queue, true);
	return HRTIMER_NORESTART;
}

/**
 * htbs_release_now() - a cap is gone: what it held up is asked for
 * @dev: the device, locked
 *
 * The timer does it, as the caller may hold queue_lock, with which no queue is run.
 */
void htbs_release_now(struct htbs_device *dev)
{
	lockdep_assert_held(&dev->lock);

	if (dev->policy.wait == HTBS_WAIT_ARRIVAL)
		htbs_arm_wait_timer(dev);
	hrtimer_start(&dev->release_timer, ktime_get(), HRTIMER_MODE_ABS);
}

/**
 * htbs_release_init() - a new device, on which nobody is stopped
 * @dev: the device
 */
void htbs_release_init(struct htbs_device *dev)
{
	htbs_setup_timer(&dev->release_timer, htbs_release_expired);
}

/**
 * htbs_release_cancel() - nothing is pending any more, nor will be
 * @dev: the device
 */
void htbs_release_cancel(struct htbs_device *dev)
{
	hrtimer_cancel(&dev->release_timer);
}
