/* SPDX-License-Identifier: GPL-2.0 */
/*
 * blk-cgroup: policies, their data, and writes to their files.
 */
#ifndef HTBS_COMPAT_BLKCG_H
#define HTBS_COMPAT_BLKCG_H

#include <linux/backing-dev.h>
#include <generated/htbs-private.h>

extern struct blkcg blkcg_root;

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
 * struct htbs_conf_ctx - context of a write of "MAJ:MIN key=value ..." to a cgroup file
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
 * On success q->queue_lock is held with interrupts off until htbs_conf_end(), which
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
#endif
#if HTBS_CONF_CLOSE_BDEV
	err = blkg_conf_open_bdev(&ctx->kernel);
	if (err)
		return err;
#endif
#if HTBS_CONF_INIT
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
#if HTBS_CONF_CLOSE_BDEV
	if (ctx->blkg)
		blkg_conf_unprep(&ctx->kernel);
	if (ctx->kernel.bdev)
		blkg_conf_close_bdev(&ctx->kernel);
#elif HTBS_CONF_INIT
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
	return blkg ? READ_ONCE(blkg->pd[pol->plid]) : NULL;
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

#endif /* HTBS_COMPAT_BLKCG_H */
