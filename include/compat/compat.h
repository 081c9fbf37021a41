/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between the kernels that HTBS builds for, and copies of the
 * block layer's private inline helpers.
 *
 * generated/htbs-private.h is written by scripts/private-types from the BTF of
 * the kernel to build for. It declares the private types and functions and has
 * an HTBS_ macro, 0 or 1, for each difference. No other file uses these macros.
 */
#ifndef HTBS_COMPAT_H
#define HTBS_COMPAT_H

#include <linux/backing-dev.h>
#include <linux/hrtimer.h>
#include <linux/sbitmap.h>
#include <generated/htbs-private.h>

extern struct blkcg blkcg_root;

/* The third argument of insert_requests. The flag's value is not in BTF. */
#if HTBS_INSERT_FLAGS
#define htbs_insert_t blk_insert_t
#define HTBS_INSERT_AT_HEAD ((__force blk_insert_t)0x01)
#else
#define htbs_insert_t bool
#define HTBS_INSERT_AT_HEAD true
#endif

/**
 * htbs_insert_at_head() - whether insert_requests inserts at the head
 * @flags: third argument of the operation
 *
 * An unknown flag would mean that the flags' values have changed.
 *
 * Return: true if it does.
 */
static inline bool htbs_insert_at_head(htbs_insert_t flags)
{
	WARN_ON_ONCE(flags & ~HTBS_INSERT_AT_HEAD);
	return flags & HTBS_INSERT_AT_HEAD;
}

/**
 * htbs_set_elevator() - set the elevator of a queue
 * @q: queue
 * @eq: elevator with its data set, or NULL
 *
 * The cgroup code looks at it under queue_lock.
 */
static inline void htbs_set_elevator(struct request_queue *q, struct elevator_queue *eq)
{
	spin_lock_irq(&q->queue_lock);
	q->elevator = eq;
	spin_unlock_irq(&q->queue_lock);
}

/**
 * HTBS_DEFINE_INIT_SCHED() - define the init_sched operation of an elevator
 * @name: function to define, with the signature of this kernel
 * @impl: int (struct request_queue *q, struct elevator_queue *eq): sets
 *	eq->elevator_data, calls htbs_set_elevator() and may then activate a
 *	cgroup policy; on failure it only undoes its own work
 */
