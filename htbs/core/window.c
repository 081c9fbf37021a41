// SPDX-License-Identifier: GPL-2.0
/*
 * A window on the reads in flight.
 *
 * A device that takes many requests serves them in an order of its own. How long a
 * read waits there is not up to the scheduler, but how many reads it waits with is.
 * So these are limited while requests conform, by what is seen of conforming
 * requests: whether one took more than three quarters of the time that it had when it
 * was dispatched. A slow one lowers the limit by a part, one in time raises it by a
 * small part of that, if the window held a request back.
 *
 * Few requests are late, and to count those would take too long. The time in a queue
 * has an exponential tail or a shorter one, in which a time t is exceeded by the
 * fourth power of the third root of the part that exceeds 3/4 t. So for one late
 * request in 1000, one in 178 may be slow. Reserved work is not limited.
 */
#include <htbs/core/params.h>
#include <htbs/core/window.h>

/* A step down, as a part of the limit; a step up, as a part of that. */
#define HTBS_WINDOW_DOWN	16
#define HTBS_WINDOW_SLOW	178

/**
 * htbs_window_init() - nothing is known of the device: begin with one read
 * @window: the window
 * @now: real time, ns
 */
void htbs_window_init(struct htbs_window *window, u64 now)
{
	*window = (struct htbs_window){
		.limit		= HTBS_WINDOW_ONE,
		.probes		= true,
		.exceeded	= now - 1,
	};
}

/**
 * htbs_window_open() - whether a read may be dispatched as surplus
 * @window: the window
 * @in_flight: reads in flight
 * @now: real time, ns
 *
 * Return: true if it may.
 */
bool htbs_window_open(struct htbs_window *window, u32 in_flight, u64 now)
{
	u32 used = in_flight * HTBS_WINDOW_ONE;

	if (used < window->limit)
		return true;
	if (used > 2 * window->limit)
		window->exceeded = now;
	window->full = true;
	return false;
}

static void htbs_window_shrink(struct htbs_window *window, u32 used)
{
	u32 part = window->probes ? 2 : HTBS_WINDOW_DOWN;

	if (used < window->limit)
		window->limit = used;
	window->limit -= window->limit / part;
	window->probes = window->limit <= HTBS_WINDOW_ONE;
	if (window->probes)
		window->limit = HTBS_WINDOW_ONE;
}

static void htbs_window_grow(struct htbs_window *window)
{
	u32 step = window->limit / (HTBS_WINDOW_DOWN * HTBS_WINDOW_SLOW) + 1;

	window->limit += window->probes ? HTBS_WINDOW_ONE : step;
	if (window->limit > HTBS_WINDOW_MAX * HTBS_WINDOW_ONE)
		window->limit = HTBS_WINDOW_MAX * HTBS_WINDOW_ONE;
}

/**
 * htbs_window_update() - adapt a window to a completed conforming request
 * @window: the window
 * @in_flight: reads in flight with it
 * @slow: it took most of its time, or its flow is behind its pace
 * @at: when it was dispatched, real ns
 *
 * At first each request in time raises the limit by one; the slow one that ends that
 * halves it. A slow one tells nothing of the limit if many more were in flight with
 * it, from before the limit was in force.
 */
void htbs_window_update(struct htbs_window *window, u32 in_flight, bool slow,
			u64 at)
{
	if (slow && !htbs_before(window->exceeded, at))
		return;
	if (slow)
		htbs_window_shrink(window, in_flight * HTBS_WINDOW_ONE);
	else if (window->full)
		htbs_window_grow(window);
	window->full = false;
}
