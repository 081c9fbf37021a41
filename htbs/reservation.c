// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a reservation.
 *
 * Every cgroup that does I/O on a device of ours has an htbs_group there.  One
 * that was given a reservation owns its own requests and those of the groups
 * below that weren't.  The root group owns the rest, at the device's defaults
 * unless it was given something else.
 *
 * Lifetimes.  A request pins the blkg that owns it, so a removed cgroup's
 * group lives until its last request is freed, which may be after its device
 * went to another scheduler and on 6.1 even after that scheduler's policy was
 * deactivated.  So each group holds the device, the groups alive are counted,
 * and the module waits for the last one before it goes: blk-cgroup would call
 * into text that is no more.
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

#include <htbs/queue.h>
#include <htbs/release.h>
#include <htbs/request.h>
#include <htbs/reservation.h>
#include <htbs/saved.h>
#include <htbs/trace.h>

static atomic_t htbs_groups_alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(htbs_groups_gone);

/* How often a module that waits for groups to end says so. */
#define HTBS_GONE_NOTICE	(10 * HZ)

static struct htbs_group *htbs_pd_group(struct blkg_policy_data *pd)
{
	return pd ? container_of(pd, struct htbs_group, pd) : NULL;
}

/**
 * htbs_group_of() - a blkg's group
 * @blkg: a cgroup on a device
 *
 * Return: NULL if the device is not ours.
 */
struct htbs_group *htbs_group_of(struct blkcg_gq *blkg)
{
	return htbs_pd_group(htbs_blkg_to_pd(blkg, &htbs_blkcg_policy));
}

static void htbs_device_release(struct kref *ref)
{
	kfree(container_of(ref, struct htbs_device, ref));
}

/**
 * htbs_device_put() - drop a reference to a device
 * @dev: the device
 */
void htbs_device_put(struct htbs_device *dev)
{
	kref_put(&dev->ref, htbs_device_release);
}

/*
 * Groups: what blk-cgroup calls when a cgroup meets a device.
 */

static struct blkg_policy_data *htbs_group_alloc(gfp_t gfp)
{
	/* The queue may be frozen: no I/O to get memory. */
	struct htbs_group *group = kzalloc(sizeof(*group),
					   gfp & ~(__GFP_IO | __GFP_FS));

	if (!group)
		return NULL;
	atomic_inc(&htbs_groups_alive);
	return &group->pd;
}

HTBS_DEFINE_PD_ALLOC(htbs_pd_alloc, htbs_group_alloc)

/* Under queue_lock, with the elevator in place. */
static void htbs_pd_init(struct blkg_policy_data *pd)
{
	struct htbs_group *group = htbs_pd_group(pd);
	struct htbs_device *dev = pd->blkg->q->elevator->elevator_data;
	struct htbs_params params;
	unsigned long flags;

	group->configured = htbs_saved_get(pd->blkg, &params);
	htbs_promise_init(&group->promise, !group->configured);
	spin_lock_irqsave(&dev->lock, flags);
	if (!group->configured)
		params = dev->defaults;
	htbs_reservation_init(&group->reservation, dev, &params);
	group->reservation.blkg = pd->blkg;
	group->reservation.id = cgroup_id(pd->blkg->blkcg->css.cgroup);
	htbs_trace_join(dev, &group->reservation);
	kref_get(&dev->ref);
	group->dev = dev;
	if (group->configured || !pd->blkg->parent)
		htbs_promise_keep(&dev->promises, &group->promise, &params);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* What was promised is no more: nor is the weight, nor the cap. */
static void htbs_reservation_end(struct htbs_reservation *res,
				 struct htbs_device *dev)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&dev->lock);

	if (res->flow.share.weight) {
		htbs_policy_weigh(&dev->policy, &res->flow, 0);
		htbs_trace_share(dev, res, now);
	}
	if (res->flow.cap.curve.params.bw) {
		htbs_policy_cap(&dev->policy, &res->flow, 0, now);
		htbs_queue_update_head(dev, res);
		if (res->flow.pending)
			htbs_release_now(dev);
		htbs_trace_cap(dev, res, now);
	}
}

