// SPDX-License-Identifier: GPL-2.0
/*
 * Slack.  A pure room: integers and the tree.
 *
 * Conforming requests of others wait while the active reservation has the
 * device.  They may, as long as all of them can still be served in time, the
 * earliest deadline first, each with a seek.  With d_1 <= d_2 <= ... their
 * deadlines and R the time of a request with a seek, the device has to be left
 * by
 *
 *	min over k of (d_k - k * R)
 *
 * and by half an R before that, since R is an estimate.  R is the largest time
 * seen, fading slowly: a mean would be late half of the time.
 */
#include <htbs/curve.h>
#include <htbs/slack.h>

/* No run is planned further ahead than this. */
#define HTBS_SLACK_HORIZON	1000000000ULL	/* ns: 1 s */

/* So many of those whose deadlines come first are looked at: O(1). */
#define HTBS_SLACK_HEADS	16

/* A new time's weight in the mean, and in the maximum when it is below. */
#define HTBS_STREAM_WEIGHT	8
#define HTBS_SEEK_FADE		256

/* The device is overloaded from a quarter of the deadlines lost to an eighth. */
#define HTBS_LOST_WEIGHT	32
#define HTBS_LOST_ON		(HTBS_LOST_ONE / 4)
#define HTBS_LOST_OFF		(HTBS_LOST_ONE / 8)

/**
 * htbs_service_init() - nothing is known of the device yet
 * @service: what is known of the device
 * @seek: what a request with a seek is believed to take, ns
 */
void htbs_service_init(struct htbs_service *service, u64 seek)
{
	service->stream = 0;
	service->seek = seek;
	service->since = 0;
	service->streaming = false;
}

/**
 * htbs_overload_learn() - a conforming request was dispatched
 * @overload: what is known
 * @lost: its deadline had passed
 *
 * Return: true if this began or ended an overload.
 */
bool htbs_overload_learn(struct htbs_overload *overload, bool lost)
{
	u32 sample = lost ? HTBS_LOST_ONE : 0;
	bool was = overload->now;

	overload->lost = ((HTBS_LOST_WEIGHT - 1) * overload->lost + sample) /
			 HTBS_LOST_WEIGHT;
	overload->now = overload->lost > (was ? HTBS_LOST_OFF : HTBS_LOST_ON);
	return overload->now != was;
}

/**
 * htbs_service_begin() - a request goes to the idle device
 * @service: what is known of the device
 * @now: real time, ns
 * @streaming: it continues a run
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
 */
void htbs_service_end(struct htbs_service *service, u64 now)
{
	u64 took = now - service->since;

	if (service->streaming)
		service->stream += ((s64)took - (s64)service->stream) /
				   HTBS_STREAM_WEIGHT;
	else if (took > service->seek)
		service->seek = took;
	else
		service->seek -= (service->seek - took) / HTBS_SEEK_FADE;
	service->since = now;
}

/**
 * htbs_slack_end() - until when the others can wait
 * @service: what is known of the device
 * @tree: the backlogged reservations
 * @active: the one that has the device
 * @now: real time, ns
 *
 * Return: the moment by which the active reservation's last request has to be
 * complete, ns; before @now if it is too late already.
 */
u64 htbs_slack_end(const struct htbs_service *service,
		   const struct htbs_tree *tree, const struct htbs_node *active,
		   u64 now)
{
	u64 end = now + HTBS_SLACK_HORIZON, ahead = service->seek / 2, latest;
	const struct htbs_node *node;
	unsigned int heads;

	node = htbs_tree_first(tree);
	for (heads = 0; node && heads < HTBS_SLACK_HEADS; heads++) {
		if (node != active) {
			ahead += service->seek;
			latest = node->due - ahead;
			if (htbs_before(latest, end))
				end = latest;
		}
		node = htbs_tree_next(node);
	}
	return end;
}
