/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reservations that a device has admitted, and whether it can admit more.
 */
#ifndef HTBS_ADMISSION_SET_H
#define HTBS_ADMISSION_SET_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include <htbs/core/admission.h>
#include <htbs/core/params.h>

/**
 * struct htbs_admission_entry - a reservation in a device's admission set
 * @node: place in the device's list; empty: nothing is promised
 * @params: what is promised
 * @requests: how many requests it may have outstanding; read without the lock. 0 for
 *	the root's default reservation, which has no tags of its own
 * @shared: this is the root's default reservation, which all groups without one share
 */
struct htbs_admission_entry {
	struct list_head node;
	struct htbs_params params;
	u32 requests;
	bool shared;
};

/**
 * struct htbs_admission_set - all reservations that a device has admitted
 * @lock: guards the set and its entries; a leaf lock, taken with interrupts off
 * @list: the entries, by rising latency
 * @capacity: what the device serves, bytes/s; 0: not known, admit everything
 * @request: the largest request for which @capacity holds, bytes
 * @requests: sum of all entries' requests; read without the lock
 */
struct htbs_admission_set {
	spinlock_t lock; /* guards the set */
	struct list_head list;
	u64 capacity;
	u32 request;
	u64 requests;
};

/* The default of @request: the least that a request is charged. */
#define HTBS_REQUEST_DEFAULT	HTBS_COST_MIN

struct gendisk;
struct seq_file;

void htbs_admission_set_init(struct htbs_admission_set *promises);
int htbs_admission_set_capacity(struct htbs_admission_set *promises,
				u64 capacity, bool force,
				struct htbs_shortfall *shortfall);
int htbs_admission_set_request(struct htbs_admission_set *promises, u32 request,
			       struct htbs_shortfall *shortfall);
u64 htbs_admission_set_bw(struct htbs_admission_set *promises);
void htbs_admission_set_refused(const struct gendisk *disk,
				const struct htbs_shortfall *shortfall);
unsigned int
htbs_admission_set_nr_requests(const struct htbs_admission_set *promises);
void htbs_admission_set_check_queue(const struct htbs_admission_set *promises,
				    const struct gendisk *disk);
int htbs_admission_set_show(struct htbs_admission_set *promises,
			    struct seq_file *sf);

void htbs_admission_entry_init(struct htbs_admission_entry *promise,
			       bool shared);
void htbs_admission_set_force(struct htbs_admission_set *promises,
			      struct htbs_admission_entry *promise,
			      const struct htbs_params *params);
int htbs_admission_set_add(struct htbs_admission_set *promises,
			   struct htbs_admission_entry *promise, bool shared,
			   const struct htbs_params *params,
			   struct htbs_shortfall *shortfall);
void htbs_admission_set_get(struct htbs_admission_set *promises,
			    const struct htbs_admission_entry *promise,
			    struct htbs_params *params);
void htbs_admission_set_remove(struct htbs_admission_set *promises,
			       struct htbs_admission_entry *promise);

#endif /* HTBS_ADMISSION_SET_H */
