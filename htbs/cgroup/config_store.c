// SPDX-License-Identifier: GPL-2.0
/*
 * Stored reservations, by cgroup and disk.
 *
 * The policy data of a group on a device is freed when the device is switched to
 * another scheduler. The reservation stays stored with the cgroup, and is found
 * again after a switch back.
 */
#include <linux/blk-mq.h>
#include <linux/slab.h>

#include <htbs/config_store.h>
#include <htbs/lookup.h>

/**
 * struct htbs_cgroup - a cgroup, across all devices
 * @cpd: blk-cgroup's part; has to be the first member
 * @lock: guards @saved; nests inside queue_lock, taken with interrupts off
 * @saved: its stored reservations, a struct htbs_stored_config for each disk
 */
struct htbs_cgroup {
	struct blkcg_policy_data cpd;
	spinlock_t lock; /* guards saved */
	struct list_head saved;
};

static struct htbs_cgroup *htbs_cgroup_of(struct blkcg *blkcg)
{
	struct blkcg_policy_data *cpd =
		htbs_blkcg_to_cpd(blkcg, &htbs_blkcg_policy);

	return cpd ? container_of(cpd, struct htbs_cgroup, cpd) : NULL;
}

static struct htbs_stored_config *
htbs_config_store_find(struct htbs_cgroup *cgroup, u64 diskseq)
{
	struct htbs_stored_config *saved;

	lockdep_assert_held(&cgroup->lock);

	list_for_each_entry(saved, &cgroup->saved, node)
		if (saved->diskseq == diskseq)
			return saved;
	return NULL;
}

/**
 * htbs_config_store_get() - get the stored reservation of a cgroup on a disk
 * @blkg: the cgroup on the disk's queue
 * @params: the reservation
 *
 * Return: true if there is one.
 */
bool htbs_config_store_get(struct blkcg_gq *blkg, struct htbs_params *params)
{
	struct htbs_cgroup *cgroup = htbs_cgroup_of(blkg->blkcg);
	struct htbs_stored_config *saved;
	unsigned long flags;

	if (!cgroup || !blkg->q->disk)
		return false;

	spin_lock_irqsave(&cgroup->lock, flags);
	saved = htbs_config_store_find(cgroup, blkg->q->disk->diskseq);
	if (saved)
		*params = saved->params;
	spin_unlock_irqrestore(&cgroup->lock, flags);
	return saved;
}

/**
 * htbs_config_store_set() - store the reservation of a cgroup on a disk
 * @blkg: the cgroup on the disk's queue
 * @params: the reservation
 * @fresh: memory for it; used, and set to NULL, if there is none to overwrite
 */
void htbs_config_store_set(struct blkcg_gq *blkg,
			   const struct htbs_params *params,
			   struct htbs_stored_config **fresh)
{
	struct htbs_cgroup *cgroup = htbs_cgroup_of(blkg->blkcg);
	u64 diskseq = blkg->q->disk->diskseq;
	struct htbs_stored_config *saved;
	unsigned long flags;

	spin_lock_irqsave(&cgroup->lock, flags);
	saved = htbs_config_store_find(cgroup, diskseq);
	if (!saved) {
		saved = *fresh;
		*fresh = NULL;
		saved->diskseq = diskseq;
		list_add(&saved->node, &cgroup->saved);
	}
	saved->params = *params;
	spin_unlock_irqrestore(&cgroup->lock, flags);
}

/**
 * htbs_config_store_drop() - remove a cgroup's stored reservation on a disk
 * @blkg: the cgroup on the disk's queue
 */
void htbs_config_store_drop(struct blkcg_gq *blkg)
{
	struct htbs_cgroup *cgroup = htbs_cgroup_of(blkg->blkcg);
	struct htbs_stored_config *saved;
	unsigned long flags;

	if (!cgroup)
		return;

	spin_lock_irqsave(&cgroup->lock, flags);
	saved = htbs_config_store_find(cgroup, blkg->q->disk->diskseq);
	if (saved)
		list_del(&saved->node);
	spin_unlock_irqrestore(&cgroup->lock, flags);
	kfree(saved);
}

/**
 * htbs_cpd_alloc() - allocate a cgroup's data
 * @gfp: allocation flags
 *
 * Return: blk-cgroup's part of it, or NULL.
 */
struct blkcg_policy_data *htbs_cpd_alloc(gfp_t gfp)
{
	struct htbs_cgroup *cgroup = kzalloc(sizeof(*cgroup), gfp);

	if (!cgroup)
		return NULL;
	spin_lock_init(&cgroup->lock);
	INIT_LIST_HEAD(&cgroup->saved);
	return &cgroup->cpd;
}

/**
 * htbs_cpd_free() - free a cgroup's data, with all stored reservations
 * @cpd: blk-cgroup's part of it
 */
void htbs_cpd_free(struct blkcg_policy_data *cpd)
{
	struct htbs_cgroup *cgroup = container_of(cpd, struct htbs_cgroup, cpd);
	struct htbs_stored_config *saved, *next;

	list_for_each_entry_safe(saved, next, &cgroup->saved, node)
		kfree(saved);
	kfree(cgroup);
}