#if HTBS_INIT_SCHED_BY_TYPE
#define HTBS_DEFINE_INIT_SCHED(name, impl)				\
static int name(struct request_queue *q, struct elevator_type *type)	\
{									\
	struct elevator_queue *name##_eq = elevator_alloc(q, type);	\
	int err;							\
									\
	if (!name##_eq)							\
		return -ENOMEM;						\
	err = impl(q, name##_eq);					\
	if (err) {							\
		htbs_set_elevator(q, NULL);				\
		kobject_put(&name##_eq->kobj);				\
	}								\
	return err;							\
}
#else
#define HTBS_DEFINE_INIT_SCHED(name, impl)				\
static int name(struct request_queue *q, struct elevator_queue *name##_eq) \
{									\
	int err;							\
									\
	err = impl(q, name##_eq);					\
	if (err)							\
		htbs_set_elevator(q, NULL);				\
	return err;							\
}
#endif

/**
 * HTBS_DEFINE_DEPTH_UPDATED() - define the elevator's depth_updated operation
 * @name: function to define, with the signature of this kernel
 * @impl: void (struct request_queue *q); may be called once for each hardware
 *	queue
 */
#if HTBS_DEPTH_UPDATED_BY_HCTX
#define HTBS_DEFINE_DEPTH_UPDATED(name, impl)				\
static void name(struct blk_mq_hw_ctx *hctx)				\
{									\
	impl(hctx->queue);						\
}
#else
#define HTBS_DEFINE_DEPTH_UPDATED(name, impl)				\
static void name(struct request_queue *q)				\
{									\
	impl(q);							\
}
#endif

/**
 * htbs_nr_sched_tags() - the number of tags that an allocation chooses from
 * @data: argument of the limit_depth operation
 *
 * Return: the scheduler's tags of one hardware queue, or of all if they share
 * one set.
 */
static inline unsigned int htbs_nr_sched_tags(struct blk_mq_alloc_data *data)
{
	return data->hctx->sched_tags->bitmap_tags.sb.depth;
}

/**
 * htbs_driver_tags() - the number of tags that the driver has for a queue's requests
 * @hctx: a hardware queue of it
 *
 * Queues that share a set of tags have equal parts of it, as in hctx_may_queue().  The
 * tags of hardware queues that are polled serve none but polled requests.
 *
 * Return: the tags of all hardware queues that are not polled.
 */
static inline unsigned int htbs_driver_tags(const struct blk_mq_hw_ctx *hctx)
{
	const struct blk_mq_tag_set *set = hctx->queue->tag_set;
	unsigned int tags = set->queue_depth - set->reserved_tags;
	unsigned int queues = set->map[HCTX_TYPE_DEFAULT].nr_queues +
			      set->map[HCTX_TYPE_READ].nr_queues, users;

	if (hctx->flags & BLK_MQ_F_TAG_QUEUE_SHARED) {
		/* Older kernels count in an atomic_t. */
		users = READ_ONCE(*(const unsigned int *)&hctx->tags->active_queues);
		if (users > 1)
			tags = max(DIV_ROUND_UP(tags, users), 4U);
	}
	if (!(hctx->flags & BLK_MQ_F_TAG_HCTX_SHARED))
		tags *= max(queues, 1U);
	return tags;
}

/*
 * A number of tags as limit_depth counts them: older kernels within each word
 * of the bitmap, later ones within the whole bitmap.
 */
static inline unsigned int htbs_shallow_depth(const struct sbitmap *sb, unsigned int visible)
{
	unsigned int depth = sb->depth;

	if (!HTBS_SHALLOW_DEPTH_OF_MAP)
		depth = min(depth, 1U << sb->shift);
	return max(DIV_ROUND_UP(depth * visible, sb->depth), 1U);
}

/*
 * The bits of a bitmap of four words: a depth of 1 is one bit of each, or of
 * all.
 */
#define HTBS_SHALLOW_BITS	32

/**
 * htbs_shallow_depth_fits() - test that HTBS_SHALLOW_DEPTH_OF_MAP is right
 *
 * Return: 0, -EINVAL if the running kernel counts otherwise, or -ENOMEM.
 */
static inline int htbs_shallow_depth_fits(void)
{
	struct sbitmap_queue sbq;
	unsigned int got = 0;
	int err;

	err = sbitmap_queue_init_node(&sbq, HTBS_SHALLOW_BITS, 3, false, GFP_KERNEL,
				      NUMA_NO_NODE);
	if (err)
		return err;
	sbitmap_queue_min_shallow_depth(&sbq, 1);
	preempt_disable();
	while (got < HTBS_SHALLOW_BITS && sbitmap_queue_get_shallow(&sbq, 1) >= 0)
		got++;
	preempt_enable();
	sbitmap_queue_free(&sbq);
	return got == (HTBS_SHALLOW_DEPTH_OF_MAP ? 1 : HTBS_SHALLOW_BITS >> 3) ? 0 : -EINVAL;
}

/**
 * htbs_wake_tag_waiters() - wake all tasks that wait for a tag
 * @q: queue
 *
 * Not in a frozen queue, which may be about to get other tags.
 */
static inline void htbs_wake_tag_waiters(struct request_queue *q)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	if (!percpu_ref_tryget(&q->q_usage_counter))
		return;
	queue_for_each_hw_ctx(q, hctx, i)
		sbitmap_queue_wake_all(&hctx->sched_tags->bitmap_tags);
	percpu_ref_put(&q->q_usage_counter);
}

/**
 * htbs_hctx_inactive() - whether all CPUs of a hardware queue are offline
 * @hctx: hardware queue
 *
 * Return: true if they are; the kernel then waits for what is pending there.
 */
static inline bool htbs_hctx_inactive(const struct blk_mq_hw_ctx *hctx)
{
	return test_bit(BLK_MQ_S_INACTIVE, &hctx->state);
}

/**
 * htbs_announce_limit() - promise not to limit the depth to less than a quarter
 * @q: queue; frozen
 *
 * Tasks that wait for tags are woken in batches no larger than that allows.
 */
static inline void htbs_announce_limit(struct request_queue *q)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(q, hctx, i) {
		struct sbitmap_queue *sbq = &hctx->sched_tags->bitmap_tags;

		sbitmap_queue_min_shallow_depth(sbq, htbs_shallow_depth(&sbq->sb,
									sbq->sb.depth / 4));
	}
}

/**
 * htbs_limit_depth() - limit an allocation to some of the scheduler's tags
 * @data: argument of the limit_depth operation
 * @visible: number of tags; at least a quarter of all
 */
static inline void htbs_limit_depth(struct blk_mq_alloc_data *data, unsigned int visible)
{
	data->shallow_depth = htbs_shallow_depth(&data->hctx->sched_tags->bitmap_tags.sb, visible);
}

/**
 * htbs_wbt_disable() - disable write-back throttling of a queue
 * @eq: the queue's elevator
 * @q: queue
 *
 * It would throttle writers before their requests are inserted. For init_sched.
 */
static inline void htbs_wbt_disable(struct elevator_queue *eq, struct request_queue *q)
{
#if HTBS_WBT_FLAG
	set_bit(1 /* ELEVATOR_FLAG_DISABLE_WBT */, &eq->flags);
#endif
#if HTBS_WBT && HTBS_WBT_BY_QUEUE
	wbt_disable_default(q);
#elif HTBS_WBT
	wbt_disable_default(q->disk);
#endif
}

/**
 * htbs_wbt_enable() - undo htbs_wbt_disable()
 * @eq: the queue's elevator
 * @q: queue
 *
 * For exit_sched.
 */
static inline void htbs_wbt_enable(struct elevator_queue *eq, struct request_queue *q)
{
#if HTBS_WBT_FLAG
	clear_bit(1 /* ELEVATOR_FLAG_DISABLE_WBT */, &eq->flags);
#endif
#if HTBS_WBT && HTBS_WBT_BY_QUEUE
	wbt_enable_default(q);
#elif HTBS_WBT
	wbt_enable_default(q->disk);
#endif
}

/**
 * HTBS_DEFINE_PD_ALLOC() - define the pd_alloc_fn of a cgroup policy
 * @name: function to define, with the signature of this kernel
 * @impl: struct blkg_policy_data *(gfp_t gfp); may not sleep unless @gfp says
 *	so
 */
#if HTBS_PD_ALLOC_GFP_FIRST
#define HTBS_DEFINE_PD_ALLOC(name, impl)				\
static struct blkg_policy_data *					\
(name)(gfp_t name##_gfp, struct request_queue *q, struct blkcg *blkcg)	\
{									\
	return impl(name##_gfp);					\
}
#else
#define HTBS_DEFINE_PD_ALLOC(name, impl)				\
static struct blkg_policy_data *					\
(name)(struct gendisk *disk, struct blkcg *blkcg, gfp_t name##_gfp)	\
{									\
	return impl(name##_gfp);					\
}
#endif

#if HTBS_ACTIVATE_BY_QUEUE
#define HTBS_POLICY_TARGET(q) (q)
#else
#define HTBS_POLICY_TARGET(q) ((q)->disk)
#endif

/**
 * htbs_activate_policy() - allocate a policy's data for every blkg of a queue
 * @q: queue
 * @pol: registered policy
 *
 * Return: 0 or -ENOMEM.
 */
static inline int htbs_activate_policy(struct request_queue *q, struct blkcg_policy *pol)
{
	return blkcg_activate_policy(HTBS_POLICY_TARGET(q), pol);
}

/**
 * htbs_deactivate_policy() - free a policy's data of every blkg of a queue
 * @q: queue
 * @pol: policy
 */
static inline void htbs_deactivate_policy(struct request_queue *q, struct blkcg_policy *pol)
{
	blkcg_deactivate_policy(HTBS_POLICY_TARGET(q), pol);
}

/**
 * struct htbs_conf_ctx - a write of "MAJ:MIN key=value ..." to a cgroup file
 * @blkg: the cgroup on the device
 * @body: the text after the device
 * @kernel: the block layer's own context
 */
struct htbs_conf_ctx {
	struct blkcg_gq *blkg;
	char *body;
	struct blkg_conf_ctx kernel;
};

/**
 * htbs_conf_prep() - find the device and the blkg of a write
 * @blkcg: cgroup written to
 * @pol: policy that owns the file
 * @input: text written, changed by parsing
 * @ctx: to be filled
 *
 * On success q->queue_lock is held, interrupts off, until htbs_conf_end(). That
 * has to be called after a failure, too.
 *
 * Return: 0, -EINVAL (no MAJ:MIN and space), -ENODEV (no such disk),
 * -EOPNOTSUPP (@pol is not active on it) or -ENOMEM.
 */
static inline int htbs_conf_prep(struct blkcg *blkcg, const struct blkcg_policy *pol,
				 char *input, struct htbs_conf_ctx *ctx)
{
	int err;

	*ctx = (struct htbs_conf_ctx){};
#if HTBS_CONF_INIT
	blkg_conf_init(&ctx->kernel, input);
	err = blkg_conf_prep(blkcg, pol, &ctx->kernel);
#else
	err = blkg_conf_prep(blkcg, pol, input, &ctx->kernel);
#endif
	if (err)
		return err;

	ctx->blkg = ctx->kernel.blkg;
	ctx->body = ctx->kernel.body;
	return 0;
}

/**
 * htbs_conf_end() - end what htbs_conf_prep() began
 * @ctx: its context
 */
static inline void htbs_conf_end(struct htbs_conf_ctx *ctx)
{
#if HTBS_CONF_INIT
	blkg_conf_exit(&ctx->kernel);
#else
	if (ctx->blkg)
		blkg_conf_finish(&ctx->kernel);
#endif
}

/**
 * htbs_css_to_blkcg() - the blkcg of an io controller's cgroup state
 * @css: state or NULL
 *
 * Return: NULL for NULL.
 */
static inline struct blkcg *htbs_css_to_blkcg(struct cgroup_subsys_state *css)
{
	return css ? container_of(css, struct blkcg, css) : NULL;
}

/**
 * htbs_blkg_to_pd() - a policy's data of a blkg
 * @blkg: blkg or NULL
 * @pol: policy
 *
 * Return: NULL if the policy is not active or has left the dying @blkg.
 */
static inline struct blkg_policy_data *htbs_blkg_to_pd(struct blkcg_gq *blkg,
						       const struct blkcg_policy *pol)
{
	return blkg ? blkg->pd[pol->plid] : NULL;
}

/**
 * htbs_blkcg_to_cpd() - a policy's data of a cgroup
 * @blkcg: cgroup or NULL
 * @pol: policy
 *
 * Return: NULL for NULL, or if the policy is not registered yet for this
 * cgroup.
 */
static inline struct blkcg_policy_data *htbs_blkcg_to_cpd(struct blkcg *blkcg,
							  const struct blkcg_policy *pol)
{
	return blkcg ? blkcg->cpd[pol->plid] : NULL;
}

/**
 * htbs_blkg_lookup() - the blkg of a cgroup and a queue
 * @blkcg: cgroup
 * @q: queue
 *
 * The caller is in an RCU read-side critical section.
 *
 * Return: NULL if the cgroup has done no I/O there.
 */
static inline struct blkcg_gq *htbs_blkg_lookup(struct blkcg *blkcg, struct request_queue *q)
{
	struct blkcg_gq *blkg;

	if (blkcg == &blkcg_root)
		return q->root_blkg;

	blkg = radix_tree_lookup(&blkcg->blkg_tree, q->id);
	return blkg && blkg->q == q ? blkg : NULL;
}

/**
 * htbs_blkg_get() - take another reference to a blkg
 * @blkg: blkg that the caller has a reference to
 */
static inline void htbs_blkg_get(struct blkcg_gq *blkg)
{
	percpu_ref_get(&blkg->refcnt);
}

/**
 * htbs_blkg_put() - drop a reference to a blkg
 * @blkg: blkg
 */
static inline void htbs_blkg_put(struct blkcg_gq *blkg)
{
	percpu_ref_put(&blkg->refcnt);
}

/**
 * htbs_blkg_dev_name() - the "MAJ:MIN" of a blkg's disk
 * @blkg: blkg
 *
 * Return: NULL once the disk is gone.
 */
static inline const char *htbs_blkg_dev_name(struct blkcg_gq *blkg)
{
	struct gendisk *disk = blkg->q->disk;

	return disk && disk->bdi->dev ? bdi_dev_name(disk->bdi) : NULL;
}

/**
 * htbs_rq_mergeable() - whether a request belongs in the elevator's merge hash
 * @rq: request
 *
 * Return: true if it can grow.
 */
static inline bool htbs_rq_mergeable(struct request *rq)
{
	if (blk_rq_is_passthrough(rq))
		return false;

	switch (req_op(rq)) {
	case REQ_OP_FLUSH:
	case REQ_OP_WRITE_ZEROES:
	case REQ_OP_ZONE_APPEND:
		return false;
	default:
		return !(rq->cmd_flags & REQ_NOMERGE_FLAGS) &&
		       !(rq->rq_flags & RQF_NOMERGE_FLAGS);
	}
}

/**
 * htbs_discard_mergeable() - whether a request takes discards as further ranges
 * @rq: request
 *
 * Return: true if it does.
 */
static inline bool htbs_discard_mergeable(struct request *rq)
{
	return req_op(rq) == REQ_OP_DISCARD && queue_max_discard_segments(rq->q) > 1;
}

/**
 * htbs_rq_prepared() - whether the elevator may use its fields of a request
 * @rq: request
 *
 * Not if prepare_request was not called for it; in 6.1 the flush code keeps its
 * own data in the same place.
 *
 * Return: true if it may.
 */
static inline bool htbs_rq_prepared(struct request *rq)
{
#ifdef RQF_ELVPRIV
	return rq->rq_flags & RQF_ELVPRIV;
#else
	return rq->rq_flags & RQF_USE_SCHED;
#endif
}

/**
 * htbs_setup_timer() - initialise a timer of the monotonic clock, absolute
 * @timer: timer
 * @expired: called when it expires
 */
static inline void htbs_setup_timer(struct hrtimer *timer,
				    enum hrtimer_restart (*expired)(struct hrtimer *))
{
#if HTBS_HRTIMER_SETUP
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = expired;
#endif
}

#endif /* HTBS_COMPAT_H */
