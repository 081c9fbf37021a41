// SPDX-License-Identifier: GPL-2.0
/*
 * Slack.
 *
 * Other flows wait while the active flow has the device. They may, as long as
 * all of them can still be served in time, the earliest deadline first, each
 * request with a seek. With d_1 <= d_2 <= ... the deadlines of their heads, n_k
 * how many requests of the k-th flow may be due with its head (its burst may
 * have arrived at once) and R the time of a request with a seek, the device
 * must begin with them by
 *
 *	min over k of (d_k - (n_1 + ... + n_k) * R)
 *
 * and no other request is begun within an R before that, as it may turn out to
 * need a seek too; nor within as many R as requests are in flight. R is the
 * longest time seen, fading slowly: a mean would be late half of the time.
 *
 * Requests that arrive after a run has ended are not foreseen. They find the
 * deadlines kept in order and, as long as seeks take less than R on average,
 * room.
 *
 * Conforming requests may be so many that not all of them can be served in time
 * at worst, even had they arrived just now: a crowd. There is no slack then,
 * but a device that seeks for each of them may be slower than one that serves
 * some at each place, and the deadlines are lost with the throughput. So in a
 * crowd a turn goes on for a while after its first request. How long is
 * learned, as with a window: half as long from now on if a turn begins with
 * less than three seeks left to its deadline, else a small step longer.
 *
 * The device is overloaded when turns often begin too late, with less than half
 * of the longest seek left, until all requests can be in time again.
 */
#include <htbs/core/curve.h>
#include <htbs/core/slack.h>
#include <htbs/core/tree.h>

/* The inverse weight of a time below the fading maximum. */
#define HTBS_SEEK_FADE		1024

/*
 * The inverse weight of a turn in the moving average of late turns, and the
 * part of late turns above which the device is overloaded: a quarter.
 */
#define HTBS_LATE_WEIGHT	32
#define HTBS_LATE_ON		(HTBS_LATE_ONE / 4)

/* A turn in a crowd begins late with fewer seeks than this to its deadline. */
#define HTBS_TURN_LEFT		3

/* How long a turn in a crowd goes on at first, and a step: parts of a seek. */
#define HTBS_TURN_FIRST		8
#define HTBS_TURN_STEP		256

/**
 * htbs_service_init() - start with nothing known of the device
 * @service: the service times
 * @seek: what a request with a seek is assumed to take, ns
 */
void htbs_service_init(struct htbs_service *service, u64 seek)
{
	service->seek = seek;
	service->turn = seek / HTBS_TURN_FIRST;
	service->since = 0;
	service->streaming = false;
}

/**
 * htbs_service_begin() - a request is dispatched to the idle device
 * @service: the service times
 * @now: real time, ns
 * @streaming: the request continues a run, so its time tells nothing about
 *	seeks
 */
void htbs_service_begin(struct htbs_service *service, u64 now, bool streaming)
{
	service->since = now;
	service->streaming = streaming;
}

/**
 * htbs_service_end() - a request completed
 * @service: the service times
 * @now: real time, ns
 *
 * One time, however long, at most doubles the maximum: a disk that had to spin
 * up or to read a sector again is no slower afterwards.
 *
 * Return: the time since the completion before, or since the device became
 * busy, ns.
 */
u64 htbs_service_end(struct htbs_service *service, u64 now)
{
	u64 took = now - service->since, most = 2 * service->seek + 1;
	u64 sample = took;

	service->since = now;
	if (service->streaming)
		return took;
	if (most > HTBS_SEEK_MAX)
		most = HTBS_SEEK_MAX;
	if (sample > most)
		sample = most;
	if (sample > service->seek)
		service->seek = sample;
	else
		service->seek -= (service->seek - sample) / HTBS_SEEK_FADE;
	return took;
}

/**
 * htbs_service_begin_turn() - a turn begins in a crowd
 * @service: the service times
 * @left: time to the deadline of its first request, ns; 0 if that is over
 */
void htbs_service_begin_turn(struct htbs_service *service, u64 left)
{
	if (left < HTBS_TURN_LEFT * service->seek)
		service->turn /= 2;
	else if (service->turn < HTBS_SEEK_MAX)
		service->turn += service->seek / HTBS_TURN_STEP;
}

/**
 * htbs_overload_account() - a turn begins
 * @overload: the state of overload
 * @late: its first request will not complete in time
 *
 * Return: true if an overload begins.
 */
bool htbs_overload_account(struct htbs_overload *overload, bool late)
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
 * htbs_overload_end() - all pending requests can be served in time
 * @overload: the state of overload
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
 * htbs_slack_end() - until when the other flows can wait
 * @service: the service times
 * @tree: the backlogged flows
 * @active: the active flow
 * @in_flight: number of requests in flight
 * @end: when the run ends in any case, ns
 *
 * Return: the time before which the active flow's next request has to begin,
 * ns; in the past if the other flows cannot wait at all.
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

/* The number of conforming requests with a latency of @latency at most. */
static u32 htbs_slack_rivals(const struct htbs_tree *tree, u64 latency)
{
	const struct htbs_node *node = htbs_tree_first(tree);
	unsigned int heads;
	u32 rivals = 0;

	for (heads = 0; node && heads < HTBS_SLACK_HEADS; heads++) {
		if (node->conforms && node->finish - node->start <= latency)
			rivals += node->count;
		node = htbs_tree_next(node);
	}
	return rivals;
}

/**
 * htbs_slack_crowded() - whether conforming requests are a crowd
 * @service: the service times
 * @tree: the backlogged flows
 * @in_flight: number of conforming requests in flight
 *
 * Return: true if not all would be in time at worst, even had they arrived now.
 */
bool htbs_slack_crowded(const struct htbs_service *service,
			const struct htbs_tree *tree, u32 in_flight)
{
	const struct htbs_node *node = htbs_tree_first(tree);
	unsigned int heads;
	u64 latency, ahead;

	for (heads = 0; node && heads < HTBS_SLACK_HEADS; heads++) {
		latency = node->finish - node->start;
		ahead = in_flight + htbs_slack_rivals(tree, latency) + 1;
		if (node->conforms && ahead * service->seek > latency)
			return true;
		node = htbs_tree_next(node);
	}
	return false;
}
