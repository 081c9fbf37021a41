/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slack: how long the device may stay with one flow before a conforming request
 * of another flow would be late.
 */
#ifndef HTBS_CORE_SLACK_H
#define HTBS_CORE_SLACK_H

#include <linux/types.h>

#include <htbs/core/tree.h>

/* The number of heads that are looked at, earliest deadlines first: O(1). */
#define HTBS_SLACK_HEADS	16

/* The longest time of a request that slack counts with. */
#define HTBS_SEEK_MAX		1000000000ULL	/* ns: 1 s */

/**
 * struct htbs_service - how long the device takes for a request
 * @seek: for a request that does not continue a run, ns; a maximum that fades
 * @turn: how long a turn in a crowd goes on after its first request, ns
 * @since: when the request in service began, real ns
 * @streaming: the request in service continues a run
 */
struct htbs_service {
	u64 seek;
	u64 turn;
	u64 since;
	bool streaming;
};

/**
 * struct htbs_overload - whether more is reserved than the device can do
 * @late: moving average of the part of the turns that began late, in units of
 *	1/HTBS_LATE_ONE
 * @now: the device is overloaded
 */
struct htbs_overload {
	u32 late;
	bool now;
};

#define HTBS_LATE_ONE		65536

void htbs_service_init(struct htbs_service *service, u64 seek);
void htbs_service_begin(struct htbs_service *service, u64 now, bool streaming);
u64 htbs_service_end(struct htbs_service *service, u64 now);
void htbs_service_begin_turn(struct htbs_service *service, u64 left);

bool htbs_overload_account(struct htbs_overload *overload, bool late);
bool htbs_overload_end(struct htbs_overload *overload);

u64 htbs_slack_end(const struct htbs_service *service,
		   const struct htbs_tree *tree, const struct htbs_node *active,
		   u32 in_flight, u64 end);
bool htbs_slack_crowded(const struct htbs_service *service,
			const struct htbs_tree *tree, u32 in_flight);

#endif /* HTBS_CORE_SLACK_H */
