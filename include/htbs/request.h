/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler stores in a request, in the fields that struct request
 * leaves to the elevator:
 *
 *	elv.priv[0]	the reservation it is charged to, and flags
 *	elv.priv[1]	while it is pending: its start tag by bytes, as stored
 *			(see htbs_flow_start_tag()), virtual ns;
 *			once dispatched: when it is due, real ns
 *	elv.icq		while it is pending: the same by operations;
 *			once dispatched: when it was, real ns. Only bfq has
 *			it point to an io_cq
 *	fifo_time	while it is pending: when it is due. Later 6.1 uses
 *			the place for completion by another CPU
 *	queuelist	the reservation's FIFO, or a list of the device
 *	rb_node		the reservation's requests by position
 *
 * Nothing is allocated, so nothing can fail. Three 64-bit numbers are stored in
 * unsigned longs, which is why Kconfig's 64BIT is required.
 *
 * A request has a reservation from its insertion until finish_request().
 * Passthrough requests, flushes and others without data never have one.
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
/* Conformed when it arrived. */
#define HTBS_RQ_CONFORMS	4UL

#define HTBS_RQ_FLAGS		7UL

static inline struct htbs_reservation *htbs_rq_reservation(struct request *rq)
{
	return (void *)((unsigned long)rq->elv.priv[0] & ~HTBS_RQ_FLAGS);
}

/* Set or, with NULL, clear the reservation; clears all flags. */
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

/* The start tags of a pending request, as stored. */
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

/* The start tag of a request that is being dispatched. */
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

/* Exchange the tags of two pending requests. */
static inline void htbs_rq_swap_tags(struct request *one, struct request *other)
{
	swap(one->elv.priv[1], other->elv.priv[1]);
	swap(one->elv.icq, other->elv.icq);
	swap(one->fifo_time, other->fifo_time);
}

/* Keep when a dispatched request is due in place of its start tag. */
static inline void htbs_rq_keep_due(struct request *rq)
{
	rq->elv.priv[1] = (void *)(unsigned long)rq->fifo_time;
}

/* When a dispatched request is due. */
static inline u64 htbs_rq_kept_due(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1];
}

/* When a request was dispatched. */
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
 * @bytes: the size of its range
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
 * htbs_op_issued_as_root() - whether other groups may wait for an operation
 * @opf: the operation
 *
 * Metadata is read under a file system's locks, and pages that are swapped
 * belong to others: the block layer issues both as the root cgroup. To throttle
 * them would be to throttle every task that needs the lock or the memory.
 *
 * Return: true if they may.
 */
static inline bool htbs_op_issued_as_root(blk_opf_t opf)
{
	return (__force u32)(opf & (REQ_META | REQ_SWAP));
}

/*
 * Whether other groups may wait for a request. They also wait for the data of a
 * write between two flushes: all other flushes of the device do.
 */
static inline bool htbs_rq_issued_as_root(struct request *rq)
{
	return htbs_op_issued_as_root(rq->cmd_flags) ||
	       (__force u32)(rq->rq_flags & RQF_FLUSH_SEQ);
}

/* The bytes that a request is charged. */
static inline u32 htbs_rq_cost(struct request *rq)
{
	return htbs_cost(htbs_data_bytes(rq->cmd_flags, blk_rq_bytes(rq)));
}

#endif /* HTBS_REQUEST_H */
