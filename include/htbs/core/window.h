/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of a device that does not seek: how many reads it may have in flight
 * without making conforming requests late.
 */
#ifndef HTBS_CORE_WINDOW_H
#define HTBS_CORE_WINDOW_H

#include <linux/types.h>

/* No device takes more requests. */
#define HTBS_WINDOW_MAX		1024U

/* The unit of the limit, for small steps. */
#define HTBS_WINDOW_ONE		256U

/**
 * struct htbs_window - limits the reads in flight
 * @limit: requests, in units of 1/HTBS_WINDOW_ONE
 * @full: a request was held back since the last update
 * @probes: no request was slow yet: the limit is raised by one for each
 * @exceeded: when more than twice the limit were in flight last, real ns
 */
struct htbs_window {
	u32 limit;
	bool full;
	bool probes;
	u64 exceeded;
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

void htbs_window_init(struct htbs_window *window, u64 now);
bool htbs_window_open(struct htbs_window *window, u32 in_flight, u64 now);
void htbs_window_update(struct htbs_window *window, u32 in_flight, bool slow,
			u64 at);

#endif /* HTBS_CORE_WINDOW_H */
