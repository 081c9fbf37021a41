// SPDX-License-Identifier: GPL-2.0
/*
 * The reservations that a device has admitted.
 *
 * The list has an entry for every cgroup that was given a reservation on the
 * device, and one for the root, which stands for the default reservation of all
 * other cgroups. A reservation is tested when it is written, and never when I/O is
 * done, so it is fine to walk the list. It is sorted by latency, because admission.c
 * takes reservations in this order.
 *
 * Without a capacity every reservation is admitted. With a capacity, a reservation
 * that could not be kept is refused, and those admitted before stay as they are.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <htbs/admission_set.h>
#include <htbs/core/admission.h>

/* The largest nr_requests that the kernel allows (MAX_SCHED_RQ). */
#define HTBS_PLACES_MAX		2048

/**
 * htbs_admission_set_init() - initialise an empty set
 * @promises: the set
 */
void htbs_admission_set_init(struct htbs_admission_set *promises)
{
	spin_lock_init(&promises->lock);
	INIT_LIST_HEAD(&promises->list);
	promises->capacity = 0;
	promises->request = HTBS_REQUEST_DEFAULT;
	promises->requests = 0;
}

/**
 * htbs_admission_entry_init() - initialise an entry, not in the set
 * @promise: the entry
 * @shared: it is the root's default reservation
 */
void htbs_admission_entry_init(struct htbs_admission_entry *promise,
			       bool shared)
{
	INIT_LIST_HEAD(&promise->node);
	promise->requests = 0;
	promise->shared = shared;
}

static void htbs_admission_set_count(struct htbs_admission_set *promises,
				     struct htbs_admission_entry *promise,
				     u32 requests)
{
	lockdep_assert_held(&promises->lock);

	WRITE_ONCE(promises->requests,
		   promises->requests - promise->requests + requests);
	WRITE_ONCE(promise->requests, requests);
}

/* The number of requests that an entry may have outstanding, given the set's request size. */
static u32 htbs_entry_requests(const struct htbs_admission_set *promises,
			       const struct htbs_admission_entry *promise)
{
	if (promise->shared)
		return 0;
	return htbs_admission_requests(&promise->params, promises->request);
}

/* Test the set with @params instead of the entry @promise. */
static int htbs_admission_set_test(struct htbs_admission_set *promises, u64 capacity,
				   u32 request,
				   const struct htbs_admission_entry *promise,
				   const struct htbs_params *params,
				   struct htbs_shortfall *shortfall)
{
	const struct htbs_admission_entry *other;
	struct htbs_admission test;
	bool kept;

	lockdep_assert_held(&promises->lock);

	htbs_admission_begin(&test, capacity, request);
	list_for_each_entry(other, &promises->list, node) {
		if (other == promise)
			continue;
		if (params && params->latency <= other->params.latency) {
			htbs_admission_add(&test, params);
			params = NULL;
		}
		htbs_admission_add(&test, &other->params);
	}
	if (params)
		htbs_admission_add(&test, params);
	kept = htbs_admission_end(&test);
	*shortfall = test.shortfall;
	return kept ? 0 : -ENOSPC;
}

static void htbs_admission_set_insert(struct htbs_admission_set *promises,
				      struct htbs_admission_entry *promise,
				      const struct htbs_params *params)
{
	struct htbs_admission_entry *other;

	lockdep_assert_held(&promises->lock);

	promise->params = *params;
	htbs_admission_set_count(promises, promise,
				 htbs_entry_requests(promises, promise));
	list_del_init(&promise->node);
	/*
	 * Search from the end: equal latencies, or rising ones as when a device
	 * comes back, take O(1).
	 */
	list_for_each_entry_reverse(other, &promises->list, node)
		if (other->params.latency <= params->latency)
			break;
	list_add(&promise->node, &other->node);
}

/**
 * htbs_admission_set_force() - add a reservation without a test
 * @promises: the set
 * @promise: the entry, initialised
 * @params: what is promised
 *
 * Called for a reservation that comes back with its device.
 */
void htbs_admission_set_force(struct htbs_admission_set *promises,
			      struct htbs_admission_entry *promise,
			      const struct htbs_params *params)
{
	unsigned long flags;

	spin_lock_irqsave(&promises->lock, flags);
	htbs_admission_set_insert(promises, promise, params);
	spin_unlock_irqrestore(&promises->lock, flags);
}

/**
 * htbs_admission_set_add() - add or change a reservation
 * @promises: the set
 * @promise: the entry
 * @shared: it is the root's default reservation
 * @params: what is promised; valid
 * @shortfall: what is missing, if it is refused
 *
 * Return: 0, or -ENOSPC if not all reservations could be kept; then nothing has
 * changed.
 */
