// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: cgroups on devices.
 *
 * Every cgroup that does I/O on a device with this scheduler has an htbs_group
 * there. The requests of a group with a reservation, and of the groups below it
 * without one, are charged to it. All other groups share one reservation, that of the
 * root group, each with a flow of its own (core/pool.c). It is the device's default
 * reservation unless the root was given another one. While the root has a cap, all
 * these groups are charged to the root.
 *
 * The requests of a removed cgroup hold a reference to the blkg that they are charged
 * to, so its group lives until the last of them has completed. This may be after its
 * device was switched to another scheduler, and on 6.1 even after the cgroup
 * policy was deactivated there. So each group holds a reference to the device, and
 * the number of live groups is counted. The module waits for the last of them before
 * it is unloaded, because blk-cgroup would otherwise call freed text.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/cgroup.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <htbs/cap_timer.h>
#include <htbs/config.h>
#include <htbs/config_store.h>
#include <htbs/core/policy.h>
#include <htbs/group.h>
#include <htbs/lookup.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/reservation.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

static atomic_t htbs_groups_alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(htbs_groups_gone);

/* How often an unload that waits for groups logs a notice. */
#define HTBS_GONE_NOTICE	(10 * HZ)

static void htbs_device_release(struct kref *ref)
{
	struct htbs_device *dev = container_of(ref, struct htbs_device, ref);

	htbs_reservation_free(dev->shared);
	kfree(dev);
}

/**
 * htbs_device_put() - drop a reference to a device
 * @dev: the device
 */
void htbs_device_put(struct htbs_device *dev)
{
	kref_put(&dev->ref, htbs_device_release);
}

/* Groups: called by blk-cgroup when a cgroup comes to a device or leaves it. */

static struct kmem_cache *htbs_group_cache;

static struct blkg_policy_data *htbs_group_alloc(gfp_t gfp)
{
	/* The queue may be frozen, so reclaim must not do I/O. */
	struct htbs_group *group = kmem_cache_zalloc(htbs_group_cache,
						     gfp & ~(__GFP_IO | __GFP_FS));

	if (!group)
		return NULL;
	atomic_inc(&htbs_groups_alive);
	return &group->pd;
}

HTBS_DEFINE_PD_ALLOC(htbs_pd_alloc, htbs_group_alloc)

/* The root has a reservation before the first request. */
static void htbs_group_init_root(struct htbs_group *group, struct htbs_device *dev,
				 const struct htbs_params *params)
{
	struct htbs_reservation *res = dev->shared;

	lockdep_assert_held(&dev->lock);

	res->group = group;
	res->blkg = group->pd.blkg;
	res->id = htbs_group_id(group);
	htbs_reservation_init(res, dev, NULL);
	htbs_policy_configure_pool(&dev->policy, &res->flow, params, res->flow.idle_since);
	htbs_trace_join(dev, res);
	rcu_assign_pointer(group->reservation, res);
	WRITE_ONCE(dev->root, group);
}

/* Called under queue_lock, with the elevator in place. */
static void htbs_pd_init(struct blkg_policy_data *pd)
{
	struct htbs_group *group = htbs_pd_group(pd);
	struct htbs_device *dev = pd->blkg->q->elevator->elevator_data;
	bool root = !pd->blkg->parent;
	struct htbs_params params;
	unsigned long flags;

	group->configured = htbs_config_store_get(pd->blkg, &params);
	htbs_admission_entry_init(&group->admission, !group->configured);
	htbs_device_lock(dev, &flags, ktime_get_ns());
	if (!group->configured)
		params = dev->defaults;
	if (root)
		htbs_group_init_root(group, dev, &params);
	kref_get(&dev->ref);
	if (group->configured || root)
		htbs_admission_set_force(&dev->admitted, &group->admission,
					 &params);
	if (group->configured && params.max && !root)
		htbs_reservation_create(dev, group);
	htbs_tags_recount(dev);
	htbs_device_unlock_run(dev, flags);
	/* From 7.2 on, the files may be shown as soon as group->dev is set. */
	smp_store_release(&group->dev, dev);
}

/* From now on the group only exists for its requests, pending or still to come. */
static void htbs_group_remove(struct htbs_group *group)
{
	struct htbs_reservation *res = htbs_group_reservation(group);

	group->removed = true;
	if (!res)
		return;
	htbs_reservation_end(res, group->dev);
	if (!res->removed && res->requests)
		htbs_reservation_keep(group->dev, res);
	res->removed = true;
}

/*
 * Called under queue_lock. A stored reservation is useless once its disk is gone. But if the disk
 * was on another scheduler when it went, the reservation stays stored until its cgroup is gone,
 * because HTBS is not told then.
 */
