/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups, and the reservation that a request is charged to.
 */
#ifndef HTBS_LOOKUP_H
#define HTBS_LOOKUP_H

#include <linux/cgroup.h>

#include <compat/compat.h>
#include <htbs/device.h>
#include <htbs/request.h>

/**
 * struct htbs_group - a cgroup on a device
 * @pd: blk-cgroup's part; has to be the first member
 * @reservation: the reservation that its requests, and those of the groups that inherit it,
 *	are charged to; NULL: it had no requests recently (reservation.c). Written under
 *	dev->lock
 * @dev: the device; holds a reference. NULL until pd_init
 * @admission: the reservation's entry in the device's admission set; the root's
 *	is that of the default reservation, unless it is configured
 * @configured: the group has a reservation of its own
 * @removed: its cgroup or its disk is going away; written under dev->lock
 * @rcu: frees the group when htbs_group_of_task() can no longer be using it
 * @stats: the statistics while it has no @reservation
 */
struct htbs_group {
	struct blkg_policy_data pd;
	struct htbs_reservation __rcu *reservation;
	struct htbs_device *dev;
	struct htbs_admission_entry admission;
	bool configured;
	bool removed;
	struct rcu_head rcu;
	struct htbs_stats stats;
};

extern struct blkcg_policy htbs_blkcg_policy;

/**
 * htbs_pd_group() - the group that a blkg_policy_data is part of
 * @pd: blk-cgroup's part, or NULL
 *
 * Return: the group, or NULL.
 */
static inline struct htbs_group *htbs_pd_group(struct blkg_policy_data *pd)
{
	return pd ? container_of(pd, struct htbs_group, pd) : NULL;
}

/**
 * htbs_reservation_removed() - whether the group of a reservation was removed
 * @res: the reservation; its device is locked
 *
 * Return: true if it was; the background has no group.
 */
static inline bool htbs_reservation_removed(const struct htbs_reservation *res)
{
	return res->removed;
}

/**
 * htbs_reservation_keep() - keep a removed group until its requests complete
 * @dev: the device, locked
 * @res: its reservation
 */
static inline void htbs_reservation_keep(struct htbs_device *dev,
					 struct htbs_reservation *res)
{
	dev->ending++;
	htbs_blkg_get(res->blkg);
}

/**
 * htbs_rq_hold() - a request is charged to a reservation
 * @dev: the device, locked
 * @rq: the request
 * @res: its reservation
 *
 * The group has to stay until the request has completed. The bios of the request, and their
 * references to the group, may end earlier. Until the group is removed it stays anyway.
 */
static inline void htbs_rq_hold(struct htbs_device *dev, struct request *rq,
				struct htbs_reservation *res)
{
	htbs_rq_set_flag(rq, HTBS_RQ_HOLDS);
	if (!res->requests++ && htbs_reservation_removed(res))
		htbs_reservation_keep(dev, res);
}

/**
 * htbs_reservation_release() - a request has completed, or never will
 * @dev: the device, locked
 * @res: its reservation, which may be gone afterwards
 */
static inline void htbs_reservation_release(struct htbs_device *dev,
					    struct htbs_reservation *res)
{
	if (--res->requests || !htbs_reservation_removed(res))
		return;
	dev->ending--;
	htbs_blkg_put(res->blkg);
}

/**
 * htbs_group_reservation() - what requests of a group are charged to
 * @group: the group; its device is locked
 *
 * Return: the reservation; NULL: the group had no requests recently.
 */
static inline struct htbs_reservation *
htbs_group_reservation(const struct htbs_group *group)
{
	return rcu_dereference_protected(group->reservation,
					 lockdep_is_held(&group->dev->lock));
}

/**
 * htbs_group_id() - the cgroup id of a group
 * @group: the group, alive
 *
 * Return: the id.
 */
static inline u64 htbs_group_id(const struct htbs_group *group)
{
	return cgroup_id(group->pd.blkg->blkcg->css.cgroup);
}

/**
 * htbs_group_cap() - the cap that a group was given
 * @group: the group
 *
 * For hints only, like htbs_peek().
 *
 * Return: bytes/s; 0: none.
 */
static inline u64 htbs_group_cap(const struct htbs_group *group)
{
	return READ_ONCE(group->configured) ? htbs_peek(group->admission.params.max) : 0;
}

struct htbs_group *htbs_group_of(struct blkcg_gq *blkg);
void htbs_group_params(struct htbs_device *dev, const struct htbs_group *group,
		       struct htbs_params *params);
const struct htbs_group *htbs_group_source(const struct htbs_group *group);
bool htbs_group_is_charged(const struct htbs_group *group);
struct htbs_reservation *htbs_reservation_of(struct htbs_device *dev,
					     struct bio *bio);
struct htbs_reservation *htbs_reservation_by_class(struct htbs_device *dev,
						   struct blkcg_gq *blkg,
						   int ioprio, bool for_all);
struct htbs_group *htbs_group_of_task(struct htbs_device *dev);

#endif /* HTBS_LOOKUP_H */
