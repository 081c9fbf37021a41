/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pending requests of a reservation.
 */
#ifndef HTBS_QUEUE_H
#define HTBS_QUEUE_H

#include <compat/compat.h>
#include <htbs/device.h>
#include <htbs/request.h>

/**
 * htbs_queue_oldest() - the oldest pending request
 * @res: the reservation
 *
 * Return: the request, or NULL if none is pending.
 */
static inline struct request *htbs_queue_oldest(struct htbs_reservation *res)
{
	return list_first_entry_or_null(&res->fifo, struct request, queuelist);
}

/**
 * htbs_queue_by_pos() - the tree of pending requests that a request or bio belongs to
 * @res: the reservation
 * @opf: its operation and flags
 *
 * Return: the tree.
 */
static inline struct rb_root *htbs_queue_by_pos(struct htbs_reservation *res,
						blk_opf_t opf)
{
	return &res->by_pos[op_is_sync(opf)];
}

/**
 * htbs_queue_count() - count a request that becomes pending
 * @dev: the device, locked
 * @res: the reservation
 * @rq: the request
 */
static inline void htbs_queue_count(struct htbs_device *dev, struct htbs_reservation *res,
				    const struct request *rq)
{
	lockdep_assert_held(&dev->lock);

	dev->hctx_pending[rq->mq_hctx->queue_num]++;
	res->unmerged++;
}

bool htbs_queue_merges(const struct htbs_device *dev,
		       const struct htbs_reservation *res);
void htbs_queue_add(struct htbs_device *dev, struct htbs_reservation *res,
		    struct request *rq);
void htbs_queue_take(struct htbs_device *dev, struct htbs_reservation *res,
		     struct request *rq);
struct request *htbs_queue_nearest(struct htbs_reservation *res);
void htbs_queue_update_head(struct htbs_device *dev,
			    struct htbs_reservation *res);
void htbs_queue_exempt_pending(struct htbs_device *dev,
			       struct htbs_reservation *res, u64 now);
void htbs_queue_unhash(struct htbs_device *dev);
u32 htbs_queue_overdue(const struct htbs_reservation *res, u64 now, u64 *late);
void htbs_queue_bypass(struct htbs_device *dev, struct htbs_reservation *res,
		       u32 cost, u64 now);

#endif /* HTBS_QUEUE_H */
