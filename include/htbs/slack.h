/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slack: how long the device may stay with one reservation before another's
 * conforming request would miss its deadline.
 */
#ifndef HTBS_SLACK_H
#define HTBS_SLACK_H

#include <linux/types.h>

#include <htbs/tree.h>

/**
 * struct htbs_service - how long the device takes for a request
 * @stream: for one that continues a run, ns; a mean
 * @seek: for one that does not, ns; a maximum that fades
 * @since: when it began with the one it has now, ns
 * @streaming: that one continues a run
 */
struct htbs_service {
	u64 stream;
	u64 seek;
	u64 since;
	bool streaming;
};

/**
 * struct htbs_overload - are more deadlines asked for than can be kept
 * @lost: part of the conforming requests, of late, that were dispatched after
 *	their deadline; in units of 1/HTBS_LOST_ONE
 * @now: the device is overloaded
 */
struct htbs_overload {
	u32 lost;
	bool now;
};

#define HTBS_LOST_ONE		65536

void htbs_service_init(struct htbs_service *service, u64 seek);
void htbs_service_begin(struct htbs_service *service, u64 now, bool streaming);
void htbs_service_end(struct htbs_service *service, u64 now);

bool htbs_overload_learn(struct htbs_overload *overload, bool lost);

u64 htbs_slack_end(const struct htbs_service *service,
		   const struct htbs_tree *tree, const struct htbs_node *active,
		   u64 now);

#endif /* HTBS_SLACK_H */
