/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unthrottle flows when their caps allow it, or when the queue has to be
 * emptied.
 */
#ifndef HTBS_CAP_TIMER_H
#define HTBS_CAP_TIMER_H

#include <htbs/device.h>

int htbs_cap_timer_register(void);
void htbs_cap_timer_unregister(void);
void htbs_cap_timer_init(struct htbs_device *dev);
void htbs_cap_timer_cancel(struct htbs_device *dev);
void htbs_cap_timer_now(struct htbs_device *dev);
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

#endif /* HTBS_CAP_TIMER_H */
