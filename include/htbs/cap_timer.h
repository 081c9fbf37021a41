/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unthrottle flows when their caps allow it, or when the queue has to be
 * drained.
 */
#ifndef HTBS_CAP_TIMER_H
#define HTBS_CAP_TIMER_H

#include <htbs/device.h>

int htbs_cap_timer_register(void);
void htbs_cap_timer_unregister(void);
void htbs_cap_timer_init(struct htbs_device *dev);
void htbs_cap_timer_cancel(struct htbs_device *dev);
void htbs_cap_timer_now(struct htbs_device *dev);
bool __htbs_drain_begins(struct htbs_device *dev, u64 now);
void __htbs_cap_timer_arm(struct htbs_device *dev);
void __htbs_unthrottle_due(struct htbs_device *dev, u64 now);

/**
 * htbs_some_throttled() - whether a flow with requests pending is throttled
 * @dev: the device, locked
 *
 * Return: true if one is.
 */
static inline bool htbs_some_throttled(const struct htbs_device *dev)
{
	return !RB_EMPTY_ROOT(&dev->policy.throttled.rb_root);
}

/**
 * htbs_cap_timer_arm() - arm the timer if a flow is throttled
 * @dev: the device, locked
 */
static inline void htbs_cap_timer_arm(struct htbs_device *dev)
{
	if (htbs_some_throttled(dev) || dev->policy.drains)
		__htbs_cap_timer_arm(dev);
}

/**
 * htbs_unthrottle_due() - unthrottle all flows that may dispatch again
 * @dev: the device, locked
 * @now: real time, ns
 */
static inline void htbs_unthrottle_due(struct htbs_device *dev, u64 now)
{
	if (htbs_some_throttled(dev))
		__htbs_unthrottle_due(dev, now);
}

/**
 * htbs_drain_begins() - check for a drain of the queue when a request is held back
 * @dev: the device, locked
 * @now: real time, ns
 *
 * The next choice notices a drain that begins while a request is held back. It comes after
 * htbs_policy_hold_most() at the latest: twice the longest positioning plus t_wait, at least 1 ms.
 *
 * Return: true if a drain begins, so that the next choice holds back nothing.
 */
static inline bool htbs_drain_begins(struct htbs_device *dev, u64 now)
{
	return !dev->policy.drains && __htbs_drain_begins(dev, now);
}

#endif /* HTBS_CAP_TIMER_H */
