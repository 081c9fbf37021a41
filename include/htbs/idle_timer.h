/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits, and the tunables that bound them.
 */
#ifndef HTBS_IDLE_TIMER_H
#define HTBS_IDLE_TIMER_H

#include <htbs/core/wait.h>
#include <htbs/device.h>
#include <htbs/timer.h>

void htbs_idle_timer_init(struct htbs_device *dev);
void htbs_idle_timer_cancel(struct htbs_device *dev);

void htbs_device_set_t_wait(struct htbs_device *dev, u64 t_wait);
void htbs_device_set_late(struct htbs_device *dev, u32 one_in, u32 one_in_writes);

/**
 * htbs_idle_timer_arm() - arm the timer for the end of a wait or of a hold
 * @dev: the device, locked
 *
 * The timer asks the policy when it expires, so it need not be disarmed.
 */
static inline void htbs_idle_timer_arm(struct htbs_device *dev)
{
	u64 at;

	lockdep_assert_held(&dev->lock);

	if (htbs_policy_timer(&dev->policy, &at))
		htbs_timer_by(&dev->wait_timer, at);
}

#endif /* HTBS_IDLE_TIMER_H */
