/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups, and the reservation that a request is charged to.
 */
#ifndef HTBS_LOOKUP_H
#define HTBS_LOOKUP_H

#include <compat/compat.h>
#include <htbs/device.h>

/**
 * struct htbs_group - a cgroup on a device
 * @pd: blk-cgroup's part; has to be the first member
 * @reservation: the reservation of the group and of the groups that inherit it, or
 *	its part of the one that is shared by all groups without one
 * @dev: the device; holds a reference. NULL until pd_init
 * @admission: the reservation's entry in the device's admission set; the root's
 *	is that of the default reservation, unless it is configured
 * @configured: the group has a reservation of its own
 * @rcu: frees the group when htbs_reservation_of_task() cannot be looking any
 *	more
 */
struct htbs_group {
	struct blkg_policy_data pd;
	struct htbs_reservation reservation;
	struct htbs_device *dev;
	struct htbs_admission_entry admission;
	bool configured;
	struct rcu_head rcu;
};

extern struct blkcg_policy htbs_blkcg_policy;

/**
 * htbs_pd_group() - the group of blk-cgroup's part of it
 * @pd: the part, or NULL
 *
 * Return: the group, or NULL.
 */
static inline struct htbs_group *htbs_pd_group(struct blkg_policy_data *pd)
{
	return pd ? container_of(pd, struct htbs_group, pd) : NULL;
}

struct htbs_group *htbs_group_of(struct blkcg_gq *blkg);
const struct htbs_group *htbs_group_source(const struct htbs_group *group);
bool htbs_group_is_charged(const struct htbs_group *group);
struct htbs_reservation *htbs_reservation_of(struct htbs_device *dev,
					     struct bio *bio);
struct htbs_reservation *htbs_reservation_of_rq(struct htbs_device *dev,
						struct request *rq);
struct htbs_reservation *htbs_reservation_of_task(struct htbs_device *dev);

#endif /* HTBS_LOOKUP_H */
