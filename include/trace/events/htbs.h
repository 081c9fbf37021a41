/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every decision of the scheduler.  What arrives, what is tagged, chosen,
 * waited for and completed can be replayed from these through the
 * specification.  Times are in ns; start, finish and v are virtual.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM htbs

#if !defined(_TRACE_HTBS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_HTBS_H

#include <linux/blkdev.h>
#include <linux/tracepoint.h>

/* A request got its tags.  It conforms if start == v. */
TRACE_EVENT(htbs_tag,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 v, u64 start, u64 finish,
		 u64 sector, u32 bytes, u32 cost, u32 pending),
	TP_ARGS(dev, group, now, v, start, finish, sector, bytes, cost, pending),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u64, v)
		__field(u64, start)
		__field(u64, finish)
		__field(u64, sector)
		__field(u32, bytes)
		__field(u32, cost)
		__field(u32, pending)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->v = v;
		__entry->start = start;
		__entry->finish = finish;
		__entry->sector = sector;
		__entry->bytes = bytes;
		__entry->cost = cost;
		__entry->pending = pending;
	),

	TP_printk("%u:%u group=%llu now=%llu v=%llu start=%llu finish=%llu sector=%llu bytes=%u cost=%u pending=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->v, __entry->start, __entry->finish,
		  __entry->sector, __entry->bytes, __entry->cost,
		  __entry->pending)
);

/* Bytes were charged for a merge, and a request may be pending no more. */
TRACE_EVENT(htbs_merge,
	TP_PROTO(dev_t dev, u64 group, u64 sector, u32 bytes, u32 pending,
		 u64 oldest),
	TP_ARGS(dev, group, sector, bytes, pending, oldest),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, sector)
		__field(u32, bytes)
		__field(u32, pending)
		__field(u64, oldest)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->sector = sector;
		__entry->bytes = bytes;
		__entry->pending = pending;
		__entry->oldest = oldest;
	),

	TP_printk("%u:%u group=%llu sector=%llu bytes=%u pending=%u oldest=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->sector, __entry->bytes, __entry->pending,
		  __entry->oldest)
);

/* A request goes to the driver; tagged is 0 if it went first, unscheduled. */
TRACE_EVENT(htbs_dispatch,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 start, u64 sector,
		 u32 bytes, bool sync, bool tagged, u32 run, u32 pending),
	TP_ARGS(dev, group, now, start, sector, bytes, sync, tagged, run,
		pending),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u64, start)
		__field(u64, sector)
		__field(u32, bytes)
		__field(bool, sync)
		__field(bool, tagged)
		__field(u32, run)
		__field(u32, pending)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->start = start;
		__entry->sector = sector;
		__entry->bytes = bytes;
		__entry->sync = sync;
		__entry->tagged = tagged;
		__entry->run = run;
		__entry->pending = pending;
	),

	TP_printk("%u:%u group=%llu now=%llu start=%llu sector=%llu bytes=%u sync=%d tagged=%d run=%u pending=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->start, __entry->sector,
		  __entry->bytes, __entry->sync, __entry->tagged,
		  __entry->run, __entry->pending)
);

/* A request is with the driver no more: completed, or given back. */
TRACE_EVENT(htbs_complete,
	TP_PROTO(dev_t dev, u64 group, u64 now, bool requeued, u32 in_flight),
	TP_ARGS(dev, group, now, requeued, in_flight),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(bool, requeued)
		__field(u32, in_flight)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->requeued = requeued;
		__entry->in_flight = in_flight;
	),

	TP_printk("%u:%u group=%llu now=%llu requeued=%d in_flight=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->requeued, __entry->in_flight)
);

/* Another reservation is active; group 0 is the background, unbounded. */
TRACE_EVENT(htbs_switch,
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

/* The device is kept for a reservation, until then at the latest. */
TRACE_EVENT(htbs_wait_begin,
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

/* Nothing that is pending conforms: the virtual clock jumped. */
TRACE_EVENT(htbs_drift,
	TP_PROTO(dev_t dev, u64 now, u64 jump, u64 drift),
	TP_ARGS(dev, now, jump, drift),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, now)
		__field(u64, jump)
		__field(u64, drift)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->now = now;
		__entry->jump = jump;
		__entry->drift = drift;
	),

	TP_printk("%u:%u now=%llu jump=%llu drift=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->now,
		  __entry->jump, __entry->drift)
);

/* A conforming request completed after its latency. */
TRACE_EVENT(htbs_late,
	TP_PROTO(dev_t dev, u64 group, u64 now, u64 late),
	TP_ARGS(dev, group, now, late),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, now)
		__field(u64, late)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->now = now;
		__entry->late = late;
	),

	TP_printk("%u:%u group=%llu now=%llu late=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->now, __entry->late)
);

/* More is reserved than the device can do; or no longer. */
TRACE_EVENT(htbs_overload,
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

/* A reservation promises something else. */
TRACE_EVENT(htbs_config,
	TP_PROTO(dev_t dev, u64 group, u64 bw, u64 burst, u64 latency),
	TP_ARGS(dev, group, bw, burst, latency),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, group)
		__field(u64, bw)
		__field(u64, burst)
		__field(u64, latency)
	),

	TP_fast_assign(
		__entry->dev = dev;
		__entry->group = group;
		__entry->bw = bw;
		__entry->burst = burst;
		__entry->latency = latency;
	),

	TP_printk("%u:%u group=%llu bw=%llu burst=%llu latency=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		  __entry->bw, __entry->burst, __entry->latency)
);

#endif /* _TRACE_HTBS_H */

/* Kbuild has this file found where the kernel's own would be. */
#include <trace/define_trace.h>
