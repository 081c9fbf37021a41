/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits, and the tunables that bound them.
 */
#ifndef HTBS_IDLE_TIMER_H
#define HTBS_IDLE_TIMER_H

#include <htbs/device.h>
#include <htbs/timer.h>

void htbs_idle_timer_init(struct htbs_device *dev);
void htbs_idle_timer_cancel(struct htbs_device *dev);

void htbs_device_set_b_max(struct htbs_device *dev, u32 b_max);
void htbs_device_set_t_wait(struct htbs_device *dev, u64 t_wait);
void htbs_device_set_rule(struct htbs_device *dev, enum htbs_rule rule);

/**
 * htbs_idle_timer_arm() - arm the timer when a wait begins or is shortened
 * @dev: the device, locked
 *
 * The timer asks the policy when it goes off, so it need not be disarmed.
 */
static inline void htbs_idle_timer_arm(struct htbs_device *dev)
{
	lockdep_assert_held(&dev->lock);

	htbs_timer_by(&dev->wait_timer, dev->policy.wait_until);
}

#endif /* HTBS_IDLE_TIMER_H */
