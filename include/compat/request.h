/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests.
 */
#ifndef HTBS_COMPAT_REQUEST_H
#define HTBS_COMPAT_REQUEST_H

#include <linux/blk-mq.h>
#include <generated/htbs-private.h>

/**
 * htbs_rq_mergeable() - whether a request belongs in the elevator's merge hash
 * @rq: request
 *
 * Return: true if it can grow.
 */
static inline bool htbs_rq_mergeable(struct request *rq)
{
	if (blk_rq_is_passthrough(rq))
		return false;

	switch (req_op(rq)) {
	case REQ_OP_FLUSH:
	case REQ_OP_WRITE_ZEROES:
	case REQ_OP_ZONE_APPEND:
		return false;
	default:
		return !(rq->cmd_flags & REQ_NOMERGE_FLAGS) &&
		       !(rq->rq_flags & RQF_NOMERGE_FLAGS);
	}
}

/**
 * htbs_discard_mergeable() - whether a request takes discards as further ranges
 * @rq: request
 *
 * Return: true if it does.
 */
static inline bool htbs_discard_mergeable(struct request *rq)
{
	return req_op(rq) == REQ_OP_DISCARD && queue_max_discard_segments(rq->q) > 1;
}

/**
 * htbs_rq_scheduled() - whether the elevator decides when a request is dispatched
 * @rq: request that is inserted
 *
 * 6.1 does not prepare FUA writes, and inserts plugged passthrough requests.
 *
 * Return: true if it does.
 */
static inline bool htbs_rq_scheduled(struct request *rq)
{
#ifdef RQF_ELVPRIV
	return (rq->rq_flags & RQF_ELVPRIV) && !blk_rq_is_passthrough(rq);
#else
	return rq->rq_flags & RQF_USE_SCHED;
#endif
}

/**
 * htbs_rq_prepared() - whether the elevator may use its fields of a request
 * @rq: request
 *
 * It may not if the request is not one of the elevator's. On 6.1 the flush code keeps its
 * own data in the same place.
 *
 * Return: true if it may.
 */
static inline bool htbs_rq_prepared(struct request *rq)
{
#ifdef RQF_ELVPRIV
	return rq->rq_flags & RQF_ELVPRIV;
#else
	return rq->rq_flags & RQF_USE_SCHED;
#endif
}

#endif /* HTBS_COMPAT_REQUEST_H */
