/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device has promised, to whom, and whether it can promise more.
 */
#ifndef HTBS_ADMISSION_SET_H
#define HTBS_ADMISSION_SET_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include <htbs/core/admission.h>
#include <htbs/core/curve.h>

/**
 * struct htbs_promise - one reservation, as far as admission goes
 * @node: among the device's, by rising latency; empty: nothing is promised
 * @params: what is promised
 * @requests: how many requests that has under way; read without the lock.  0 for
 *	what the root promises to those without a reservation: they have the rest
 * @shared: it is that one
 */
struct htbs_promise {
	struct list_head node;
	struct htbs_params params;
	u32 requests;
	bool shared;
};

/**
 * struct htbs_promises - all that a device has promised
 * @lock: guards the rest and each struct htbs_promise; a leaf, interrupts off
 * @list: the promises, by rising latency
 * @capacity: what the device serves, bytes/s; 0: not known, promise anything
 * @request: the largest request that this is true for, bytes
 * @requests: of all promises; read without the lock
 */
struct htbs_promises {
	spinlock_t lock; /* guards all of it */
	struct list_head list;
	u64 capacity;
	u32 request;
	u64 requests;
};

/* What @request is by default: the least that a request is charged. */
#define HTBS_REQUEST_DEFAULT	HTBS_COST_MIN

struct gendisk;
struct seq_file;

void htbs_promises_init(struct htbs_promises *promises);
int htbs_promises_set_capacity(struct htbs_promises *promises, u64 capacity,
			       bool force, struct htbs_shortfall *shortfall);
int htbs_promises_set_request(struct htbs_promises *promises, u32 request,
			      struct htbs_shortfall *shortfall);
u64 htbs_promises_bw(struct htbs_promises *promises);
void htbs_promises_refused(const struct gendisk *disk,
			   const struct htbs_shortfall *shortfall);
unsigned int htbs_promises_nr_requests(const struct htbs_promises *promises);
void htbs_promises_check_queue(const struct htbs_promises *promises,
			       const struct gendisk *disk);
int htbs_promises_show(struct htbs_promises *promises, struct seq_file *sf);

void htbs_promise_init(struct htbs_promise *promise, bool shared);
void htbs_promise_keep(struct htbs_promises *promises,
		       struct htbs_promise *promise,
		       const struct htbs_params *params);
int htbs_promise_make(struct htbs_promises *promises,
		      struct htbs_promise *promise, bool shared,
		      const struct htbs_params *params,
		      struct htbs_shortfall *shortfall);
void htbs_promise_end(struct htbs_promises *promises,
		      struct htbs_promise *promise);

#endif /* HTBS_ADMISSION_SET_H */
