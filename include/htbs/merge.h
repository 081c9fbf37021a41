/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merges: the operations that blk-mq calls for them.
 */
#ifndef HTBS_MERGE_H
#define HTBS_MERGE_H

#include <compat/compat.h>
#include <htbs/device.h>

bool htbs_allow_merge(struct request_queue *q, struct request *rq,
		      struct bio *bio);
int htbs_request_merge(struct request_queue *q, struct request **rq,
		       struct bio *bio);
bool htbs_bio_merge(struct request_queue *q, struct bio *bio,
		    unsigned int nr_segs);
void htbs_request_merged(struct request_queue *q, struct request *rq,
			 enum elv_merge type);
void htbs_requests_merged(struct request_queue *q, struct request *rq,
			  struct request *next);

#endif /* HTBS_MERGE_H */
