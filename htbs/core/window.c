// SPDX-License-Identifier: GPL-2.0
/*
 * A window on the reads in flight.
 *
 * A device that takes many requests serves them in an order of its own. How long a
 * read waits there is not up to the scheduler, but how many reads it waits with is.
 * So these are limited while requests conform, by what is seen of conforming
 * requests. When one completes, the time it took is compared with the time that it
 * had when it was dispatched:
 *
 *	it took more than half	too many were in flight: allow an eighth less than
 *				that from now on
 *	else			allow a small step more, if the window held a
 *				request back
 *
 * A step up is 1/32 of a request. With a window of w it takes 4 * w requests in time
 * to make up for one that was not. So about one in 4 * w takes more than half of its
 * time, and those that take all of it are much fewer. Reserved work is not limited.
 */
#include <htbs/core/window.h>

/* The inverses of the steps: down, of the limit; up, of a request. */
#define HTBS_WINDOW_DOWN	8
#define HTBS_WINDOW_UP		32

/**
 * htbs_window_init() - start with a window that limits nothing
 * @window: the window
 */
void htbs_window_init(struct htbs_window *window)
{
	window->limit = HTBS_WINDOW_MAX * HTBS_WINDOW_ONE;
	window->full = false;
}

/**
 * htbs_window_open() - whether a read may be dispatched as surplus
 * @window: the window
 * @in_flight: reads in flight
 *
 * Return: true if it may.
 */
bool htbs_window_open(struct htbs_window *window, u32 in_flight)
{
	if (in_flight * HTBS_WINDOW_ONE < window->limit)
		return true;
	window->full = true;
	return false;
}

/**
 * htbs_window_update() - adapt a window to a completed conforming request
 * @window: the window
 * @in_flight: reads in flight with it
 * @slow: it took more than half of its time, or its flow is behind its pace
 */
void htbs_window_update(struct htbs_window *window, u32 in_flight, bool slow)
{
	u32 used = in_flight * HTBS_WINDOW_ONE;

	if (slow) {
		if (used < window->limit)
			window->limit = used;
		window->limit -= window->limit / HTBS_WINDOW_DOWN;
		if (window->limit < HTBS_WINDOW_ONE)
			window->limit = HTBS_WINDOW_ONE;
	} else if (window->full) {
		window->limit += HTBS_WINDOW_ONE / HTBS_WINDOW_UP;
		if (window->limit > HTBS_WINDOW_MAX * HTBS_WINDOW_ONE)
			window->limit = HTBS_WINDOW_MAX * HTBS_WINDOW_ONE;
	}
	window->full = false;
}
