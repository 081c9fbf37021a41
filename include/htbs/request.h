/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler stores in a request, in the fields that struct request
 * leaves to the elevator:
 *
 *	elv.priv[0]	the reservation that it is charged to, and flags
 *	elv.priv[1]	while it is pending: when it arrived, real ns;
 *			once it is urgent or dispatched: when it is due, real ns
 *	elv.icq		once dispatched: when it was dispatched, what it was
 *			charged, and flags; see htbs_rq_set_sent(). Only bfq has
 *			it point to an io_cq
 *	fifo_time	the task that inserted it; only ever compared
 *	queuelist	the reservation's FIFO, or a list of the device
 *	rb_node		the reservation's requests by position
 *
 * Nothing is allocated, so nothing can fail. 64-bit numbers are stored in unsigned
 * longs, which is why Kconfig's 64BIT is required.
 *
 * A request has a reservation from its insertion until it is freed.
 * Passthrough requests, flushes and others without data never have one.
 */
#ifndef HTBS_REQUEST_H
#define HTBS_REQUEST_H

#include <compat/compat.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>

#ifndef CONFIG_64BIT
#error "htbs needs a 64-bit kernel"
#endif

struct htbs_reservation;

/* Dispatched, and neither completed nor given back since. */
#define HTBS_RQ_IN_FLIGHT	1UL
/* Counted in the reservation's statistics, so not again if it is dispatched again. */
#define HTBS_RQ_COUNTED		2UL
/* It may still complete, so it is counted in the reservation's @requests. */
#define HTBS_RQ_HOLDS		4UL

#define HTBS_RQ_FLAGS		7UL

/* Extract the reservation from the value of elv.priv[0]. */
static inline struct htbs_reservation *htbs_charged_reservation(unsigned long charged)
{
	return (void *)(charged & ~HTBS_RQ_FLAGS);
}

static inline struct htbs_reservation *htbs_rq_reservation(struct request *rq)
{
	return htbs_charged_reservation((unsigned long)rq->elv.priv[0]);
}

/* The request has no reservation any more, or none yet. */
static inline void htbs_rq_clear(struct request *rq)
{
	rq->elv.priv[0] = NULL;
}

/* Set the reservation; clears all flags. */
static inline void htbs_rq_set_reservation(struct request *rq,
					   struct htbs_reservation *res)
{
	rq->elv.priv[0] = res;
	rq->elv.icq = NULL;
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

static inline void htbs_rq_set_inserted_by(struct request *rq, const struct task_struct *task)
{
	rq->fifo_time = (unsigned long)task;
}

/* The task that inserted a request; it may have exited. */
static inline const struct task_struct *htbs_rq_inserted_by(const struct request *rq)
{
	return (const struct task_struct *)(unsigned long)rq->fifo_time;
}

/* When a pending request arrived. */
static inline u64 htbs_rq_arrived(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1];
}

static inline void htbs_rq_set_arrived(struct request *rq, u64 arrived)
{
	rq->elv.priv[1] = (void *)(unsigned long)arrived;
}

/* When a dispatched request is due. */
static inline u64 htbs_rq_due(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1];
}

/*
 * The parts of elv.icq, from the lowest bit on: 24 bits for the bytes charged, in
 * sectors; the flags of struct htbs_sent, and HTBS_RQ_POLLED; the lower 32 bits of the time
 * of its dispatch in units of 1024 ns, which suffice if it completes within 73 minutes.
 */
#define HTBS_RQ_COST_MAX	((1U << 24) - 1)
#define HTBS_RQ_SENT_SHIFT	24
#define HTBS_RQ_AT_SHIFT	32
#define HTBS_RQ_AT_UNIT_SHIFT	10

/*
 * A flag besides those of struct htbs_sent: the request is polled, and its tag cannot be used by
 * other requests.
 */
#define HTBS_RQ_POLLED		0x20

static inline u8 htbs_rq_polled(const struct request *rq)
{
	return rq->cmd_flags & REQ_POLLED && !htbs_hctxs_share_tags(rq->q) ? HTBS_RQ_POLLED : 0;
}

/**
 * htbs_rq_set_sent() - keep what the policy has to know when the request completes
 * @rq: the request, dispatched
 * @sent: what to keep
 */
