/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations: a second arrival curve beside that of bytes, or instead of it.
 */
#ifndef HTBS_CORE_CURVES_H
#define HTBS_CORE_CURVES_H

#include <linux/types.h>

#include <htbs/core/curve.h>

/**
 * struct htbs_start_tags - a request's start tags by both curves
 * @bytes: by that of bytes, virtual ns
 * @ops: by that of operations, virtual ns; if there is none, the same
 */
struct htbs_start_tags {
	u64 bytes;
	u64 ops;
};

/**
 * struct htbs_ops - a reservation's operations
 * @curve: their arrival curve, HTBS_COST_MIN bytes for each; its bw is 0: they
 *	don't count, and nothing else here means anything
 * @oldest: the tags of the oldest pending request as they are kept
 * @full: requests with smaller ones came before that curve was full last
 */
struct htbs_ops {
	struct htbs_curve curve;
	struct htbs_start_tags oldest;
	struct htbs_start_tags full;
};

#endif /* HTBS_CORE_CURVES_H */
