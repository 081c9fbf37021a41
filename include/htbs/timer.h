/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers that are set far more often than they have to go off.
 */
#ifndef HTBS_TIMER_H
#define HTBS_TIMER_H

#include <linux/hrtimer.h>

#include <htbs/core/curve.h>

/**
 * htbs_timer_by() - let a timer go off by a moment
 * @timer: the timer; its owner is locked
 * @at: ns, CLOCK_MONOTONIC
 *
 * One that is set for an earlier moment stays so, and has to be set anew when it goes
 * off: that is seldom, while to move the timer with each request would be to program
 * the clock's hardware each time, which in a virtual machine is an exit.
 */
static inline void htbs_timer_by(struct hrtimer *timer, u64 at)
{
	if (hrtimer_is_queued(timer) &&
	    !htbs_before(at, hrtimer_get_expires_ns(timer)))
		return;
	hrtimer_start(timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

#endif /* HTBS_TIMER_H */