static inline void htbs_rq_set_sent(struct request *rq,
				    const struct htbs_sent *sent)
{
	u64 at = sent->at >> HTBS_RQ_AT_UNIT_SHIFT;
	u64 packed = at << HTBS_RQ_AT_SHIFT |
		     (u32)(sent->flags | htbs_rq_polled(rq)) << HTBS_RQ_SENT_SHIFT |
		     sent->cost >> SECTOR_SHIFT;

	rq->elv.priv[1] = (void *)(unsigned long)sent->due;
	rq->elv.icq = (void *)(unsigned long)packed;
}

/* What htbs_rq_set_sent() has kept, packed. */
static inline u64 htbs_rq_packed(struct request *rq)
{
	return (unsigned long)rq->elv.icq;
}

/* Whether a dispatched request was entitled when it arrived. */
static inline bool htbs_packed_conforms(u64 packed)
{
	return packed >> HTBS_RQ_SENT_SHIFT & HTBS_SENT_CONFORMS;
}

/* Whether a dispatched request is polled. */
static inline bool htbs_packed_polled(u64 packed)
{
	return packed >> HTBS_RQ_SENT_SHIFT & HTBS_RQ_POLLED;
}

/**
 * htbs_unpack_sent() - unpack what htbs_rq_set_sent() has kept
 * @packed: from htbs_rq_packed()
 * @due: when the request is due, real ns
 * @now: real time, ns
 * @sent: the request as the policy knows it
 */
static inline void htbs_unpack_sent(u64 packed, u64 due, u64 now,
				    struct htbs_sent *sent)
{
	u32 for_units = (now >> HTBS_RQ_AT_UNIT_SHIFT) - (packed >> HTBS_RQ_AT_SHIFT);

	*sent = (struct htbs_sent){
		.at	= now - ((u64)for_units << HTBS_RQ_AT_UNIT_SHIFT),
		.due	= due,
		.cost	= (packed & HTBS_RQ_COST_MAX) << SECTOR_SHIFT,
		.flags	= (packed >> HTBS_RQ_SENT_SHIFT) & ~HTBS_RQ_POLLED,
	};
}

/* Unpack what htbs_rq_set_sent() has kept in a request. */
static inline void htbs_rq_sent(struct request *rq, u64 now, struct htbs_sent *sent)
{
	htbs_unpack_sent(htbs_rq_packed(rq), htbs_rq_due(rq), now, sent);
}

/* Whether a dispatched request was entitled when it arrived. */
static inline bool htbs_rq_conforms(struct request *rq)
{
	return htbs_packed_conforms(htbs_rq_packed(rq));
}

/**
 * htbs_data_bytes() - the amount of data that an operation moves
 * @opf: the operation
 * @bytes: the size of its range
 *
 * A discard may cover gigabytes, but moves no data.
 *
 * Return: bytes.
 */
static inline u32 htbs_data_bytes(blk_opf_t opf, u32 bytes)
{
	/* Most are reads and writes. */
	if (likely(!(opf & REQ_OP_MASK & ~REQ_OP_WRITE)))
		return bytes;
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
 * Metadata is read under a file system's locks, and swapped pages belong to
 * others. The block layer issues both as the root cgroup. Throttling them would
 * throttle every task that needs the lock or the memory.
 *
 * Return: true if they may.
 */
static inline bool htbs_op_issued_as_root(blk_opf_t opf)
{
	return (__force u32)(opf & (REQ_META | REQ_SWAP));
}

/*
 * Return true if other groups may wait for a request. They also wait for the data of a
 * write between two flushes, because all other flushes of the device wait for it.
 */
static inline bool htbs_rq_issued_as_root(struct request *rq)
{
	return htbs_op_issued_as_root(rq->cmd_flags) ||
	       (__force u32)(rq->rq_flags & RQF_FLUSH_SEQ);
}

/* The number of bytes that a request is charged. */
static inline u32 htbs_rq_cost(struct request *rq)
{
	return htbs_cost(htbs_data_bytes(rq->cmd_flags, blk_rq_bytes(rq)));
}

/* Fill in what the policy has to know about a request that has arrived. */
static inline void htbs_rq_extent(struct request *rq, u64 arrived,
				  struct htbs_extent *extent)
{
	extent->arrived = arrived;
	extent->pos = blk_rq_pos(rq);
	extent->sectors = blk_rq_sectors(rq);
	extent->cost = htbs_rq_cost(rq);
	extent->sync = op_is_sync(rq->cmd_flags);
	extent->write = op_is_write(rq->cmd_flags);
}

#endif /* HTBS_REQUEST_H */
