// SPDX-License-Identifier: GPL-2.0
/*
 * What a device has promised.
 *
 * Every cgroup that was given a reservation on the device is in the list, and
 * the root, which promises the default one to all the others.  A reservation
 * is looked at when it is written and never when I/O is done, so the list is
 * walked: admission.c takes it in the order of latencies.
 *
 * Without a capacity anything is promised.  With one, what can't be kept is
 * refused, and what was promised before stays as it was.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include <htbs/promise.h>

/**
 * htbs_promises_init() - nothing is promised yet
 * @promises: a device's
 */
void htbs_promises_init(struct htbs_promises *promises)
{
	spin_lock_init(&promises->lock);
	INIT_LIST_HEAD(&promises->list);
	promises->capacity = 0;
	promises->request = HTBS_REQUEST_DEFAULT;
}

/**
 * htbs_promise_init() - nothing is promised to this one yet
 * @promise: the promise
 */
void htbs_promise_init(struct htbs_promise *promise)
{
	INIT_LIST_HEAD(&promise->node);
}

/* Can all of it be kept, with this instead of what @promise says? */
static int htbs_promises_test(struct htbs_promises *promises, u64 capacity,
			      u32 request, const struct htbs_promise *promise,
			      const struct htbs_params *params,
			      struct htbs_shortfall *shortfall)
{
	const struct htbs_promise *other;
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

static void htbs_promise_insert(struct htbs_promises *promises,
				struct htbs_promise *promise,
				const struct htbs_params *params)
{
	struct htbs_promise *other;

	lockdep_assert_held(&promises->lock);

	promise->params = *params;
	list_del_init(&promise->node);
	/* From the end: all alike, or in order, as when a device comes back, are O(1). */
	list_for_each_entry_reverse(other, &promises->list, node)
		if (other->params.latency <= params->latency)
			break;
	list_add(&promise->node, &other->node);
}

/**
 * htbs_promise_keep() - what was promised before holds
 * @promises: the device's
 * @promise: the promise; made anew, or changed
 * @params: what is promised
 *
 * Not tested: for a reservation that comes back with its device.
 */
void htbs_promise_keep(struct htbs_promises *promises,
		       struct htbs_promise *promise,
		       const struct htbs_params *params)
{
	unsigned long flags;

	spin_lock_irqsave(&promises->lock, flags);
	htbs_promise_insert(promises, promise, params);
	spin_unlock_irqrestore(&promises->lock, flags);
}

/**
 * htbs_promise_make() - promise something, or something else
 * @promises: the device's
 * @promise: the promise
 * @params: what is to be promised; valid
 * @shortfall: what is missing, if it can't be
 *
 * Return: 0, or -ENOSPC if not all that is promised could be kept; then
 * nothing has changed.
 */
int htbs_promise_make(struct htbs_promises *promises,
		      struct htbs_promise *promise,
		      const struct htbs_params *params,
		      struct htbs_shortfall *shortfall)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&promises->lock, flags);
	if (promises->capacity)
		err = htbs_promises_test(promises, promises->capacity,
					 promises->request, promise, params,
					 shortfall);
	if (!err)
		htbs_promise_insert(promises, promise, params);
	spin_unlock_irqrestore(&promises->lock, flags);
	return err;
}

/**
 * htbs_promise_end() - it holds no more
 * @promises: the device's
 * @promise: the promise; may have ended before
 */
void htbs_promise_end(struct htbs_promises *promises,
		      struct htbs_promise *promise)
{
	unsigned long flags;

	spin_lock_irqsave(&promises->lock, flags);
	list_del_init(&promise->node);
	spin_unlock_irqrestore(&promises->lock, flags);
}

/**
 * htbs_promises_set_capacity() - what the device serves
 * @promises: the device's
 * @capacity: bytes/s, at most HTBS_CAPACITY_MAX; 0: promise anything
 * @force: though less than what is promised needs
 * @shortfall: what is missing, if it is refused
 *
 * Return: 0 or -ENOSPC.
 */
int htbs_promises_set_capacity(struct htbs_promises *promises, u64 capacity,
			       bool force, struct htbs_shortfall *shortfall)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&promises->lock, flags);
	if (capacity && !force)
		err = htbs_promises_test(promises, capacity, promises->request,
					 NULL, NULL, shortfall);
	if (!err)
		promises->capacity = capacity;
	spin_unlock_irqrestore(&promises->lock, flags);
	return err;
}

/**
 * htbs_promises_set_request() - the requests that the capacity is true for
 * @promises: the device's
 * @request: the largest, bytes
 * @shortfall: what is missing, if it is refused
 *
 * Return: 0 or -ENOSPC.
 */
int htbs_promises_set_request(struct htbs_promises *promises, u32 request,
			      struct htbs_shortfall *shortfall)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&promises->lock, flags);
	if (promises->capacity)
		err = htbs_promises_test(promises, promises->capacity, request,
					 NULL, NULL, shortfall);
	if (!err)
		promises->request = request;
	spin_unlock_irqrestore(&promises->lock, flags);
	return err;
}

/**
 * htbs_promises_refused() - tell the operator why
 * @disk: the device
 * @shortfall: what is missing
 *
 * -ENOSPC alone doesn't say how much less would have done.
 */
void htbs_promises_refused(const struct gendisk *disk,
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
 * htbs_promises_bw() - what all promises come to in the long run
 * @promises: the device's
 *
 * Return: bytes/s; for operations alone, of the largest request.
 */
u64 htbs_promises_bw(struct htbs_promises *promises)
{
	const struct htbs_promise *promise;
	unsigned long flags;
	u64 bw = 0;

	spin_lock_irqsave(&promises->lock, flags);
	list_for_each_entry(promise, &promises->list, node)
		bw += htbs_admission_rate(&promise->params, promises->request);
	spin_unlock_irqrestore(&promises->lock, flags);
	return bw;
}

/**
 * htbs_promises_show() - what is promised, and what is left at each latency
 * @promises: the device's
 * @sf: a line for each latency: how many promises, their bw and burst; and the
 *	burst that a further one could have at this latency, by this line alone
 */
void htbs_promises_show(struct htbs_promises *promises, struct seq_file *sf)
{
	const struct htbs_promise *promise;
	u64 bw = 0, burst = 0, latency;
	struct htbs_admission test;
	unsigned int count = 0;

	spin_lock_irq(&promises->lock);
	htbs_admission_begin(&test, promises->capacity, promises->request);
	list_for_each_entry(promise, &promises->list, node) {
		htbs_admission_add(&test, &promise->params);
		latency = promise->params.latency;
		bw += htbs_admission_rate(&promise->params, promises->request);
		burst += htbs_admission_burst(&promise->params,
					      promises->request);
		count++;
		if (!list_is_last(&promise->node, &promises->list) &&
		    list_next_entry(promise, node)->params.latency == latency)
			continue;
		seq_printf(sf, "latency=%llu promises=%u bw=%llu burst=%llu",
			   div_u64(latency, NSEC_PER_USEC), count, bw, burst);
		if (promises->capacity)
			seq_printf(sf, " left=%llu", htbs_admission_left(&test));
		seq_putc(sf, '\n');
		count = 0;
		bw = 0;
		burst = 0;
	}
	spin_unlock_irq(&promises->lock);
}
