/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of a reservation: cgroup policy, lookup from a bio, inheritance.
 */
#ifndef HTBS_RESERVATION_H
#define HTBS_RESERVATION_H

#include <compat/compat.h>
#include <htbs/device.h>

struct cftype;
struct htbs_saved;

/**
 * struct htbs_group - a cgroup on a device
 * @pd: blk-cgroup's part; first, as it demands
 * @reservation: what is charged to the group and to those that inherit from it
 * @dev: the device; holds a reference.  NULL until pd_init
 * @promise: the same for admission; the device's default one, of the root
 * @configured: the group has a reservation of its own
 * @rcu: htbs_reservation_of_task() may still be looking
 */
struct htbs_group {
	struct blkg_policy_data pd;
	struct htbs_reservation reservation;
	struct htbs_device *dev;
	struct htbs_promise promise;
	bool configured;
	struct rcu_head rcu;
};

extern struct blkcg_policy htbs_blkcg_policy;

int htbs_reservations_register(struct cftype *files);
void htbs_reservations_unregister(void);

int htbs_reservations_attach(struct htbs_device *dev);
void htbs_reservations_detach(struct htbs_device *dev);
void htbs_device_put(struct htbs_device *dev);

void htbs_reservation_init(struct htbs_reservation *res,
			   struct htbs_device *dev,
			   const struct htbs_params *params);
struct htbs_reservation *htbs_reservation_of(struct htbs_device *dev,
					     struct bio *bio);
struct htbs_reservation *htbs_reservation_of_rq(struct htbs_device *dev,
						struct request *rq);
struct htbs_reservation *htbs_reservation_of_task(struct htbs_device *dev);
void htbs_reservation_change(struct htbs_reservation *res,
			     struct htbs_device *dev,
			     const struct htbs_params *params);

struct htbs_group *htbs_group_of(struct blkcg_gq *blkg);
const struct htbs_group *htbs_group_source(const struct htbs_group *group);
int htbs_group_set(struct htbs_group *group, const struct htbs_params *params,
		   struct htbs_saved **saved);
int htbs_group_reset(struct htbs_group *group);
int htbs_device_set_defaults(struct htbs_device *dev,
			     const struct htbs_params *params);

#endif /* HTBS_RESERVATION_H */