static void htbs_pd_offline(struct blkg_policy_data *pd)
{
	struct htbs_group *group = htbs_pd_group(pd);
	struct gendisk *disk = pd->blkg->q->disk;
	struct htbs_device *dev = group->dev;
	unsigned long flags;

	if (dev) {
		htbs_admission_set_remove(&dev->admitted, &group->admission);
		htbs_device_lock(dev, &flags, ktime_get_ns());
		htbs_group_remove(group);
		htbs_device_unlock_run(dev, flags);
	}
	if (disk && test_bit(GD_DEAD, &disk->state))
		htbs_config_store_drop(pd->blkg);
}

/*
 * From 7.2 on, the files of a cgroup are shown under RCU alone. A reader may have found
 * the group, and may lock its device, while the policy is deactivated.
 */
static void htbs_group_release(struct rcu_head *rcu)
{
	struct htbs_group *group = container_of(rcu, struct htbs_group, rcu);

	if (group->dev)
		htbs_device_put(group->dev);
	kmem_cache_free(htbs_group_cache, group);
	if (atomic_dec_and_test(&htbs_groups_alive))
		wake_up(&htbs_groups_gone);
}

/* No request is charged to the group any more, because it would hold a reference to the blkg. */
static void htbs_pd_free(struct blkg_policy_data *pd)
{
	struct htbs_group *group = htbs_pd_group(pd);
	struct htbs_device *dev = group->dev;
	struct htbs_reservation *res;
	unsigned long flags;

	if (dev) {
		htbs_device_lock(dev, &flags, ktime_get_ns());
		res = htbs_group_reservation(group);
		if (res)
			htbs_reservation_destroy(dev, res);
		if (dev->root == group)
			WRITE_ONCE(dev->root, NULL);
		htbs_device_unlock_run(dev, flags);
		htbs_admission_set_remove(&dev->admitted, &group->admission);
	}
	call_rcu(&group->rcu, htbs_group_release);
}

/**
 * htbs_reservations_register() - register the cgroup policy
 * @files: the files that each cgroup gets
 *
 * Return: 0, -ENOMEM, or -ENOSPC if this kernel has no room for another policy.
 */
int htbs_reservations_register(struct cftype *files)
{
	int err;

	htbs_group_cache = KMEM_CACHE(htbs_group, 0);
	if (!htbs_group_cache)
		return -ENOMEM;
	err = htbs_reservation_cache_create();
	if (err)
		goto err_group_cache;
	htbs_blkcg_policy = (struct blkcg_policy) {
		.dfl_cftypes	= files,
		.cpd_alloc_fn	= htbs_cpd_alloc,
		.cpd_free_fn	= htbs_cpd_free,
		.pd_alloc_fn	= htbs_pd_alloc,
		.pd_init_fn	= htbs_pd_init,
		.pd_offline_fn	= htbs_pd_offline,
		.pd_free_fn	= htbs_pd_free,
	};
	err = blkcg_policy_register(&htbs_blkcg_policy);
	if (err)
		goto err_cache;

	/*
	 * blk-cgroup warns if there is no memory for the files, but does not
	 * fail.
	 */
	if (cgroup_subsys_enabled(io_cgrp_subsys) &&
	    !(files->flags & __CFTYPE_ADDED)) {
		blkcg_policy_unregister(&htbs_blkcg_policy);
		err = -ENOMEM;
		goto err_cache;
	}
	return 0;

err_cache:
	htbs_reservation_cache_destroy();
err_group_cache:
	kmem_cache_destroy(htbs_group_cache);
	return err;
}

/**
 * htbs_reservations_unregister() - unregister the cgroup policy
 *
 * Waits for removed cgroups with requests outstanding, because blk-cgroup calls the
 * module when the last of these is freed.
 */
void htbs_reservations_unregister(void)
{
	while (!wait_event_timeout(htbs_groups_gone,
				   !atomic_read(&htbs_groups_alive),
				   HTBS_GONE_NOTICE))
		pr_notice("unloading waits for I/O of %d removed cgroups; see which processes are in state D\n",
			  atomic_read(&htbs_groups_alive));
	rcu_barrier();
	blkcg_policy_unregister(&htbs_blkcg_policy);
	htbs_reservation_cache_destroy();
	kmem_cache_destroy(htbs_group_cache);
}

/**
 * htbs_reservations_attach() - create the groups of a device
 * @dev: the device, already set as its queue's elevator
 *
 * Return: 0 or -ENOMEM.
 */
int htbs_reservations_attach(struct htbs_device *dev)
{
	return htbs_activate_policy(dev->queue, &htbs_blkcg_policy);
}

/**
 * htbs_reservations_detach() - undo htbs_reservations_attach()
 * @dev: the device; no request is left
 */
void htbs_reservations_detach(struct htbs_device *dev)
{
	htbs_deactivate_policy(dev->queue, &htbs_blkcg_policy);
}
