/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reservations that cgroups keep while their disk is on another scheduler.
 */
#ifndef HTBS_CONFIG_STORE_H
#define HTBS_CONFIG_STORE_H

#include <linux/list.h>

#include <compat/compat.h>
#include <htbs/core/params.h>

/**
 * struct htbs_stored_config - a reservation as it was written
 * @node: place in the cgroup's list
 * @diskseq: the disk's sequence number, because a later disk may get the same
 *	device number
 * @params: what is promised
 */
struct htbs_stored_config {
	struct list_head node;
	u64 diskseq;
	struct htbs_params params;
};

bool htbs_config_store_get(struct blkcg_gq *blkg, struct htbs_params *params);
void htbs_config_store_set(struct blkcg_gq *blkg,
			   const struct htbs_params *params,
			   struct htbs_stored_config **fresh);
void htbs_config_store_drop(struct blkcg_gq *blkg);

struct blkcg_policy_data *htbs_cpd_alloc(gfp_t gfp);
void htbs_cpd_free(struct blkcg_policy_data *cpd);

#endif /* HTBS_CONFIG_STORE_H */
