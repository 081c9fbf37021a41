// SPDX-License-Identifier: GPL-2.0
/*
 * The reservation that a request is charged to.
 */
#include <linux/blk-mq.h>
#include <linux/cgroup.h>
#include <linux/ioprio.h>
#include <linux/sched.h>

#include <htbs/lookup.h>
#include <htbs/request.h>
#include <htbs/reservation.h>

/* htbs_reservations_register() sets the operations. */
struct blkcg_policy htbs_blkcg_policy;

/**
 * htbs_group_of() - the group of a blkg
 * @blkg: a cgroup on a device
 *
 * Return: NULL if the device is on another scheduler.
 */
struct htbs_group *htbs_group_of(struct blkcg_gq *blkg)
{
	return htbs_pd_group(htbs_blkg_to_pd(blkg, &htbs_blkcg_policy));
}

/*
 * Return true if requests of the groups below are charged to a group, because it was given a
 * reservation. Groups that share the root's reservation are charged themselves, unless the
 * root has a cap.
 */
static bool htbs_group_charges(const struct htbs_device *dev, const struct htbs_group *group)
{
	if (group->pd.blkg->parent)
		return READ_ONCE(group->configured);
	return htbs_peek(dev->shared->flow.cap.max);
}

/*
 * The group that a blkg is charged to: the nearest one upwards, itself included, that
 * was given a reservation, or else its own. A dying blkg may have lost its group. On 6.1
 * its group may even be from before the device was switched away and back.
 */
static __always_inline struct htbs_group *
htbs_group_charged(struct htbs_device *dev, struct blkcg_gq *blkg)
{
	struct htbs_group *group, *own = NULL;

	for (; blkg; blkg = blkg->parent) {
		group = htbs_group_of(blkg);
		if (!group || group->dev != dev)
			continue;
		if (htbs_group_charges(dev, group))
			return group;
		own = own ?: group;
	}
	return own;
}

static __always_inline struct htbs_reservation *
htbs_reservation_in_force(struct htbs_device *dev, struct blkcg_gq *blkg, bool create)
{
	struct htbs_group *group = htbs_group_charged(dev, blkg);
	struct htbs_reservation *res;

	if (!group)
		return dev->shared;
	res = htbs_group_reservation(group);
	return res || !create ? res : htbs_reservation_create(dev, group);
}

static __always_inline struct htbs_reservation *
htbs_reservation_or_background(struct htbs_device *dev, struct htbs_reservation *res,
			       int ioprio, bool for_all)
{
	if (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE && !for_all &&
	    !(res && res->flow.cap.max))
		return &dev->background;
	return res;
}

/**
 * htbs_reservation_by_class() - the reservation that requests are charged to
 * @dev: the device, locked
 * @blkg: their cgroup on it
 * @ioprio: their priority
 * @for_all: other groups may wait for them
 *
 * Requests of the idle class are charged to the background, unless they have a cap, or
 * other groups may wait for them.
 *
 * Return: the reservation.
 */
__always_inline struct htbs_reservation *
htbs_reservation_by_class(struct htbs_device *dev, struct blkcg_gq *blkg,
			  int ioprio, bool for_all)
{
	struct htbs_reservation *res = htbs_reservation_in_force(dev, blkg, true);

	return htbs_reservation_or_background(dev, res, ioprio, for_all);
}

/**
 * htbs_reservation_of() - the reservation that a bio would be charged to
 * @dev: the device, locked
 * @bio: the bio
 *
 * The bio's cgroup counts, never the task that submits the bio, because write-back, md
 * and dm submit on behalf of others.
 *
 * Return: the reservation; NULL: its group has none, and so no request to merge the bio into.
 */
struct htbs_reservation *htbs_reservation_of(struct htbs_device *dev,
					     struct bio *bio)
{
	struct htbs_reservation *res = htbs_reservation_in_force(dev, bio->bi_blkg, false);

	return htbs_reservation_or_background(dev, res, bio->bi_ioprio,
					      htbs_op_issued_as_root(bio->bi_opf));
}

/**
 * htbs_group_of_task() - guess which group a task's next request is charged to
 * @dev: the device
 *
 * Used when there is no bio yet. The guess is right for direct I/O, and wrong for
 * write-back. The caller is in an RCU read-side critical section.
 *
 * Return: the group of the current task; NULL: the background.
 */
struct htbs_group *htbs_group_of_task(struct htbs_device *dev)
{
	struct blkcg *blkcg = htbs_css_to_blkcg(task_css(current, io_cgrp_id));
	struct htbs_group *group;

	group = htbs_group_charged(dev, htbs_blkg_lookup(blkcg, dev->queue)) ?:
		READ_ONCE(dev->root);
	if (group && IOPRIO_PRIO_CLASS(get_current_ioprio()) == IOPRIO_CLASS_IDLE &&
	    !htbs_group_cap(group))
		return NULL;
	return group;
}

/**
 * htbs_group_params() - get the reservation of a group
 * @dev: its device, locked
 * @group: the group
 * @params: what is promised; the default if the group was given no reservation
 */
void htbs_group_params(struct htbs_device *dev, const struct htbs_group *group,
		       struct htbs_params *params)
{
	lockdep_assert_held(&dev->lock);

	if (group->configured)
		htbs_admission_set_get(&dev->admitted, &group->admission, params);
	else
		*params = dev->defaults;
}

/**
 * htbs_group_source() - find the group with the reservation that is in force
 * @group: the group
 *
 * The caller is in an RCU read-side critical section.
 *
 * Return: the group itself or its nearest ancestor that was given a reservation, or
 * the root.
 */
const struct htbs_group *htbs_group_source(const struct htbs_group *group)
{
	const struct htbs_device *dev = group->dev;
	const struct htbs_group *source = NULL;
	struct blkcg_gq *blkg = group->pd.blkg;

	for (; blkg; blkg = blkg->parent) {
		group = htbs_group_of(blkg);
		if (!group || group->dev != dev)
			continue;
		source = group;
		if (READ_ONCE(source->configured))
			break;
	}
	return source;
}

/**
 * htbs_group_is_charged() - whether a group's requests are charged to itself
 * @group: the group
 *
 * The caller is in an RCU read-side critical section.
 *
 * Return: false if they are charged to an ancestor.
 */
bool htbs_group_is_charged(const struct htbs_group *group)
{
	return htbs_group_charged(group->dev, group->pd.blkg) == group;
}
