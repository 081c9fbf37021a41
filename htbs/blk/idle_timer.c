// SPDX-License-Identifier: GPL-2.0
/*
 * Ends a wait or a hold when the timer expires, or when a tunable changes, because
 * the wait may no longer be worthwhile then.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>

#include <htbs/core/late.h>
#include <htbs/core/policy.h>
#include <htbs/core/wait.h>
#include <htbs/idle_timer.h>
#include <htbs/trace.h>

static enum hrtimer_restart htbs_idle_timer_expired(struct hrtimer *timer)
{
	struct htbs_device *dev = container_of(timer, struct htbs_device,
					       wait_timer);
	struct htbs_flow *active;
	unsigned long flags;
	u64 now;

	now = htbs_device_lock(dev, &flags, ktime_get_ns());
	active = dev->policy.active;
	if (htbs_policy_timeout(&dev->policy, now))
		htbs_trace_wait_end(dev, active, now, HTBS_WAIT_TIMEOUT);
	else
		htbs_idle_timer_arm(dev);
	htbs_device_unlock(dev, flags);

	if (htbs_device_has_work(dev))
		blk_mq_run_hw_queues(dev->queue, true);
	return HRTIMER_NORESTART;
}

/* A tunable has changed: cancel a wait, because it may no longer be worthwhile. */
static void htbs_tunable_changed(struct htbs_device *dev)
{
	struct htbs_flow *active = dev->policy.active;

	lockdep_assert_held(&dev->lock);

	if (htbs_policy_cancel_wait(&dev->policy))
		htbs_trace_wait_end(dev, active, dev->now,
				    HTBS_WAIT_CANCELLED);
	htbs_trace_tunables(dev, false);
}

/**
 * htbs_device_set_t_wait() - set the longest wait
 * @dev: the device
 * @t_wait: ns; 0: never idle the device
 */
void htbs_device_set_t_wait(struct htbs_device *dev, u64 t_wait)
{
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	WRITE_ONCE(dev->policy.t_wait, t_wait);
	htbs_tunable_changed(dev);
	htbs_device_unlock(dev, flags);
	blk_mq_run_hw_queues(dev->queue, true);
}

/**
 * htbs_device_set_late() - set how many conforming requests may be late
 * @dev: the device
 * @one_in: one in this many may be late; 0: do not change it
 * @one_in_writes: the same, beside writes on a device that does not seek; 0: do not change it
 */
void htbs_device_set_late(struct htbs_device *dev, u32 one_in, u32 one_in_writes)
{
	struct htbs_policy *policy = &dev->policy;
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	htbs_policy_set_late(policy, one_in ?: policy->late_one_in,
			     one_in_writes ?: policy->late_one_in_writes);
	htbs_tunable_changed(dev);
	htbs_device_unlock(dev, flags);
	blk_mq_run_hw_queues(dev->queue, true);
}

/**
 * htbs_idle_timer_init() - initialise the timer of a device
 * @dev: the device
 */
void htbs_idle_timer_init(struct htbs_device *dev)
{
	htbs_setup_timer(&dev->wait_timer, htbs_idle_timer_expired);
}

/**
 * htbs_idle_timer_cancel() - cancel the timer of a device
 * @dev: the device; nothing is or will be pending
 */
void htbs_idle_timer_cancel(struct htbs_device *dev)
{
	hrtimer_cancel(&dev->wait_timer);
}