int htbs_admission_set_add(struct htbs_admission_set *promises,
			   struct htbs_admission_entry *promise, bool shared,
			   const struct htbs_params *params,
			   struct htbs_shortfall *shortfall)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&promises->lock, flags);
	if (promises->capacity)
		err = htbs_admission_set_test(promises, promises->capacity,
					      promises->request, promise, params,
					      shortfall);
	if (!err) {
		promise->shared = shared;
		htbs_admission_set_insert(promises, promise, params);
	}
	spin_unlock_irqrestore(&promises->lock, flags);
	return err;
}

/**
 * htbs_admission_set_get() - what was admitted
 * @promises: the set
 * @promise: the entry
 * @params: what is promised
 */
void htbs_admission_set_get(struct htbs_admission_set *promises,
			    const struct htbs_admission_entry *promise,
			    struct htbs_params *params)
{
	unsigned long flags;

	spin_lock_irqsave(&promises->lock, flags);
	*params = promise->params;
	spin_unlock_irqrestore(&promises->lock, flags);
}

/**
 * htbs_admission_set_remove() - remove a reservation
 * @promises: the set
 * @promise: the entry; may have been removed before
 */
void htbs_admission_set_remove(struct htbs_admission_set *promises,
			       struct htbs_admission_entry *promise)
{
	unsigned long flags;

	spin_lock_irqsave(&promises->lock, flags);
	htbs_admission_set_count(promises, promise, 0);
	list_del_init(&promise->node);
	spin_unlock_irqrestore(&promises->lock, flags);
}

/**
 * htbs_admission_set_capacity() - set what the device serves
 * @promises: the set
 * @capacity: bytes/s, at most HTBS_CAPACITY_MAX; 0: admit everything
 * @force: set it even if it is less than the admitted reservations need
 * @shortfall: what is missing, if it is refused
 *
 * Return: 0 or -ENOSPC.
 */
int htbs_admission_set_capacity(struct htbs_admission_set *promises,
				u64 capacity, bool force,
				struct htbs_shortfall *shortfall)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&promises->lock, flags);
	if (capacity && !force)
		err = htbs_admission_set_test(promises, capacity, promises->request,
					      NULL, NULL, shortfall);
	if (!err)
		promises->capacity = capacity;
	spin_unlock_irqrestore(&promises->lock, flags);
	return err;
}

/*
 * Set the size of requests, and with it the number of requests that each entry may
 * have outstanding.
 */
static void htbs_admission_set_size(struct htbs_admission_set *promises, u32 request)
{
	struct htbs_admission_entry *promise;

	lockdep_assert_held(&promises->lock);

	promises->request = request;
	list_for_each_entry(promise, &promises->list, node)
		htbs_admission_set_count(promises, promise,
					 htbs_entry_requests(promises, promise));
}

/**
 * htbs_admission_set_request() - set the request size for which the capacity holds
 * @promises: the set
 * @request: the largest request, bytes
 * @shortfall: what is missing, if it is refused
 *
 * Return: 0 or -ENOSPC.
 */
int htbs_admission_set_request(struct htbs_admission_set *promises, u32 request,
			       struct htbs_shortfall *shortfall)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&promises->lock, flags);
	if (promises->capacity)
		err = htbs_admission_set_test(promises, promises->capacity, request,
					      NULL, NULL, shortfall);
	if (!err)
		htbs_admission_set_size(promises, request);
	spin_unlock_irqrestore(&promises->lock, flags);
	return err;
}

/**
 * htbs_admission_set_refused() - log why a reservation was refused
 * @disk: the disk
 * @shortfall: what is missing
 *
 * -ENOSPC alone does not tell how much less would have been admitted.
 */
void htbs_admission_set_refused(const struct gendisk *disk,
				const struct htbs_shortfall *shortfall)
{
	if (shortfall->bw)
		pr_notice_ratelimited("%s: refused: capacity_bw would be exceeded by %llu bytes/s; reserve that much less bw, or iops of capacity_request\n",
				      disk->disk_name, shortfall->bw);
	else
		pr_notice_ratelimited("%s: refused: %llu bytes more would be due within %llu us than capacity_bw serves; reserve less burst or more latency\n",
				      disk->disk_name, shortfall->bytes,
				      div_u64(shortfall->within,
					      NSEC_PER_USEC));
}

