// SPDX-License-Identifier: GPL-2.0
/*
 * Windows on the requests in flight.
 *
 * A device that takes many requests serves them in an order of its own. How
 * long a request waits there is not up to the scheduler, but how many requests
 * it waits with is. So these are limited while requests conform, by what is
 * seen of conforming requests. When one completes, the time it took is compared
 * with the time that it had when it was dispatched:
 *
 *	it took more than half	too many were in flight: allow an eighth
 *				less than that from now on
 *	else			allow a small step more, if the window
 *				held a request back
 *
 * A step up is 1/32 of a request. With a window of w it takes 4 * w requests in
 * time to make up for one that was not. So about one in 4 * w takes more than
 * half of its time, and those that take all of it are much fewer.
 *
 * Conforming requests are not limited by a window. When none has arrived for a
 * second there is no window.
 *
 * A disk that picks the request it reaches first may besides pass a conforming
 * request for as long as it is given others. So their deadlines are kept, as
 * many as such a disk takes commands.
 */
#include <htbs/core/curve.h>
#include <htbs/core/window.h>

/*
 * The inverse of the part of its time after which a request shrinks the window.
 */
#define HTBS_WINDOW_PART	2

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
	window->until = 0;
	window->full = false;
}

/**
 * htbs_window_hold() - a conforming request arrives
 * @window: the window
 * @now: real time, ns
 */
void htbs_window_hold(struct htbs_window *window, u64 now)
{
	window->until = now + HTBS_WINDOW_HOLD;
}

/**
 * htbs_window_open() - whether a surplus request may be dispatched
 * @window: the window
 * @in_flight: number of requests in flight that the window limits
 * @now: real time, ns
 *
 * Return: true if it may.
 */
bool htbs_window_open(struct htbs_window *window, u32 in_flight, u64 now)
{
	if (!htbs_before(now, window->until) ||
	    in_flight * HTBS_WINDOW_ONE < window->limit)
		return true;
	window->full = true;
	return false;
}

/**
 * htbs_window_update() - adapt a window to a completed conforming request
 * @window: the window
 * @in_flight: number of requests in flight with it
 * @took: how long it was in flight, ns
 * @budget: how long it could have been in flight without being late, ns
 */
void htbs_window_update(struct htbs_window *window, u32 in_flight, u64 took,
			u64 budget)
{
	u32 used = in_flight * HTBS_WINDOW_ONE;

	if (took > budget / HTBS_WINDOW_PART) {
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

/**
 * htbs_deadlines_add() - a conforming request is dispatched
 * @deadlines: the conforming requests in flight
 * @due: when it is due, ns
 *
 * Ignored if there are too many.
 */
void htbs_deadlines_add(struct htbs_deadlines *deadlines, u64 due)
{
	if (deadlines->count < HTBS_DEADLINES_MAX)
		deadlines->due[deadlines->count++] = due;
}

/**
 * htbs_deadlines_remove() - a conforming request is no longer in flight
 * @deadlines: the conforming requests in flight
 * @due: when it is due, ns
 */
void htbs_deadlines_remove(struct htbs_deadlines *deadlines, u64 due)
{
	u32 i;

	for (i = 0; i < deadlines->count; i++)
		if (deadlines->due[i] == due) {
			deadlines->due[i] = deadlines->due[--deadlines->count];
			return;
		}
}

/**
 * htbs_deadlines_before() - whether a request in flight is due before a time
 * @deadlines: the conforming requests in flight
 * @time: the time, ns
 *
 * Return: true if one is.
 */
bool htbs_deadlines_before(const struct htbs_deadlines *deadlines, u64 time)
{
	u32 i;

	for (i = 0; i < deadlines->count; i++)
		if (htbs_before(deadlines->due[i], time))
			return true;
	return false;
}
