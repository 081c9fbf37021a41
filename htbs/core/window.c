// SPDX-License-Identifier: GPL-2.0
/*
 * The window on what a device has in flight.
 *
 * A device that takes many requests serves them in an order of its own.  What a
 * request waits for there is not up to the scheduler, but how much there is to wait
 * for: so that is bounded, as long as requests conform, by what is seen of those
 * that do.  Each time one of them completes it is judged by the time that it had
 * when the device got it:
 *
 *	it took more than half of it	there was too much in flight: not more
 *					than an eighth less than that from now on
 *	else				a small step more, if the window was in
 *					the way
 *
 * A step up is 1/32 of a request.  With a window of w it takes 4 * w requests
 * in time to make up for one that was not, so that about one in 4 * w takes more
 * than half of its time, and those that take all of it are much fewer.
 *
 * Conforming requests are not bound by a window.  When none has arrived for a
 * second there is no window.
 *
 * A disk that picks what it reaches first may besides pass a conforming request for
 * as long as it is given others.  So their deadlines are kept, as many as such a
 * disk has commands.
 */
#include <htbs/core/curve.h>
#include <htbs/core/window.h>

/* One that took this part of its time, the inverse of it, came late. */
#define HTBS_WINDOW_PART	2

/* The inverses of the steps: down, of the limit; up, of a request. */
#define HTBS_WINDOW_DOWN	8
#define HTBS_WINDOW_UP		32

/**
 * htbs_window_init() - nothing is known of the device yet
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
 * htbs_window_open() - may the device have a request that doesn't conform
 * @window: the window
 * @in_flight: how many it has
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
 * htbs_window_update() - a conforming request is done
 * @window: the window
 * @in_flight: how many the device had with it
 * @took: how long it was there, ns
 * @budget: how long it could have been, ns
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
 * htbs_deadlines_add() - the device has a conforming request more
 * @deadlines: those it has
 * @due: when it is due, ns
 *
 * One too many is not known of.
 */
void htbs_deadlines_add(struct htbs_deadlines *deadlines, u64 due)
{
	if (deadlines->count < HTBS_DEADLINES_MAX)
		deadlines->due[deadlines->count++] = due;
}

/**
 * htbs_deadlines_remove() - it is there no more
 * @deadlines: those the device has
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
 * htbs_deadlines_before() - is one of them due before some time
 * @deadlines: those the device has
 * @time: when, ns
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
