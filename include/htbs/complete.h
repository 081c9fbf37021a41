/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completions, and requests that the driver gives back.
 */
#ifndef HTBS_COMPLETE_H
#define HTBS_COMPLETE_H

#include <htbs/device.h>

void htbs_completed_request(struct request *rq, u64 now);
void htbs_requeue_request(struct request *rq);
void htbs_finish_request(struct request *rq);

#endif /* HTBS_COMPLETE_H */