/* Under queue_lock.  What was saved for a disk that is gone is of no use. */
static void htbs_pd_offline(struct blkg_policy_data *pd)
{
	struct htbs_group *group = htbs_pd_group(pd);
	struct gendisk *disk = pd->blkg->q->disk;
	struct htbs_device *dev = group->dev;
	unsigned long flags;

	if (dev) {
		htbs_promise_end(&dev->promises, &group->promise);
		spin_lock_irqsave(&dev->lock, flags);
		htbs_reservation_end(&group->reservation, dev);
		htbs_device_unlock(dev, flags);
	}
	if (disk && test_bit(GD_DEAD, &disk->state))
		htbs_saved_drop(pd->blkg);
}

static void htbs_group_release(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct htbs_group, rcu));
	if (atomic_dec_and_test(&htbs_groups_alive))
		wake_up(&htbs_groups_gone);
}

/* No request is charged to the group any more: each would pin its blkg. */
static void htbs_pd_free(struct blkg_policy_data *pd)
{
	struct htbs_group *group = htbs_pd_group(pd);
	struct htbs_device *dev = group->dev;
	unsigned long flags;

	if (dev) {
		spin_lock_irqsave(&dev->lock, flags);
		WARN_ON_ONCE(!list_empty(&group->reservation.fifo));
		htbs_trace_leave(dev, &group->reservation,
				 htbs_policy_forget(&dev->policy,
						    &group->reservation.flow));
		htbs_device_unlock(dev, flags);
		htbs_promise_end(&dev->promises, &group->promise);
		htbs_device_put(dev);
	}
	call_rcu(&group->rcu, htbs_group_release);
}

struct blkcg_policy htbs_blkcg_policy = {
	.cpd_alloc_fn	= htbs_cpd_alloc,
	.cpd_free_fn	= htbs_cpd_free,
	.pd_alloc_fn	= htbs_pd_alloc,
	.pd_init_fn	= htbs_pd_init,
	.pd_offline_fn	= htbs_pd_offline,
	.pd_free_fn	= htbs_pd_free,
};

/**
 * htbs_reservations_register() - let cgroups have reservations
 * @files: the files that each cgroup gets
 *
 * Return: 0, -ENOMEM, or -ENOSPC if this kernel has room for no more policies.
 */
int htbs_reservations_register(struct cftype *files)
{
	int err;

	htbs_blkcg_policy.dfl_cftypes = files;
	err = blkcg_policy_register(&htbs_blkcg_policy);
	if (err)
		return err;

	/* It warns if there is no memory for the files, but doesn't fail. */
	if (cgroup_subsys_enabled(io_cgrp_subsys) &&
	    !(files->flags & __CFTYPE_ADDED)) {
		blkcg_policy_unregister(&htbs_blkcg_policy);
		return -ENOMEM;
	}
	return 0;
}

/**
 * htbs_reservations_unregister() - end all reservations
 *
 * Waits for removed cgroups whose last requests are still under way: nothing
 * of ours may be left for blk-cgroup to call.
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
}

/**
 * htbs_reservations_attach() - give each cgroup its reservation on a device
 * @dev: the device, already its queue's elevator
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

/*
 * Reservations.
 */

/**
 * htbs_reservation_init() - a new reservation without requests
 * @res: the reservation, zeroed
 * @dev: its device
 * @params: what it promises; valid
 */
void htbs_reservation_init(struct htbs_reservation *res,
			   struct htbs_device *dev,
			   const struct htbs_params *params)
{
	htbs_flow_init(&res->flow, &dev->policy, params, ktime_get_ns());
	INIT_LIST_HEAD(&res->fifo);
	res->by_pos = RB_ROOT;
}

/*
 * The group whose reservation holds for a blkg: the nearest that was given
 * one, or the root.  A dying blkg may have lost its group, and on 6.1 may have
 * one of an earlier stay of the device with us.
 */
