/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The elevator's operations, and attaching it.
 */
#ifndef HTBS_COMPAT_ELEVATOR_H
#define HTBS_COMPAT_ELEVATOR_H

#include <linux/blk-mq.h>
#include <generated/htbs-private.h>

/* The third argument of insert_requests. The flag's value is not in BTF. */
#if HTBS_INSERT_FLAGS
#define htbs_insert_t blk_insert_t
#define HTBS_INSERT_AT_HEAD ((__force blk_insert_t)0x01)
#else
#define htbs_insert_t bool
#define HTBS_INSERT_AT_HEAD true
#endif

/**
 * htbs_insert_at_head() - whether insert_requests inserts at the head
 * @flags: third argument of the operation
 *
 * Warns about an unknown flag, because the values of the flags may have changed then.
 *
 * Return: true if it does.
 */
static inline bool htbs_insert_at_head(htbs_insert_t flags)
{
	WARN_ON_ONCE(flags & ~HTBS_INSERT_AT_HEAD);
	return flags & HTBS_INSERT_AT_HEAD;
}

/**
 * htbs_set_elevator() - set the elevator of a queue
 * @q: queue
 * @eq: elevator with its data set, or NULL
 *
 * The cgroup code reads it under queue_lock.
 */
static inline void htbs_set_elevator(struct request_queue *q, struct elevator_queue *eq)
{
	spin_lock_irq(&q->queue_lock);
	q->elevator = eq;
	spin_unlock_irq(&q->queue_lock);
}

/**
 * HTBS_DEFINE_INIT_SCHED() - define the init_sched operation of an elevator
 * @name: function to define, with the signature of this kernel
 * @impl: int (struct request_queue *q, struct elevator_queue *eq): sets
 *	eq->elevator_data, calls htbs_set_elevator() and may then activate a
 *	cgroup policy; on failure it only undoes its own work
 */
#if HTBS_INIT_SCHED_BY_TYPE
#define HTBS_DEFINE_INIT_SCHED(name, impl)				\
static int name(struct request_queue *q, struct elevator_type *type)	\
{									\
	struct elevator_queue *name##_eq = elevator_alloc(q, type);	\
	int err;							\
									\
	if (!name##_eq)							\
		return -ENOMEM;						\
	err = impl(q, name##_eq);					\
	if (err) {							\
		htbs_set_elevator(q, NULL);				\
		kobject_put(&name##_eq->kobj);				\
	}								\
	return err;							\
}
#else
#define HTBS_DEFINE_INIT_SCHED(name, impl)				\
static int name(struct request_queue *q, struct elevator_queue *name##_eq) \
{									\
	int err;							\
									\
	err = impl(q, name##_eq);					\
	if (err)							\
		htbs_set_elevator(q, NULL);				\
	return err;							\
}
#endif

/*
 * Whether prepare_request has to clear the elevator's fields of a request. It has to on kernels
 * whose flush code keeps its own data in these fields, and which call finish_request for prepared
 * requests. On others the fields are already clear: new requests are zeroed, and finish_request
 * clears the fields of used ones.
 */
#ifdef RQF_ELVPRIV
#define HTBS_PREPARES_REQUESTS	true
#else
#define HTBS_PREPARES_REQUESTS	false
#endif

/**
 * HTBS_DEFINE_DEPTH_UPDATED() - define the elevator's depth_updated operation
 * @name: function to define, with the signature of this kernel
 * @impl: void (struct request_queue *q); may be called once for each hardware
 *	queue
 */
#if HTBS_DEPTH_UPDATED_BY_HCTX
#define HTBS_DEFINE_DEPTH_UPDATED(name, impl)				\
static void name(struct blk_mq_hw_ctx *hctx)				\
{									\
	impl(hctx->queue);						\
}
#else
#define HTBS_DEFINE_DEPTH_UPDATED(name, impl)				\
static void name(struct request_queue *q)				\
{									\
	impl(q);							\
}
#endif

/**
 * htbs_hctx_inactive() - whether all CPUs of a hardware queue are offline
 * @hctx: hardware queue
 *
 * Return: true if they are; the kernel then waits for what is pending there.
 */
static inline bool htbs_hctx_inactive(const struct blk_mq_hw_ctx *hctx)
{
	return test_bit(BLK_MQ_S_INACTIVE, &hctx->state);
}

/**
 * htbs_elevator_lock() - keep a queue's elevator in place while a debugfs file shows it
 * @q: queue
 * @type: the elevator that the file belongs to
 *
 * From 6.16 on, a switch removes the files only after exit_sched. The queue may have
 * no elevator or another one by then. Earlier kernels remove the files first.
 *
 * Return: 0, and then htbs_elevator_unlock() has to be called; -ENODEV if the queue
 * has no elevator or another one; or -EINTR.
 */
static inline int htbs_elevator_lock(struct request_queue *q, const struct elevator_type *type)
{
#if HTBS_ELEVATOR_LOCK
	int err = mutex_lock_interruptible(&q->elevator_lock);

	if (err)
		return err;
	if (!q->elevator || q->elevator->type != type) {
		mutex_unlock(&q->elevator_lock);
		return -ENODEV;
	}
#endif
	return 0;
}

/**
 * htbs_elevator_unlock() - end what htbs_elevator_lock() began
 * @q: queue
 */
static inline void htbs_elevator_unlock(struct request_queue *q)
{
#if HTBS_ELEVATOR_LOCK
	mutex_unlock(&q->elevator_lock);
#endif
}

#endif /* HTBS_COMPAT_ELEVATOR_H */
