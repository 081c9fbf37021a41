/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels, by macros that Kbuild sets from their headers.
 */
#ifndef SIMDISK_COMPAT_H
#define SIMDISK_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>

/* All queues merge since 6.14. */
#ifndef HAVE_SHOULD_MERGE
#define BLK_MQ_F_SHOULD_MERGE 0
#endif

/* The last argument of init_request. */
#ifdef HAVE_SIGNED_NODE
#define simdisk_node_t int
#else
#define simdisk_node_t unsigned int
#endif

/* On PREEMPT_RT this mode expires in softirq, where requests may be completed. */
static inline void simdisk_setup_timer(struct hrtimer *timer,
				       enum hrtimer_restart (*expired)(struct hrtimer *))
{
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = expired;
#endif
}

#endif /* SIMDISK_COMPAT_H */
