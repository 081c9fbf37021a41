/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch: what the driver gets next.
 */
#ifndef HTBS_DISPATCH_H
#define HTBS_DISPATCH_H

#include <htbs/device.h>

struct request *htbs_dispatch_request(struct blk_mq_hw_ctx *hctx);

#endif /* HTBS_DISPATCH_H */
