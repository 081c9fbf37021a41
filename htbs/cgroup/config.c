// SPDX-License-Identifier: GPL-2.0
/*
 * Setting, changing and removing the reservations of groups.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>

#include <htbs/cap_timer.h>
#include <htbs/config.h>
#include <htbs/config_store.h>
#include <htbs/core/policy.h>
#include <htbs/core/throttle.h>
#include <htbs/lookup.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/reservation.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/**
 * htbs_reservation_change() - change the promise of a reservation
 * @res: the reservation
 * @dev: its device, locked
 * @params: the new promise; valid. NULL: it shares the pool's reservation
 *
 * The pool shares the reservation of the root. Pending requests stay in their flow, even
 * if the flow joins or leaves the pool.
 */
void htbs_reservation_change(struct htbs_reservation *res,
			     struct htbs_device *dev,
			     const struct htbs_params *params)
{
	u32 weight = htbs_reservation_weight(res);
	u64 max = res->flow.cap.max;
	u64 now = dev->now;

	lockdep_assert_held(&dev->lock);

	if (htbs_reservation_is_root(res))
		htbs_policy_configure_pool(&dev->policy, &res->flow, params,
					   now);
	else
		htbs_policy_configure(&dev->policy, &res->flow, params, now);
	if (res->flow.cap.max)
		htbs_queue_exempt_pending(dev, res, now);
	htbs_queue_update_head(dev, res);
	htbs_tags_account_move(dev, res);
	if (max && res->flow.pending)
		htbs_cap_timer_now(dev);
	if (weight != htbs_reservation_weight(res))
		htbs_trace_share(dev, res, now);
	if (max != res->flow.cap.max)
		htbs_trace_cap(dev, res, now);
	htbs_trace_config(dev, res, now);
}

/**
 * htbs_reservation_end() - remove the weight and the cap of a reservation
 * @res: the reservation, whose group is removed
 * @dev: its device, locked
 */
void htbs_reservation_end(struct htbs_reservation *res,
			  struct htbs_device *dev)
{
	struct htbs_params *params = &res->flow.pool->pace.params;
	u64 now = dev->now;

	lockdep_assert_held(&dev->lock);

	if (params->weight && !htbs_flow_pooled(&res->flow)) {
		params->weight = 0;
		htbs_trace_share(dev, res, now);
	}
	if (res->flow.cap.max) {
		htbs_policy_set_cap(&dev->policy, &res->flow, 0, now);
		htbs_queue_update_head(dev, res);
		if (res->flow.pending)
			htbs_cap_timer_now(dev);
		htbs_trace_cap(dev, res, now);
	}
}

static int htbs_group_admit(struct htbs_group *group, bool shared,
			    const struct htbs_params *params)
{
	struct htbs_device *dev = group->dev;
	struct htbs_shortfall shortfall;
	int err;

	err = htbs_admission_set_add(&dev->admitted, &group->admission, shared,
				     params, &shortfall);
	if (err)
		htbs_admission_set_refused(dev->queue->disk, &shortfall);
	else if (!shared)
		htbs_admission_set_check_queue(&dev->admitted,
					       dev->queue->disk);
	return err;
}

static void htbs_group_change(struct htbs_group *group, const struct htbs_params *params)
{
	struct htbs_reservation *res = htbs_group_reservation(group);
	struct htbs_device *dev = group->dev;

	lockdep_assert_held(&dev->lock);

	/* Requests of this group and of those below may be charged to another reservation now. */
	htbs_queue_unhash(dev);
	if (res)
		htbs_reservation_change(res, dev, params);
	else
		htbs_trace_config_idle(dev, htbs_group_id(group), params ?: &dev->defaults,
				       !params, dev->now);
	htbs_tags_recount(dev);
}

/*
 * A group with a cap has a reservation before its first request, because all allocations
 * are limited while a group has a cap.
 */
