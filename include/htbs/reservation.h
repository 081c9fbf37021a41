/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reservations are created with the first request of a group, and freed when the group is idle.
 */
#ifndef HTBS_RESERVATION_H
#define HTBS_RESERVATION_H

#include <htbs/device.h>

struct htbs_group;

int htbs_reservation_cache_create(void);
void htbs_reservation_cache_destroy(void);
struct htbs_reservation *htbs_reservation_alloc(gfp_t gfp);
void htbs_reservation_free(struct htbs_reservation *res);
void htbs_reservation_init(struct htbs_reservation *res,
			   struct htbs_device *dev,
			   const struct htbs_params *params);
struct htbs_reservation *htbs_reservation_create(struct htbs_device *dev,
						 struct htbs_group *group);
void htbs_reservation_destroy(struct htbs_device *dev, struct htbs_reservation *res);

void htbs_reclaim_init(struct htbs_device *dev);
void htbs_reclaim_cancel(struct htbs_device *dev);

#endif /* HTBS_RESERVATION_H */
