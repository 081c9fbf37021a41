// SPDX-License-Identifier: GPL-2.0
/*
 * The files that each request passes, in one compilation unit, as of kernel/sched: the
 * compiler inlines across them. What each request passes just once is __always_inline:
 * the functions have external linkage, as each file compiles by itself, too, so that the
 * compiler would inline only the small ones, and keep the structs they pass in memory.
 */
#include "core/service.c"
#include "core/owed.c"
#include "core/ready.c"
#include "core/pace.c"
#include "core/fair.c"
#include "core/limit.c"
#include "core/quota.c"
#include "core/destage.c"
#include "core/cap.c"
#include "core/flow.c"
#include "core/pool.c"
#include "core/backlog.c"
#include "core/inflight.c"
#include "core/margin.c"
#include "core/late.c"
#include "core/overload.c"
#include "core/wait.c"
#include "core/run.c"
#include "core/expire.c"
#include "core/throttle.c"
#include "core/urgent.c"
#include "core/choose.c"
#include "core/learn.c"
#include "core/policy.c"
#include "cgroup/reservation.c"
#include "cgroup/lookup.c"
#include "blk/tag_depth.c"
#include "blk/queue.c"
#include "blk/merge.c"
#include "blk/dispatch.c"
#include "blk/insert.c"
#include "blk/complete.c"