/**
 * htbs_admission_set_bw() - the bandwidth of all reservations
 * @promises: the set
 *
 * If a reservation has only iops, each operation counts as one of the largest request.
 *
 * Return: bytes/s, at most HTBS_ADMISSION_SUM.
 */
u64 htbs_admission_set_bw(struct htbs_admission_set *promises)
{
	const struct htbs_admission_entry *promise;
	unsigned long flags;
	u64 bw = 0;

	spin_lock_irqsave(&promises->lock, flags);
	list_for_each_entry(promise, &promises->list, node)
		bw = htbs_admission_sum(bw, htbs_admission_rate(&promise->params,
								promises->request));
	spin_unlock_irqrestore(&promises->lock, flags);
	return bw;
}

/**
 * htbs_admission_set_nr_requests() - the nr_requests that all reservations need
 * @promises: the set
 *
 * Half of the tags are left to surplus; see tag_depth.c.
 *
 * Return: the smallest nr_requests with which each reservation finds its tags.
 */
unsigned int
htbs_admission_set_nr_requests(const struct htbs_admission_set *promises)
{
	u64 places = READ_ONCE(promises->requests) * 2;

	return min_t(u64, places, UINT_MAX);
}

/**
 * htbs_admission_set_check_queue() - log if nr_requests is too small
 * @promises: the set
 * @disk: the disk
 */
void htbs_admission_set_check_queue(const struct htbs_admission_set *promises,
				    const struct gendisk *disk)
{
	unsigned int places = htbs_admission_set_nr_requests(promises);

	if (places > HTBS_PLACES_MAX)
		pr_notice_ratelimited("%s: what is reserved needs an nr_requests of %u, more than any queue has: reserve less burst or latency, or raise capacity_request\n",
				      disk->disk_name, places);
	else if (places > disk->queue->nr_requests)
		pr_notice_ratelimited("%s: nr_requests is too small for what is reserved: echo %u > /sys/block/%s/queue/nr_requests\n",
				      disk->disk_name, places, disk->disk_name);
}

/* Returns a copy of all entries, in order, or NULL if there is no memory. */
static struct htbs_params *
htbs_promises_copy(struct htbs_admission_set *promises, unsigned int *count)
{
	const struct htbs_admission_entry *promise;
	struct htbs_params *copy = NULL;
	unsigned int room = 16;

	for (;;) {
		copy = kvmalloc_array(room, sizeof(*copy), GFP_KERNEL);
		if (!copy)
			return NULL;
		*count = 0;
		spin_lock_irq(&promises->lock);
		list_for_each_entry(promise, &promises->list, node) {
			if (*count < room)
				copy[*count] = promise->params;
			++*count;
		}
		spin_unlock_irq(&promises->lock);
		if (*count <= room)
			return copy;
		kvfree(copy);
		room = *count + 16;
	}
}

static void htbs_promises_line(struct seq_file *sf, u64 latency,
			       unsigned int count, u64 bw, u64 burst)
{
	seq_printf(sf, "latency=%llu promises=%u bw=%llu burst=%llu",
		   div_u64(latency, NSEC_PER_USEC), count, bw, burst);
}

/**
 * htbs_admission_set_show() - show what is promised, and what is left
 * @promises: the set
 * @sf: gets a line for each latency: the number of reservations, their bw and burst,
 *	and the burst that a further one could have at this latency, by this line
 *	alone
 *
 * Return: 0 or -ENOMEM.
 */
int htbs_admission_set_show(struct htbs_admission_set *promises,
			    struct seq_file *sf)
{
	u64 capacity = READ_ONCE(promises->capacity), bw = 0, burst = 0;
	u32 request = READ_ONCE(promises->request);
	unsigned int all, at, count = 0;
	struct htbs_admission test;
	struct htbs_params *copy;

	copy = htbs_promises_copy(promises, &all);
	if (!copy)
		return -ENOMEM;
	htbs_admission_begin(&test, capacity, request);
	for (at = 0; at < all; at++) {
		htbs_admission_add(&test, &copy[at]);
		bw = htbs_admission_sum(bw, htbs_admission_rate(&copy[at], request));
		burst = htbs_admission_sum(burst, htbs_admission_burst(&copy[at], request));
		count++;
		if (at + 1 < all && copy[at + 1].latency == copy[at].latency)
			continue;
		htbs_promises_line(sf, copy[at].latency, count, bw, burst);
		if (capacity)
			seq_printf(sf, " left=%llu", htbs_admission_left(&test));
		seq_putc(sf, '\n');
		count = 0;
		bw = 0;
		burst = 0;
	}
	kvfree(copy);
	return 0;
}
