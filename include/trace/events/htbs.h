/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's decisions. Times are in ns.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM htbs

#if !defined(_TRACE_HTBS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_HTBS_H

#include <linux/blkdev.h>
#include <linux/tracepoint.h>

#include <htbs/core/params.h>

/* A request arrived, and is pending. */
TRACE_EVENT(htbs_arrive,
	TP_PROTO(dev_t dev, u64 group, int request, u64 now, u64 sector,
		 u32 bytes, bool write, u32 pending, bool sync),
	TP_ARGS(dev, group, request, now, sector, bytes, write, pending, sync),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(int, request)
		__field(u64, now)
		__field(u64, sector)
		__field(u32, bytes)
		__field(bool, write)
		__field(u32, cost)
		__field(u32, pending)
		__field(bool, sync)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->request = request;
		__entry->now = now;
		__entry->sector = sector;
		__entry->bytes = bytes;
		__entry->write = write;
		__entry->cost = htbs_cost(bytes);
		__entry->pending = pending;
		__entry->sync = sync;
	),

	TP_printk("%u:%u group=%llu request=%d now=%llu sector=%llu bytes=%u write=%d cost=%u pending=%u sync=%d",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->request, __entry->now, __entry->sector,
		  __entry->bytes, __entry->write, __entry->cost,
		  __entry->pending, __entry->sync)
);

/*
 * A request that other groups may wait for is exempt from its group's cap, or
 * urgent. It has been charged just before this event, unless it was pending
 * before there was a cap.
 */
TRACE_EVENT(htbs_pass,
	TP_PROTO(dev_t dev, u64 group, int request, u64 now, u32 bytes,
		 bool write, u32 pending),
	TP_ARGS(dev, group, request, now, bytes, write, pending),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(int, request)
		__field(u64, now)
		__field(u32, bytes)
		__field(bool, write)
		__field(u32, pending)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->request = request;
		__entry->now = now;
		__entry->bytes = bytes;
		__entry->write = write;
		__entry->pending = pending;
	),

	TP_printk("%u:%u group=%llu request=%d now=%llu bytes=%u write=%d pending=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->request, __entry->now, __entry->bytes,
		  __entry->write, __entry->pending)
);

/*
 * A pending request has grown by a merge: sector and bytes are its place from
 * now on. gone is the pending request that was merged into it, or -1.
 */
TRACE_EVENT(htbs_merge,
	TP_PROTO(dev_t dev, u64 group, int request, int gone, u64 sector,
		 u32 bytes, u32 pending),
	TP_ARGS(dev, group, request, gone, sector, bytes, pending),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(int, request)
		__field(int, gone)
		__field(u64, sector)
		__field(u32, bytes)
		__field(u32, pending)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->request = request;
		__entry->gone = gone;
		__entry->sector = sector;
		__entry->bytes = bytes;
		__entry->pending = pending;
	),

	TP_printk("%u:%u group=%llu request=%d gone=%d sector=%llu bytes=%u pending=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->request, __entry->gone, __entry->sector,
		  __entry->bytes, __entry->pending)
);

/* A request that bypasses the policy was charged. */
TRACE_EVENT(htbs_charge,
	TP_PROTO(dev_t dev, u64 group, u64 now, u32 bytes),
	TP_ARGS(dev, group, now, bytes),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u32, bytes)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->bytes = bytes;
	),

	TP_printk("%u:%u group=%llu now=%llu bytes=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->bytes)
);

/*
 * A request is dispatched. due is when it has to complete; conforms is 1 if it was entitled
 * when it arrived; scheduled is 0 if it bypassed the policy.
 */
TRACE_EVENT(htbs_dispatch,
	TP_PROTO(dev_t dev, u64 group, int request, u64 now, u64 due,
		 bool conforms, u64 sector, u32 bytes, int order, u32 run,
		 u32 pending, u32 in_flight),
	TP_ARGS(dev, group, request, now, due, conforms, sector, bytes, order,
		run, pending, in_flight),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(int, request)
		__field(u64, now)
		__field(u64, due)
		__field(bool, conforms)
		__field(u64, sector)
		__field(u32, bytes)
		__field(bool, scheduled)
		__field(bool, nearest)
		__field(u32, run)
		__field(u32, pending)
		__field(u32, in_flight)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->request = request;
		__entry->now = now;
		__entry->due = due;
		__entry->conforms = conforms;
		__entry->sector = sector;
		__entry->bytes = bytes;
		__entry->scheduled = order != HTBS_ORDER_NONE;
		__entry->nearest = order == HTBS_ORDER_NEAREST;
		__entry->run = run;
		__entry->pending = pending;
		__entry->in_flight = in_flight;
	),

	TP_printk("%u:%u group=%llu request=%d now=%llu due=%llu conforms=%d sector=%llu bytes=%u scheduled=%d nearest=%d run=%u pending=%u in_flight=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->request, __entry->now, __entry->due,
		  __entry->conforms, __entry->sector, __entry->bytes,
		  __entry->scheduled, __entry->nearest, __entry->run,
		  __entry->pending, __entry->in_flight)
);

