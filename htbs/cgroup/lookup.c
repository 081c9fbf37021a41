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

/* The operations are set by htbs_reservations_register(). */
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
 * Whether requests of the groups below are charged to a group: it was given a
 * reservation. The root's is shared by groups that are charged themselves; but not
 * its cap.
 */
static bool htbs_group_charges(struct htbs_group *group)
{
	if (group->pd.blkg->parent)
		return READ_ONCE(group->configured);
	return htbs_peek(group->reservation.flow.cap.max);
}

/*
 * The group that a blkg is charged to: the nearest ancestor that was given a
 * reservation, or its own. A dying blkg may have lost its group, and on 6.1 may
 * have a group of the time before the device was switched away and back.
 */
static __always_inline struct htbs_group *
htbs_group_charged(struct htbs_device *dev, struct blkcg_gq *blkg)
{
	struct htbs_group *group, *own = NULL;

	for (; blkg; blkg = blkg->parent) {
		group = htbs_group_of(blkg);
		if (!group || group->dev != dev)
			continue;
		if (htbs_group_charges(group))
			return group;
		own = own ?: group;
	}
	return own;
}

static __always_inline struct htbs_reservation *
htbs_reservation_in_force(struct htbs_device *dev, struct blkcg_gq *blkg)
{
	struct htbs_group *group = htbs_group_charged(dev, blkg);

	if (!group)
		group = htbs_group_of(dev->queue->root_blkg);
	return group ? &group->reservation : &dev->background;
}

/**
 * htbs_reservation_by_class() - the reservation that requests are charged to
 * @dev: the device
 * @blkg: their cgroup on it
 * @ioprio: their priority
 * @for_all: other groups may wait for them
 *
 * Requests of the idle class go to the background, except to get around a cap, and
 * except requests that other groups may wait for.
 *
 * Return: the reservation.
 */
__always_inline struct htbs_reservation *
htbs_reservation_by_class(struct htbs_device *dev, struct blkcg_gq *blkg,
			  int ioprio, bool for_all)
{
	struct htbs_reservation *res = htbs_reservation_in_force(dev, blkg);

	if (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE && !for_all &&
	    !htbs_peek(res->flow.cap.max))
		return &dev->background;
	return res;
}

/**
 * htbs_reservation_of() - the reservation that a bio is charged to
 * @dev: the device
 * @bio: the bio
 *
 * By the bio's cgroup, never by the task that submits it: write-back, md and dm
 * submit on behalf of others.
 *
 * Return: the reservation.
 */
struct htbs_reservation *htbs_reservation_of(struct htbs_device *dev,
					     struct bio *bio)
{
	return htbs_reservation_by_class(dev, bio->bi_blkg, bio->bi_ioprio,
					 htbs_op_issued_as_root(bio->bi_opf));
}

/**
 * htbs_reservation_of_task() - guess what a task's next request is charged to
 * @dev: the device
 *
 * For when there is no bio yet. Right for direct I/O, wrong for write-back. The
 * caller is in an RCU read-side critical section.
 *
 * Return: the reservation of the current task.
 */
struct htbs_reservation *htbs_reservation_of_task(struct htbs_device *dev)
{
	struct blkcg *blkcg = htbs_css_to_blkcg(task_css(current, io_cgrp_id));
	struct blkcg_gq *blkg = htbs_blkg_lookup(blkcg, dev->queue);

	return htbs_reservation_by_class(dev, blkg, get_current_ioprio(),
					 false);
}

/**
 * htbs_group_source() - the group with the reservation that is in force
 * @group: the group
 *
 * The caller is in an RCU read-side critical section.
 *
 * Return: the group itself, the nearest ancestor that was given one, or the
 * root.
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
