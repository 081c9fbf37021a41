/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Caps: what a reservation may have at most, even of an idle device.
 */
#ifndef HTBS_CAP_H
#define HTBS_CAP_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include <htbs/curve.h>

/* So far may it be ahead of its rate, so that a late timer costs it nothing. */
#define HTBS_CAP_AHEAD		10000000ULL	/* ns: 10 ms */

/**
 * struct htbs_cap - a reservation's cap
 * @rb: its place among the stopped while it is backlogged, by when it may go on
 * @curve: what was dispatched of it, in real time; its bw: the cap, 0: none
 * @stopped: it had too much when something of it was last dispatched
 */
struct htbs_cap {
	struct rb_node rb;
	struct htbs_curve curve;
	bool stopped;
};

#endif /* HTBS_CAP_H */
