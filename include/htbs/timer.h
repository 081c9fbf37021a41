/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers that are set far more often than they expire.
 */
#ifndef HTBS_TIMER_H
#define HTBS_TIMER_H

#include <linux/hrtimer.h>

#include <compat/compat.h>
#include <htbs/core/params.h>

/**
 * htbs_timer_by() - let a timer expire no later than a time
 * @timer: the timer; a lock of its owner is held
 * @at: ns, CLOCK_MONOTONIC
 *
 * A timer that is set for an earlier time is left as it is, and has to be set
 * again when it expires. This is rare. Moving the timer with each request would
 * program the clock's hardware each time, which causes an exit in a virtual
 * machine.
 */
static inline void htbs_timer_by(struct hrtimer *timer, u64 at)
{
	if (hrtimer_is_queued(timer) &&
	    !htbs_before(at, htbs_timer_expires(timer)))
		return;
	hrtimer_start(timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

#endif /* HTBS_TIMER_H */
