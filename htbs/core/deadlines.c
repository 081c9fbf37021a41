// SPDX-License-Identifier: GPL-2.0
/*
 * The deadlines of the requests that a device has in flight.
 *
 * If there is no room for another deadline, the latest one is dropped. HTBS counts the requests in
 * flight with a dropped deadline, and keeps a time before which none of the dropped deadlines is.
 * Once that time is near, the device is drained of these requests.
 */
#include <htbs/core/deadlines.h>
#include <htbs/core/params.h>

/**
 * htbs_deadlines_add() - the device gets a request
 * @deadlines: those of the requests in flight
 * @at: until when the device has to complete it, real ns
 * @due: when it is due by its latency, real ns
 */
void htbs_deadlines_add(struct htbs_deadlines *deadlines, u64 at, u64 due)
{
	struct htbs_deadline deadline = { at, due }, *of = deadlines->of, *latest = of;
	u32 i;

	if (deadlines->count < HTBS_DEADLINES_MAX) {
		of[deadlines->count++] = deadline;
		return;
	}
	for (i = 1; i < HTBS_DEADLINES_MAX; i++)
		if (htbs_before(latest->at, of[i].at))
			latest = &of[i];
	if (htbs_before(at, latest->at)) {
		deadline = *latest;
		*latest = (struct htbs_deadline){ at, due };
	}
	if (!deadlines->later++ || htbs_before(deadline.at, deadlines->later_at))
		deadlines->later_at = deadline.at;
}

/**
 * htbs_deadlines_remove() - the device no longer has a request
 * @deadlines: those of the requests in flight
 * @due: when it was due by its latency, real ns
 *
 * If several requests are due at the same time, the latest of their deadlines is removed. So none
 * of those still in flight has a later deadline than before.
 */
void htbs_deadlines_remove(struct htbs_deadlines *deadlines, u64 due)
{
	struct htbs_deadline *of = deadlines->of, *found = NULL;
	u32 i;

	for (i = 0; i < deadlines->count; i++)
		if (of[i].due == due && (!found || htbs_before(found->at, of[i].at)))
			found = &of[i];
	if (found)
		*found = of[--deadlines->count];
	else
		deadlines->later--;
}

/**
 * htbs_deadlines_between() - whether a request in flight has a deadline between two times
 * @deadlines: those of the requests in flight
 * @from: the deadline is after this, real ns
 * @until: the deadline is before this, real ns
 *
 * Return: true if one has, or may have.
 */
bool htbs_deadlines_between(const struct htbs_deadlines *deadlines, u64 from, u64 until)
{
	u32 i;

	for (i = 0; i < deadlines->count; i++)
		if (htbs_before(from, deadlines->of[i].at) &&
		    htbs_before(deadlines->of[i].at, until))
			return true;
	return deadlines->later && htbs_before(from, deadlines->later_at) &&
	       htbs_before(deadlines->later_at, until);
}
