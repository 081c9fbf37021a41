/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch: which request the driver gets next.
 */
#ifndef HTBS_DISPATCH_H
#define HTBS_DISPATCH_H

#include <htbs/device.h>

void htbs_start_request(struct htbs_device *dev, struct htbs_reservation *res,
			struct request *rq);
u32 htbs_dispatch_room(const struct htbs_device *dev, struct blk_mq_hw_ctx *hctx);
struct request *htbs_dispatch_request(struct blk_mq_hw_ctx *hctx);

#endif /* HTBS_DISPATCH_H */
