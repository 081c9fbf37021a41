/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Insertion: requests that blk-mq passes to the scheduler.
 */
#ifndef HTBS_INSERT_H
#define HTBS_INSERT_H

#include <compat/compat.h>
#include <htbs/device.h>

void htbs_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list,
			  htbs_insert_t how);

#endif /* HTBS_INSERT_H */
