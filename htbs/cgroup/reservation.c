// SPDX-License-Identifier: GPL-2.0
/*
 * Reservations are created with the first request of a group, and freed when the group is idle.
 *
 * Most of the memory that a group needs is the policy's state of its flow. So a group has
 * a reservation from its first request on, until it has been idle for so long that a new one
 * would be served in the same way. The promise and the statistics stay with the group.
 *
 * A request cannot wait for memory. If there is none, the request is charged to the root's
 * reservation.
 */
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <htbs/core/policy.h>
#include <htbs/lookup.h>
#include <htbs/reservation.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/* How long a group is idle before its reservation is freed, and how often this is checked. */
#define HTBS_RECLAIM_SECONDS	60
/* At most this many reservations are checked while the device is locked. */
#define HTBS_RECLAIM_AT_ONCE	64U

static struct kmem_cache *htbs_reservation_cache;

/**
 * htbs_reservation_cache_create() - create the cache when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int htbs_reservation_cache_create(void)
{
	htbs_reservation_cache = KMEM_CACHE(htbs_reservation, 0);
	return htbs_reservation_cache ? 0 : -ENOMEM;
}

/**
 * htbs_reservation_cache_destroy() - undo htbs_reservation_cache_create()
 *
 * Called after rcu_barrier(), when all groups are gone.
 */
void htbs_reservation_cache_destroy(void)
{
	kmem_cache_destroy(htbs_reservation_cache);
}

/**
 * htbs_reservation_alloc() - allocate a reservation
 * @gfp: allocation flags
 *
 * Return: the reservation, zeroed, or NULL.
 */
struct htbs_reservation *htbs_reservation_alloc(gfp_t gfp)
{
	return kmem_cache_zalloc(htbs_reservation_cache, gfp);
}

/**
 * htbs_reservation_free() - undo htbs_reservation_alloc()
 * @res: the reservation, or NULL
 */
void htbs_reservation_free(struct htbs_reservation *res)
{
	if (res)
		kmem_cache_free(htbs_reservation_cache, res);
}

/**
 * htbs_reservation_init() - initialise a reservation without requests
 * @res: the reservation, zeroed
 * @dev: its device; locked, unless it is new
 * @params: what it promises; valid. NULL: it shares the pool's reservation
 */
void htbs_reservation_init(struct htbs_reservation *res,
			   struct htbs_device *dev,
			   const struct htbs_params *params)
{
	htbs_flow_init(&res->flow, &dev->policy, params, dev->now);
	INIT_LIST_HEAD(&res->fifo);
	res->by_pos[0] = RB_ROOT;
	res->by_pos[1] = RB_ROOT;
}

static void htbs_reclaim_later(struct htbs_device *dev)
{
	queue_delayed_work(system_power_efficient_wq, &dev->reclaim,
			   HTBS_RECLAIM_SECONDS * HZ);
}

/**
 * htbs_reservation_create() - a group without a reservation has a request
 * @dev: the device, locked
 * @group: the group
 *
 * Return: the reservation that the request is charged to: a new one, or the root's.
 */
noinline struct htbs_reservation *
htbs_reservation_create(struct htbs_device *dev, struct htbs_group *group)
{
	struct htbs_reservation *res;
	struct htbs_params params;

	lockdep_assert_held(&dev->lock);

	res = htbs_reservation_alloc(GFP_ATOMIC | __GFP_NOWARN);
	if (!res)
		return dev->shared;
	res->group = group;
	res->blkg = group->pd.blkg;
	res->id = htbs_group_id(group);
	res->removed = group->removed;
	res->stats = group->stats;
	htbs_group_params(dev, group, &params);
	if (group->removed) {
		params.weight = 0;
		params.max = 0;
	}
	htbs_reservation_init(res, dev, group->configured ? &params : NULL);
	htbs_trace_join(dev, res);

	list_add_tail(&res->node, &dev->reservations);
	dev->reservation_count++;
	rcu_assign_pointer(group->reservation, res);
	htbs_reclaim_later(dev);
	return res;
}

static void htbs_reservation_free_rcu(struct rcu_head *rcu)
{
	htbs_reservation_free(container_of(rcu, struct htbs_reservation, rcu));
}

/**
 * htbs_reservation_destroy() - free the reservation of a group
 * @dev: the device, locked
 * @res: the group's reservation, without requests
 */
void htbs_reservation_destroy(struct htbs_device *dev, struct htbs_reservation *res)
{
	bool waited;

	lockdep_assert_held(&dev->lock);

	WARN_ON_ONCE(!list_empty(&res->fifo) || res->requests);
	if (!htbs_flow_pooled(&res->flow))
		htbs_tags_account_idle(dev, res);
	waited = htbs_policy_exit_flow(&dev->policy, &res->flow);
	htbs_trace_leave(dev, res, waited);
	res->group->stats = res->stats;
	RCU_INIT_POINTER(res->group->reservation, NULL);
	if (res == dev->shared)
		return;
	list_del(&res->node);
	dev->reservation_count--;
	call_rcu(&res->rcu, htbs_reservation_free_rcu);
}

static bool htbs_reservation_is_idle(const struct htbs_device *dev,
				     const struct htbs_reservation *res)
{
	return !res->requests &&
	       dev->now - res->flow.idle_since > HTBS_RECLAIM_SECONDS * NSEC_PER_SEC &&
	       htbs_flow_as_new(&res->flow, dev->now);
}

/* Returns how many of @left reservations are still to be checked. */
static u32 htbs_reclaim_some(struct htbs_device *dev, u32 left)
{
	struct htbs_reservation *res, *next;
	u32 looks = min(left, HTBS_RECLAIM_AT_ONCE);
	LIST_HEAD(seen);

	left -= looks;
	list_for_each_entry_safe(res, next, &dev->reservations, node) {
		if (!looks--)
			break;
		list_move_tail(&res->node, &seen);
		if (htbs_reservation_is_idle(dev, res))
			htbs_reservation_destroy(dev, res);
	}
	list_splice_tail(&seen, &dev->reservations);
	return left;
}

static void htbs_reclaim(struct work_struct *work)
{
	struct htbs_device *dev = container_of(to_delayed_work(work), struct htbs_device,
					       reclaim);
	u32 left = htbs_peek(dev->reservation_count);
	unsigned long flags;

	while (left) {
		htbs_device_lock(dev, &flags, ktime_get_ns());
		left = htbs_reclaim_some(dev, left);
		if (!left && dev->reservation_count)
			htbs_reclaim_later(dev);
		htbs_device_unlock_run(dev, flags);
		cond_resched();
	}
}

/**
 * htbs_reclaim_init() - initialise the reclaim of reservations of a new device
 * @dev: the device
 */
void htbs_reclaim_init(struct htbs_device *dev)
{
	INIT_LIST_HEAD(&dev->reservations);
	INIT_DELAYED_WORK(&dev->reclaim, htbs_reclaim);
}

/**
 * htbs_reclaim_cancel() - stop reclaiming reservations
 * @dev: the device; it has no groups any more, so no reservation is created, either
 */
void htbs_reclaim_cancel(struct htbs_device *dev)
{
	cancel_delayed_work_sync(&dev->reclaim);
}