static struct htbs_group *htbs_group_in_force(struct htbs_device *dev,
					      struct blkcg_gq *blkg)
{
	struct htbs_group *group;

	for (; blkg; blkg = blkg->parent) {
		group = htbs_group_of(blkg);
		if (!group || group->dev != dev)
			continue;
		if (READ_ONCE(group->configured) || !blkg->parent)
			return group;
	}
	return NULL;
}

static struct htbs_reservation *
htbs_reservation_in_force(struct htbs_device *dev, struct blkcg_gq *blkg)
{
	struct htbs_group *group = htbs_group_in_force(dev, blkg);

	if (!group)
		group = htbs_group_of(dev->queue->root_blkg);
	return group ? &group->reservation : &dev->background;
}

/*
 * The background goes behind all others, but is no way around a cap.  What others
 * wait for doesn't wait there.
 */
static struct htbs_reservation *
htbs_reservation_by_class(struct htbs_device *dev, struct blkcg_gq *blkg,
			  int ioprio, bool for_all)
{
	struct htbs_reservation *res = htbs_reservation_in_force(dev, blkg);

	if (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE && !for_all &&
	    !htbs_peek(res->flow.cap.curve.params.bw))
		return &dev->background;
	return res;
}

/**
 * htbs_reservation_of() - whose request is it
 * @dev: the device
 * @bio: the request's bio
 *
 * By the bio's cgroup, never by who happens to submit it: write-back, md and
 * dm submit on behalf of others.
 *
 * Return: the reservation to charge.
 */
struct htbs_reservation *htbs_reservation_of(struct htbs_device *dev,
					     struct bio *bio)
{
	return htbs_reservation_by_class(dev, bio->bi_blkg, bio->bi_ioprio,
					 htbs_op_is_for_all(bio->bi_opf));
}

/**
 * htbs_reservation_of_rq() - the reservation of a request that is inserted
 * @dev: the device
 * @rq: the request, with a bio
 *
 * Return: the reservation to charge.
 */
struct htbs_reservation *htbs_reservation_of_rq(struct htbs_device *dev,
						struct request *rq)
{
	return htbs_reservation_by_class(dev, rq->bio->bi_blkg,
					 rq->bio->bi_ioprio,
					 htbs_rq_is_for_all(rq));
}

/**
 * htbs_reservation_of_task() - whose request will it probably be
 * @dev: the device
 *
 * For where there is no bio yet.  Right for direct I/O, wrong for write-back.
 * The caller is in an RCU read-side critical section.
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
 * htbs_reservation_change() - promise something else
 * @res: the reservation
 * @dev: its device, locked
 * @params: what it promises from now on; valid
 *
 * Pending requests move to the new curve too, or they would hold back for as
 * long as the old one told.
 */
void htbs_reservation_change(struct htbs_reservation *res,
			     struct htbs_device *dev,
			     const struct htbs_params *params)
{
	struct htbs_policy *policy = &dev->policy;
	u64 now = ktime_get_ns();
	u64 max = res->flow.cap.curve.params.bw;
	u32 weight = res->flow.share.weight;
	struct htbs_tags kept;
	struct request *rq;
	u64 due;

	lockdep_assert_held(&dev->lock);

	htbs_policy_configure(policy, &res->flow, params, now);
	if (params->max)
		htbs_queue_pass_cap(dev, res, now);
	list_for_each_entry(rq, &res->fifo, queuelist) {
		kept = htbs_rq_tags(rq);
		due = htbs_rq_due(rq);
		htbs_policy_retag(policy, &res->flow, now, htbs_rq_cost(rq),
				  &kept, &due);
		htbs_rq_set_tags(rq, &kept);
		htbs_rq_set_due(rq, due);
	}
	htbs_queue_update_head(dev, res);
	if (max && res->flow.pending)
		htbs_release_now(dev);
	if (weight != params->weight)
		htbs_trace_share(dev, res, now);
	if (max != params->max)
		htbs_trace_cap(dev, res, now);
	htbs_trace_config(dev, res, now);
}