/*
 * A request completed or was given back. If the device is idled from now on, until is
 * when the wait ends at the latest; otherwise it is 0.
 */
TRACE_EVENT(htbs_complete,
	TP_PROTO(dev_t dev, u64 group, int request, u64 now, bool requeued,
		 u32 in_flight, u64 until),
	TP_ARGS(dev, group, request, now, requeued, in_flight, until),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(int, request)
		__field(u64, now)
		__field(bool, requeued)
		__field(u32, in_flight)
		__field(u64, until)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->request = request;
		__entry->now = now;
		__entry->requeued = requeued;
		__entry->in_flight = in_flight;
		__entry->until = until;
	),

	TP_printk("%u:%u group=%llu request=%d now=%llu requeued=%d in_flight=%u until=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->request, __entry->now, __entry->requeued,
		  __entry->in_flight, __entry->until)
);

DECLARE_EVENT_CLASS(htbs_group,
	TP_PROTO(dev_t dev, u64 group, u64 now),
	TP_ARGS(dev, group, now),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
	),

	TP_printk("%u:%u group=%llu now=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now)
);

/* Another group is active; group 0 is the background. */
DEFINE_EVENT(htbs_group, htbs_switch,
	TP_PROTO(dev_t dev, u64 group, u64 now),
	TP_ARGS(dev, group, now)
);

/* A throttled group is unthrottled. */
DEFINE_EVENT(htbs_group, htbs_go,
	TP_PROTO(dev_t dev, u64 group, u64 now),
	TP_ARGS(dev, group, now)
);

DECLARE_EVENT_CLASS(htbs_until,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 until),
	TP_ARGS(dev, group, now, until),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u64, until)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->until = until;
	),

	TP_printk("%u:%u group=%llu now=%llu until=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->until)
);

/* The device is idled for a group, until the time given at the latest. */
DEFINE_EVENT(htbs_until, htbs_wait_begin,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 until),
	TP_ARGS(dev, group, now, until)
);

/* A group with requests pending is throttled by its cap until the time given. */
DEFINE_EVENT(htbs_until, htbs_stop,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 until),
	TP_ARGS(dev, group, now, until)
);

TRACE_DEFINE_ENUM(HTBS_WAIT_HIT);
TRACE_DEFINE_ENUM(HTBS_WAIT_TIMEOUT);
TRACE_DEFINE_ENUM(HTBS_WAIT_CANCELLED);

TRACE_EVENT(htbs_wait_end,
	TP_PROTO(dev_t dev, u64 group, u64 now, unsigned int outcome),
	TP_ARGS(dev, group, now, outcome),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(unsigned int, outcome)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->outcome = outcome;
	),

	TP_printk("%u:%u group=%llu now=%llu outcome=%s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now,
		  __print_symbolic(__entry->outcome,
				   { HTBS_WAIT_HIT, "hit" },
				   { HTBS_WAIT_TIMEOUT, "timeout" },
				   { HTBS_WAIT_CANCELLED, "cancelled" }))
);

/* A conforming request completed late. */
TRACE_EVENT(htbs_late,
	TP_PROTO(dev_t dev, u64 group, int request, u64 now, u64 late),
	TP_ARGS(dev, group, request, now, late),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(int, request)
		__field(u64, now)
		__field(u64, late)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->request = request;
		__entry->now = now;
		__entry->late = late;
	),

	TP_printk("%u:%u group=%llu request=%d now=%llu late=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->request, __entry->now, __entry->late)
);

/*
 * The next request is held back until a request completes or a group that had none pending has
 * one, and, if until is not 0, until that time at the latest. read_window is in requests,
 * write_quota in bytes/s.
 */
TRACE_EVENT(htbs_hold,
	TP_PROTO(dev_t dev, u64 now, u32 reads, u32 writes, u32 read_window,
		 u64 write_quota, u64 until),
	TP_ARGS(dev, now, reads, writes, read_window, write_quota, until),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, now)
		__field(u32, reads)
		__field(u32, writes)
		__field(u32, read_window)
		__field(u64, write_quota)
		__field(u64, until)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->now = now;
		__entry->reads = reads;
		__entry->writes = writes;
		__entry->read_window = read_window;
		__entry->write_quota = write_quota;
		__entry->until = until;
	),

	TP_printk("%u:%u now=%llu reads=%u writes=%u read_window=%u write_quota=%llu until=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->now,
		  __entry->reads, __entry->writes, __entry->read_window,
		  __entry->write_quota, __entry->until)
);

