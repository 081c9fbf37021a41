/* SPDX-License-Identifier: GPL-2.0 */
/*
 * High-resolution timers.
 */
#ifndef HTBS_COMPAT_TIMER_H
#define HTBS_COMPAT_TIMER_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <generated/htbs-private.h>

/**
 * htbs_setup_timer() - initialise a timer of the monotonic clock, absolute
 * @timer: timer
 * @expired: called when it expires
 */
static inline void htbs_setup_timer(struct hrtimer *timer,
				    enum hrtimer_restart (*expired)(struct hrtimer *))
{
#if HTBS_HRTIMER_SETUP
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = expired;
#endif
}

/**
 * htbs_timer_expires() - when a timer expires
 * @timer: timer that is queued
 *
 * Later kernels have no hrtimer_get_expires_ns().
 *
 * Return: ns of the monotonic clock.
 */
static inline u64 htbs_timer_expires(const struct hrtimer *timer)
{
	return ktime_to_ns(hrtimer_get_expires(timer));
}

#endif /* HTBS_COMPAT_TIMER_H */
