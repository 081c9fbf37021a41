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
 * htbs_rq_hold() - a request is charged to a reservation
 * @rq: the request
 * @res: its reservation; the device is locked
 *
 * The group has to stay until the request has completed, which may be after its bios
 * have ended, and with them their references.
 */
static inline void htbs_rq_hold(struct request *rq, struct htbs_reservation *res)
{
	htbs_rq_set_flag(rq, HTBS_RQ_HOLDS);
	if (!res->requests++ && res->blkg)
		htbs_blkg_get(res->blkg);
}

/**
 * htbs_rq_release() - a request has completed, or never will
 * @rq: the request
 * @res: its reservation, which may be gone afterwards; the device is locked
 */
static inline void htbs_rq_release(struct request *rq, struct htbs_reservation *res)
{
	htbs_rq_clear_flag(rq, HTBS_RQ_HOLDS);
	if (!--res->requests && res->blkg)
		htbs_blkg_put(res->blkg);
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
u32 htbs_queue_overdue(const struct htbs_reservation *res, u64 now, u64 *late);
void htbs_queue_bypass(struct htbs_device *dev, struct htbs_reservation *res,
		       u32 cost, u64 now);

#endif /* HTBS_QUEUE_H */
