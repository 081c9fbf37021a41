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
void htbs_unthrottle_due(struct htbs_device *dev, u64 now);
void htbs_cap_timer_now(struct htbs_device *dev);
void __htbs_cap_timer_arm(struct htbs_device *dev);

/**
 * htbs_cap_timer_arm() - arm the timer if a flow is throttled
 * @dev: the device, locked
 */
static inline void htbs_cap_timer_arm(struct htbs_device *dev)
{
	if (!RB_EMPTY_ROOT(&dev->policy.throttled.rb_root) ||
	    dev->policy.drains)
		__htbs_cap_timer_arm(dev);
}

#endif /* HTBS_CAP_TIMER_H */