static int htbs_group_prepare_cap(struct htbs_group *group)
{
	struct htbs_device *dev = group->dev;
	struct htbs_reservation *res;
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	res = htbs_group_reservation(group) ?: htbs_reservation_create(dev, group);
	htbs_device_unlock_run(dev, flags);
	return res == dev->shared && group->pd.blkg->parent ? -ENOMEM : 0;
}

static bool htbs_params_equal(const struct htbs_params *a,
			      const struct htbs_params *b)
{
	return a->bw == b->bw && a->burst == b->burst &&
	       a->latency == b->latency && a->weight == b->weight &&
	       a->max == b->max && a->iops == b->iops;
}

/**
 * htbs_group_set() - set the reservation of a group
 * @group: the group; its queue_lock is held
 * @params: what is promised; valid
 * @saved: memory to store it, allocated by the caller; set to NULL if it is used
 *
 * Return: 0, -ENOSPC if it was refused, or -ENOMEM; then nothing has changed.
 */
int htbs_group_set(struct htbs_group *group, const struct htbs_params *params,
		   struct htbs_stored_config **saved)
{
	struct htbs_device *dev = group->dev;
	unsigned long flags;
	int err;

	lockdep_assert_held(&dev->queue->queue_lock);

	/* Writing the same reservation again does not grant a full burst. */
	if (group->configured && htbs_params_equal(params, &group->admission.params))
		return 0;

	err = params->max ? htbs_group_prepare_cap(group) : 0;
	if (err)
		return err;
	err = htbs_group_admit(group, false, params);
	if (err)
		return err;
	htbs_config_store_set(group->pd.blkg, params, saved);
	htbs_device_lock(dev, &flags, ktime_get_ns());
	WRITE_ONCE(group->configured, true);
	htbs_group_change(group, params);
	htbs_device_unlock_run(dev, flags);
	return 0;
}

/**
 * htbs_group_reset() - remove the reservation of a group
 * @group: the group; its queue_lock is held
 *
 * New requests are charged to an ancestor with a reservation. If there is none, the
 * group shares the reservation of the root. Its pending requests do so in any case.
 *
 * Return: 0, or -ENOSPC if the group is the root and the default reservation
 * was refused; then nothing has changed.
 */
int htbs_group_reset(struct htbs_group *group)
{
	bool root = !group->pd.blkg->parent;
	struct htbs_device *dev = group->dev;
	unsigned long flags;
	int err;

	lockdep_assert_held(&dev->queue->queue_lock);

	if (root) {
		err = htbs_group_admit(group, true, &dev->defaults);
		if (err)
			return err;
	} else {
		htbs_admission_set_remove(&dev->admitted, &group->admission);
	}

	htbs_config_store_drop(group->pd.blkg);
	htbs_device_lock(dev, &flags, ktime_get_ns());
	WRITE_ONCE(group->configured, false);
	htbs_group_change(group, root ? &dev->defaults : NULL);
	htbs_device_unlock_run(dev, flags);
	return 0;
}

/**
 * htbs_device_set_defaults() - set the default reservation
 * @dev: the device
 * @params: what is promised; valid
 *
 * Return: 0, or -ENOSPC if it was refused; then nothing has changed.
 */
int htbs_device_set_defaults(struct htbs_device *dev,
			     const struct htbs_params *params)
{
	struct request_queue *q = dev->queue;
	struct htbs_group *root;
	unsigned long flags;
	int err = 0;

	spin_lock_irq(&q->queue_lock);
	root = htbs_group_of(q->root_blkg);
	if (root && root->configured)
		root = NULL;
	if (root)
		err = htbs_group_admit(root, true, params);
	if (!err) {
		htbs_device_lock(dev, &flags, ktime_get_ns());
		dev->defaults = *params;
		if (root)
			htbs_reservation_change(dev->shared, dev, params);
		htbs_device_unlock_run(dev, flags);
	}
	spin_unlock_irq(&q->queue_lock);
	return err;
}