DECLARE_EVENT_CLASS(htbs_phase,
	TP_PROTO(dev_t dev, u64 now, bool begins),
	TP_ARGS(dev, now, begins),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, now)
		__field(bool, begins)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->now = now;
		__entry->begins = begins;
	),

	TP_printk("%u:%u now=%llu begins=%d",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->now,
		  __entry->begins)
);

/* An overload begins, because more is reserved than the device can do; or it ends. */
DEFINE_EVENT(htbs_phase, htbs_overload,
	TP_PROTO(dev_t dev, u64 now, bool begins),
	TP_ARGS(dev, now, begins)
);

/* A drain of the queue, during which caps throttle nothing, begins or ends. */
DEFINE_EVENT(htbs_phase, htbs_drain,
	TP_PROTO(dev_t dev, u64 now, bool begins),
	TP_ARGS(dev, now, begins)
);

DECLARE_EVENT_CLASS(htbs_promise,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 bw, u64 burst, u64 latency,
		 u32 iops, u32 pool),
	TP_ARGS(dev, group, now, bw, burst, latency, iops, pool),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u64, bw)
		__field(u64, burst)
		__field(u64, latency)
		__field(u32, iops)
		__field(u32, pool)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->bw = bw;
		__entry->burst = burst;
		__entry->latency = latency;
		__entry->iops = iops;
		__entry->pool = pool;
	),

	TP_printk("%u:%u group=%llu now=%llu bw=%llu burst=%llu latency=%llu iops=%u pool=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->bw, __entry->burst, __entry->latency,
		  __entry->iops, __entry->pool)
);

/*
 * A group has come to the device. The fields are the reservation that it would have. pool: 0: its
 * own; 1: shared by all groups without one; 2: the root's, which these groups share.
 */
DEFINE_EVENT(htbs_promise, htbs_join,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 bw, u64 burst, u64 latency,
		 u32 iops, u32 pool),
	TP_ARGS(dev, group, now, bw, burst, latency, iops, pool)
);

/* A reservation changed. pool is as above; the group may have had another one before. */
DEFINE_EVENT(htbs_promise, htbs_config,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 bw, u64 burst, u64 latency,
		 u32 iops, u32 pool),
	TP_ARGS(dev, group, now, bw, burst, latency, iops, pool)
);

/* The weight of a reservation changed; 0: it has none. */
TRACE_EVENT(htbs_share,
	TP_PROTO(dev_t dev, u64 group, u64 now, u32 weight),
	TP_ARGS(dev, group, now, weight),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u32, weight)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->weight = weight;
	),

	TP_printk("%u:%u group=%llu now=%llu weight=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->weight)
);

/* The cap of a reservation changed; 0: it has none. */
TRACE_EVENT(htbs_cap,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 max),
	TP_ARGS(dev, group, now, max),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u64, max)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->max = max;
	),

	TP_printk("%u:%u group=%llu now=%llu max=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->max)
);

/* A group is gone from the device. */
TRACE_EVENT(htbs_leave,
	TP_PROTO(dev_t dev, u64 group),
	TP_ARGS(dev, group),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
	),

	TP_printk("%u:%u group=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group)
);

/*
 * A tunable changed, or the device was attached. position is the mean time of one
 * positioning.
 */
TRACE_EVENT(htbs_tunables,
	TP_PROTO(dev_t dev, bool attached, u64 t_wait, u64 position,
		 bool rotational, u32 late_one_in, u32 late_one_in_writes),
	TP_ARGS(dev, attached, t_wait, position, rotational, late_one_in, late_one_in_writes),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(bool, attached)
		__field(u64, t_wait)
		__field(u64, position)
		__field(bool, rotational)
		__field(u32, late_one_in)
		__field(u32, late_one_in_writes)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->attached = attached;
		__entry->t_wait = t_wait;
		__entry->position = position;
		__entry->rotational = rotational;
		__entry->late_one_in = late_one_in;
		__entry->late_one_in_writes = late_one_in_writes;
	),

	TP_printk("%u:%u attached=%d t_wait=%llu position=%llu rotational=%d late_one_in=%u late_one_in_writes=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->attached,
		  __entry->t_wait, __entry->position, __entry->rotational,
		  __entry->late_one_in, __entry->late_one_in_writes)
);

#endif /* _TRACE_HTBS_H */

/* Kbuild's include path finds this file where the kernel's own files would be. */
#include <trace/define_trace.h>
