// SPDX-License-Identifier: GPL-2.0
/*
 * Slack.  A pure room: integers and the tree.
 *
 * Others wait while the active reservation has the device.  They may, as long
 * as all of them can still be served in time, the earliest deadline first, each
 * request with a seek.  With d_1 <= d_2 <= ... the deadlines of their oldest
 * requests, n_k how many requests of the k-th may be due with its oldest (its
 * burst may have come at once) and R the time of a request with a seek, the
 * device must begin with them by
 *
 *	min over k of (d_k - (n_1 + ... + n_k) * R)
 *
 * and no other request is begun within an R before that, since it may turn out
 * to need a seek too; nor within as many R as the device has requests.  R is the
 * largest time seen, fading slowly: a mean would be late half of the time.
 *
 * What arrives after the device was left is not foreseen.  It finds the deadlines
 * kept in order and, as long as seeks take less than R on the average, room.
 *
 * The device is overloaded when reservations often have their turn too late,
 * until all that is pending can be served in time again.
 */
#include <htbs/curve.h>
#include <htbs/slack.h>

/* The weight of a time in the fading maximum, when it is below. */
#define HTBS_SEEK_FADE		1024

/* The device is overloaded if more than a quarter of the turns, of late, were. */
#define HTBS_LATE_WEIGHT	32
#define HTBS_LATE_ON		(HTBS_LATE_ONE / 4)

/**
 * htbs_service_init() - nothing is known of the device yet
 * @service: what is known of the device
 * @seek: what a request with a seek is believed to take, ns
 */
void htbs_service_init(struct htbs_service *service, u64 seek)
{
	service->seek = seek;
	service->since = 0;
	service->streaming = false;
}

/**
 * htbs_service_begin() - a request goes to the idle device
 * @service: what is known of the device
 * @now: real time, ns
 * @streaming: it continues a run, so its time tells nothing about seeks
 */
void htbs_service_begin(struct htbs_service *service, u64 now, bool streaming)
{
	service->since = now;
	service->streaming = streaming;
}

/**
 * htbs_service_end() - the device is done with it
 * @service: what is known of the device
 * @now: real time, ns
 *
 * One time, however long, at most doubles what is believed: a disk that had to
 * spin up or to read a sector again is no slower afterwards.
 */
void htbs_service_end(struct htbs_service *service, u64 now)
{
	u64 took = now - service->since, most = 2 * service->seek + 1;

	service->since = now;
	if (service->streaming)
		return;
	if (most > HTBS_SEEK_MAX)
		most = HTBS_SEEK_MAX;
	if (took > most)
		took = most;
	if (took > service->seek)
		service->seek = took;
	else
		service->seek -= (service->seek - took) / HTBS_SEEK_FADE;
}

/**
 * htbs_overload_learn() - a reservation has its turn
 * @overload: what is known
 * @late: its oldest request should have been done by now
 *
 * Return: true if an overload begins.
 */
bool htbs_overload_learn(struct htbs_overload *overload, bool late)
{
	u32 sample = late ? HTBS_LATE_ONE : 0;

	overload->late = ((HTBS_LATE_WEIGHT - 1) * overload->late + sample) /
			 HTBS_LATE_WEIGHT;
	if (overload->now || overload->late <= HTBS_LATE_ON)
		return false;
	overload->now = true;
	return true;
}

/**
 * htbs_overload_end() - all that is pending can be served in time
 * @overload: what is known
 *
 * Return: true if an overload ends.
 */
bool htbs_overload_end(struct htbs_overload *overload)
{
	if (!overload->now)
		return false;
	overload->now = false;
	overload->late = 0;
	return true;
}

/**
 * htbs_slack_end() - until when the others can wait
 * @service: what is known of the device
 * @tree: the backlogged reservations
 * @active: the one that has the device
 * @in_flight: how many requests the device has
 * @end: when its run ends anyway, ns
 *
 * Return: the moment before which the active reservation's next request has to
 * begin, ns; in the past if the others can't wait at all.
 */
u64 htbs_slack_end(const struct htbs_service *service,
		   const struct htbs_tree *tree, const struct htbs_node *active,
		   u32 in_flight, u64 end)
{
	u64 ahead = (in_flight + 1) * service->seek, latest;
	const struct htbs_node *node;
	unsigned int heads;

	node = htbs_tree_first(tree);
	for (heads = 0; node && heads < HTBS_SLACK_HEADS; heads++) {
		if (node != active) {
			ahead += node->count * service->seek;
			latest = node->due - ahead;
			if (htbs_before(latest, end))
				end = latest;
		}
		node = htbs_tree_next(node);
	}
	return end;
}
