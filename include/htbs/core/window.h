/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window: how many requests a device that queues may have while requests
 * conform.
 */
#ifndef HTBS_CORE_WINDOW_H
#define HTBS_CORE_WINDOW_H

#include <linux/types.h>

/* More than this no device takes. */
#define HTBS_WINDOW_MAX		1024U

/* The unit of the limit: small steps. */
#define HTBS_WINDOW_ONE		256U

/* Conforming requests keep the window up for so long. */
#define HTBS_WINDOW_HOLD	1000000000ULL	/* ns: 1 s */

/**
 * struct htbs_window - bounds what a device has
 * @limit: requests, in units of 1/HTBS_WINDOW_ONE
 * @until: it is up until then, ns
 * @full: a request was held back since one was judged
 */
struct htbs_window {
	u32 limit;
	u64 until;
	bool full;
};

/**
 * htbs_window_size() - how large is it
 * @window: the window
 *
 * Return: whole requests.
 */
static inline u32 htbs_window_size(const struct htbs_window *window)
{
	return window->limit / HTBS_WINDOW_ONE;
}

/* So many conforming requests in flight are known by their deadlines. */
#define HTBS_DEADLINES_MAX		32

/**
 * struct htbs_deadlines - conforming requests that the device has
 * @count: how many of @due
 * @due: when they are due, ns; in no order
 */
struct htbs_deadlines {
	u32 count;
	u64 due[HTBS_DEADLINES_MAX];
};

void htbs_deadlines_add(struct htbs_deadlines *deadlines, u64 due);
void htbs_deadlines_remove(struct htbs_deadlines *deadlines, u64 due);
bool htbs_deadlines_before(const struct htbs_deadlines *deadlines, u64 time);

void htbs_window_init(struct htbs_window *window);
void htbs_window_hold(struct htbs_window *window, u64 now);
bool htbs_window_open(struct htbs_window *window, u32 in_flight, u64 now);
void htbs_window_update(struct htbs_window *window, u32 in_flight, u64 took,
			u64 budget);

#endif /* HTBS_CORE_WINDOW_H */