/**
 * htbs_group_source() - whose reservation is in force for a group
 * @group: the group; its queue_lock is held
 *
 * Return: the group itself, an ancestor that was given one, or the root.
 */
const struct htbs_group *htbs_group_source(const struct htbs_group *group)
{
	return htbs_group_in_force(group->dev, group->pd.blkg);
}

static int htbs_group_promise(struct htbs_group *group, bool shared,
			      const struct htbs_params *params)
{
	struct htbs_device *dev = group->dev;
	struct htbs_shortfall shortfall;
	int err;

	err = htbs_promise_make(&dev->promises, &group->promise, shared,
				params, &shortfall);
	if (err)
		htbs_promises_refused(dev->queue->disk, &shortfall);
	else if (!shared)
		htbs_promises_check_queue(&dev->promises, dev->queue->disk);
	return err;
}

static bool htbs_params_equal(const struct htbs_params *a,
			      const struct htbs_params *b)
{
	return a->bw == b->bw && a->burst == b->burst &&
	       a->latency == b->latency && a->weight == b->weight &&
	       a->max == b->max && a->iops == b->iops;
}

/**
 * htbs_group_set() - give a group a reservation
 * @group: the group; its queue_lock is held
 * @params: what is promised; valid
 * @saved: memory to save it, allocated by the caller; NULL if it was taken
 *
 * Return: 0, or -ENOSPC if the device can't promise it; then nothing changed.
 */
int htbs_group_set(struct htbs_group *group, const struct htbs_params *params,
		   struct htbs_saved **saved)
{
	struct htbs_device *dev = group->dev;
	unsigned long flags;
	int err;

	lockdep_assert_held(&dev->queue->queue_lock);

	/* The same again is no reason to start with a full burst again. */
	if (group->configured &&
	    htbs_params_equal(params, &group->reservation.flow.curve.params))
		return 0;

	err = htbs_group_promise(group, false, params);
	if (err)
		return err;
	htbs_saved_set(group->pd.blkg, params, saved);
	spin_lock_irqsave(&dev->lock, flags);
	WRITE_ONCE(group->configured, true);
	htbs_reservation_change(&group->reservation, dev, params);
	htbs_device_unlock(dev, flags);
	return 0;
}

/**
 * htbs_group_reset() - take a group's reservation back
 * @group: the group; its queue_lock is held
 *
 * New requests are its ancestor's.  Those pending keep their place.
 *
 * Return: 0, or -ENOSPC if the group is the root and the device can't promise
 * the default reservation; then nothing changed.
 */
int htbs_group_reset(struct htbs_group *group)
{
	bool root = !group->pd.blkg->parent;
	struct htbs_device *dev = group->dev;
	unsigned long flags;
	int err;

	lockdep_assert_held(&dev->queue->queue_lock);

	if (root) {
		err = htbs_group_promise(group, true, &dev->defaults);
		if (err)
			return err;
	} else {
		htbs_promise_end(&dev->promises, &group->promise);
	}

	htbs_saved_drop(group->pd.blkg);
	spin_lock_irqsave(&dev->lock, flags);
	WRITE_ONCE(group->configured, false);
	if (root)
		htbs_reservation_change(&group->reservation, dev,
					&dev->defaults);
	else
		htbs_reservation_end(&group->reservation, dev);
	htbs_device_unlock(dev, flags);
	return 0;
}

/**
 * htbs_device_set_defaults() - what a group without a reservation is promised
 * @dev: the device
 * @params: what is promised; valid
 *
 * Return: 0, or -ENOSPC if the device can't promise it; then nothing changed.
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
		err = htbs_group_promise(root, true, params);
	if (!err) {
		spin_lock_irqsave(&dev->lock, flags);
		dev->defaults = *params;
		if (root)
			htbs_reservation_change(&root->reservation, dev,
						params);
		htbs_device_unlock(dev, flags);
	}
	spin_unlock_irq(&q->queue_lock);
	return err;
}
