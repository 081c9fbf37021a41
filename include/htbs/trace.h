/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler tells those who watch: each decision as a tracepoint
 * (htbs:*) and, while blktrace runs, as a message in its stream.
 */
#ifndef HTBS_TRACE_H
#define HTBS_TRACE_H

#include <htbs/device.h>

void htbs_trace_tag(struct htbs_device *dev, struct htbs_reservation *res,
		    struct request *rq, u64 now,
		    const struct htbs_arrival *arrival);
void htbs_trace_merge(struct htbs_device *dev, struct htbs_reservation *res,
		      struct request *rq, struct request *gone);
void htbs_trace_charge(struct htbs_device *dev, struct htbs_reservation *res,
		       u64 now, u32 bytes);
void htbs_trace_choice(struct htbs_device *dev,
		       const struct htbs_choice *choice,
		       const struct htbs_flow *was_active, u64 now);
void htbs_trace_dispatch(struct htbs_device *dev, struct htbs_reservation *res,
			 struct request *rq, u64 now, bool tagged);
void htbs_trace_complete(struct htbs_device *dev, struct htbs_reservation *res,
			 struct request *rq, u64 now, bool waits);
void htbs_trace_give_back(struct htbs_device *dev,
			  struct htbs_reservation *res, struct request *rq,
			  u64 now);
void htbs_trace_wait_end(struct htbs_device *dev,
			 const struct htbs_flow *flow, u64 now,
			 enum htbs_outcome outcome);
void htbs_trace_late(struct htbs_device *dev, struct htbs_reservation *res,
		     struct request *rq, u64 now, u64 late);
void htbs_trace_overload(struct htbs_device *dev, u64 now);
void htbs_trace_config(struct htbs_device *dev, struct htbs_reservation *res,
		       u64 now);
void htbs_trace_join(struct htbs_device *dev, struct htbs_reservation *res);
void htbs_trace_leave(struct htbs_device *dev, struct htbs_reservation *res,
		      bool waited);
void htbs_trace_tunables(struct htbs_device *dev, bool attached);

#endif /* HTBS_TRACE_H */
