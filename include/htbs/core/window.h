/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows: how many requests a device that queues may have in flight while
 * requests conform.
 */
#ifndef HTBS_CORE_WINDOW_H
#define HTBS_CORE_WINDOW_H

#include <linux/types.h>

/* No device takes more requests. */
#define HTBS_WINDOW_MAX		1024U

/* The unit of the limit, for small steps. */
#define HTBS_WINDOW_ONE		256U

/* A conforming request keeps the window up for this long. */
#define HTBS_WINDOW_HOLD	1000000000ULL	/* ns: 1 s */

/**
 * struct htbs_window - limits the requests in flight
 * @limit: requests, in units of 1/HTBS_WINDOW_ONE
 * @until: the window is up until then, real ns
 * @full: a request was held back since the last update
 */
struct htbs_window {
	u32 limit;
	u64 until;
	bool full;
};

/**
 * htbs_window_size() - the size of a window
 * @window: the window
 *
 * Return: whole requests.
 */
static inline u32 htbs_window_size(const struct htbs_window *window)
{
	return window->limit / HTBS_WINDOW_ONE;
}

/* How many deadlines of requests in flight are kept: a SATA disk's commands. */
#define HTBS_DEADLINES_MAX		32

/**
 * struct htbs_deadlines - the conforming requests in flight
 * @count: number of entries of @due
 * @due: their deadlines, real ns; unordered
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
