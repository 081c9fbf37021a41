/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scheduler tags: how many an allocation may choose from.
 */
#ifndef HTBS_TAG_DEPTH_H
#define HTBS_TAG_DEPTH_H

#include <htbs/device.h>

int htbs_tags_init(struct htbs_device *dev);
void htbs_tags_exit(struct htbs_device *dev);
void htbs_tags_recount(struct htbs_device *dev);
void htbs_tags_account(struct htbs_device *dev, struct htbs_reservation *res);
void htbs_tags_account_idle(struct htbs_device *dev, struct htbs_reservation *res);
void htbs_tags_account_move(struct htbs_device *dev, struct htbs_reservation *res);
void htbs_limit_tag_depth(blk_opf_t opf, struct blk_mq_alloc_data *data);

#endif /* HTBS_TAG_DEPTH_H */
