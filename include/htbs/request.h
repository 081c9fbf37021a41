/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler keeps in a request, in the fields that struct request
 * lends to its elevator:
 *
 *	elv.priv[0]	the reservation it is charged to, and flags
 *	elv.priv[1]	while it is pending: its start tag by bytes as it is
 *			kept, see htbs_flow_start_tag(), virtual ns;
 *			once dispatched: when it is due, real ns
 *	elv.icq		while it is pending: the same by operations;
 *			once dispatched: when, real ns.  Only bfq has it point
 *			to what its name says
 *	fifo_time	while it is pending: when it is due.  Then 6.1 has
 *			another use for the place: completion by another CPU
 *	queuelist	the reservation's FIFO, or the device's dispatch list
 *	rb_node		the reservation's requests by position
 *
 * Nothing is allocated, so nothing can fail.  Three 64-bit numbers live in
 * unsigned longs, which is why Kconfig's 64BIT is required.
 *
 * A request has a reservation from its insertion until finish_request().
 * Passthrough requests, flushes and what else has no data never get one.
 */
#ifndef HTBS_REQUEST_H
#define HTBS_REQUEST_H

#include <compat/compat.h>
#include <htbs/core/curve.h>
#include <htbs/core/curves.h>

#ifndef CONFIG_64BIT
#error "htbs needs a 64-bit kernel"
#endif

struct htbs_reservation;

/* Dispatched, and neither completed nor given back since. */
#define HTBS_RQ_IN_FLIGHT	1UL
/* Counted in the reservation's statistics; it may be dispatched again. */
#define HTBS_RQ_COUNTED		2UL
/* Kept to the arrival curve when it came: it may count on being done when due. */
#define HTBS_RQ_CONFORMS	4UL

#define HTBS_RQ_FLAGS		7UL

static inline struct htbs_reservation *htbs_rq_reservation(struct request *rq)
{
	return (void *)((unsigned long)rq->elv.priv[0] & ~HTBS_RQ_FLAGS);
}

/* A new owner, or NULL for none; no flag is set. */
static inline void htbs_rq_set_reservation(struct request *rq,
					   struct htbs_reservation *res)
{
	rq->elv.priv[0] = res;
}

static inline bool htbs_rq_flag(struct request *rq, unsigned long flag)
{
	return (unsigned long)rq->elv.priv[0] & flag;
}

static inline void htbs_rq_set_flag(struct request *rq, unsigned long flag)
{
	rq->elv.priv[0] = (void *)((unsigned long)rq->elv.priv[0] | flag);
}

static inline void htbs_rq_clear_flag(struct request *rq, unsigned long flag)
{
	rq->elv.priv[0] = (void *)((unsigned long)rq->elv.priv[0] & ~flag);
}

/* The start tags of a pending request as they are kept. */
static inline struct htbs_start_tags htbs_rq_tags(struct request *rq)
{
	return (struct htbs_start_tags){
		.bytes	= (unsigned long)rq->elv.priv[1],
		.ops	= (unsigned long)rq->elv.icq,
	};
}

static inline void htbs_rq_set_tags(struct request *rq,
				    const struct htbs_start_tags *kept)
{
	rq->elv.priv[1] = (void *)(unsigned long)kept->bytes;
	rq->elv.icq = (void *)(unsigned long)kept->ops;
}

/* The start tag of a request that is just being dispatched. */
static inline u64 htbs_rq_start(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1];
}

static inline void htbs_rq_set_start(struct request *rq, u64 start)
{
	rq->elv.priv[1] = (void *)(unsigned long)start;
}

/* When a pending request is due. */
static inline u64 htbs_rq_due(struct request *rq)
{
	return rq->fifo_time;
}

static inline void htbs_rq_set_due(struct request *rq, u64 due)
{
	rq->fifo_time = due;
}

/* Two pending requests change places in the order of tags. */
static inline void htbs_rq_swap_tags(struct request *one, struct request *other)
{
	swap(one->elv.priv[1], other->elv.priv[1]);
	swap(one->elv.icq, other->elv.icq);
	swap(one->fifo_time, other->fifo_time);
}

/* The request is dispatched: its start tag has done its duty. */
static inline void htbs_rq_keep_due(struct request *rq)
{
	rq->elv.priv[1] = (void *)(unsigned long)rq->fifo_time;
}

/* When a dispatched request is due. */
static inline u64 htbs_rq_kept_due(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1];
}

/* When a dispatched request was. */
static inline void htbs_rq_set_sent(struct request *rq, u64 now)
{
	rq->elv.icq = (void *)(unsigned long)now;
}

static inline u64 htbs_rq_sent(struct request *rq)
{
	return (unsigned long)rq->elv.icq;
}

/**
 * htbs_data_bytes() - the data that an operation moves
 * @opf: the operation
 * @bytes: the bytes it is about
 *
 * A discard may name gigabytes and moves none of them.
 *
 * Return: bytes.
 */
static inline u32 htbs_data_bytes(blk_opf_t opf, u32 bytes)
{
	switch (opf & REQ_OP_MASK) {
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
	case REQ_OP_WRITE_ZEROES:
		return 0;
	default:
		return bytes;
	}
}

/**
 * htbs_op_issued_as_root() - is it I/O that others wait for
 * @opf: the operation
 *
 * Metadata, which is read under a file system's locks, and pages that are swapped:
 * what the block layer issues as the root cgroup.  To throttle it would be to throttle
 * whatever task needs the lock or the memory.
 *
 * Return: true if it is.
 */
static inline bool htbs_op_issued_as_root(blk_opf_t opf)
{
	return (__force u32)(opf & (REQ_META | REQ_SWAP));
}

/*
 * The same of a request.  The data of a write between two flushes, too: all other
 * flushes of the device wait for it.
 */
static inline bool htbs_rq_issued_as_root(struct request *rq)
{
	return htbs_op_issued_as_root(rq->cmd_flags) ||
	       (__force u32)(rq->rq_flags & RQF_FLUSH_SEQ);
}

/* What a request is charged. */
static inline u32 htbs_rq_cost(struct request *rq)
{
	return htbs_cost(htbs_data_bytes(rq->cmd_flags, blk_rq_bytes(rq)));
}

#endif /* HTBS_REQUEST_H */
