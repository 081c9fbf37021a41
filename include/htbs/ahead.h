/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that are dispatched ahead, that is, before blk-mq asks for them.
 *
 * If nothing is pending on a device that orders by itself, there is nothing to choose from
 * when a request arrives. If the driver has a tag for it, the request is dispatched at
 * once. When blk-mq asks for a request, further ones that may be dispatched are dispatched
 * as well. These requests are put into a ring, from which blk-mq takes them without dev->lock.
 *
 * A request must not be chosen before the driver can take it. So no request is dispatched
 * ahead for a driver with a budget, which may refuse requests although it has tags for them,
 * nor for a driver that is stopped or was busy recently.
 *
 * One CPU at a time adds requests, under dev->lock. Any number of CPUs may take requests.
 */
#ifndef HTBS_AHEAD_H
#define HTBS_AHEAD_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/list.h>

/* A power of two: twice as many as a plug inserts at once. */
#define HTBS_AHEAD_MAX		64U

/**
 * struct htbs_ahead - dispatched requests that blk-mq has not taken yet
 * @added: how many were added, modulo 2^32; written under dev->lock
 * @taken: how many were taken, modulo 2^32
 * @requests: the requests that were added and not taken, in the order of their dispatch
 */
struct htbs_ahead {
	u32 added;
	u32 taken;
	struct request *requests[HTBS_AHEAD_MAX];
};

/**
 * htbs_ahead_any() - whether there are requests for blk-mq to take
 * @ahead: the requests
 *
 * Return: true if there are.
 */
static inline bool htbs_ahead_any(const struct htbs_ahead *ahead)
{
	return READ_ONCE(ahead->added) != READ_ONCE(ahead->taken);
}

/**
 * htbs_ahead_room() - how many requests may be added
 * @ahead: the requests; their device is locked
 *
 * Return: requests.
 */
static inline u32 htbs_ahead_room(const struct htbs_ahead *ahead)
{
	return HTBS_AHEAD_MAX - (ahead->added - READ_ONCE(ahead->taken));
}

/**
 * htbs_ahead_add_list() - requests are dispatched
 * @ahead: the requests; their device is locked
 * @list: the requests to add, for which there is room; empty afterwards
 */
static inline void htbs_ahead_add_list(struct htbs_ahead *ahead, struct list_head *list)
{
	u32 added = ahead->added;
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, list, queuelist) {
		INIT_LIST_HEAD(&rq->queuelist);
		WRITE_ONCE(ahead->requests[added++ % HTBS_AHEAD_MAX], rq);
	}
	INIT_LIST_HEAD(list);
	/* Pairs with htbs_ahead_take(). */
	smp_store_release(&ahead->added, added);
}

/**
 * htbs_ahead_add() - a request is dispatched
 * @ahead: the requests, with room for one more; their device is locked
 * @rq: the request
 */
static inline void htbs_ahead_add(struct htbs_ahead *ahead, struct request *rq)
{
	u32 added = ahead->added;

	WRITE_ONCE(ahead->requests[added % HTBS_AHEAD_MAX], rq);
	/* Pairs with htbs_ahead_take(). */
	smp_store_release(&ahead->added, added + 1);
}

/**
 * htbs_ahead_take() - take the next request
 * @ahead: the requests
 *
 * A CPU may see a value of @taken that is newer than its value of @added. Then it may find no
 * request. If it sees fewer requests than there are, the CPU that has added the others runs the
 * queue.
 *
 * Return: the request, or NULL if there is none.
 */
static inline struct request *htbs_ahead_take(struct htbs_ahead *ahead)
{
	u32 taken = READ_ONCE(ahead->taken), added;
	struct request *rq;

	do {
		/* Pairs with htbs_ahead_add(). */
		added = smp_load_acquire(&ahead->added);
		if ((s32)(added - taken) <= 0)
			return NULL;
		/* If another CPU takes it, @taken changes, and is read again. */
		rq = READ_ONCE(ahead->requests[taken % HTBS_AHEAD_MAX]);
	} while (!try_cmpxchg(&ahead->taken, &taken, taken + 1));
	return rq;
}

#endif /* HTBS_AHEAD_H */
