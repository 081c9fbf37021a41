// SPDX-License-Identifier: GPL-2.0
/*
 * The live state of a device, in /sys/kernel/debug/block/DEV/sched/. It is meant for
 * humans; the format is not stable.
 */
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>

#include <htbs/core/expire.h>
#include <htbs/core/expect.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/core/stall.h>
#include <htbs/core/throttle.h>
#include <htbs/device.h>
#include <htbs/elevator.h>
#include <htbs/sysfs.h>

/* At most this many backlogged flows are listed. */
#define HTBS_LIST_MAX	64

static const char *const htbs_wait_names[] = {
	[HTBS_WAIT_NONE]	= "no",
	[HTBS_WAIT_SERVICE]	= "for a completion, and then for the next request",
	[HTBS_WAIT_ARRIVAL]	= "for the next request",
};

/*
 * Show whether caps throttle pending requests. Parsed by the stall detector of
 * tests/faults.
 */
static void htbs_show_throttled(struct seq_file *sf, struct htbs_device *dev)
{
	struct htbs_policy *policy = &dev->policy;
	bool some = !list_empty(&policy->backlogged) ||
		    !list_empty(&dev->dispatch);
	s64 left;
	u64 at;

	if (!htbs_policy_next_unthrottle(policy, &at)) {
		seq_puts(sf, "throttled       nothing\n");
		return;
	}
	left = at - ktime_get_ns();
	if (left < 0)
		seq_printf(sf, "throttled       overdue by %lld us\n",
			   -left / NSEC_PER_USEC);
	else
		seq_printf(sf, "throttled       %s, for %lld us\n",
			   some ? "some of what is pending" :
			   "all that is pending", left / NSEC_PER_USEC);
}

/*
 * Show how long the oldest request that is not throttled has been pending, and
 * whether this is longer than htbs/core/expire.c allows. Parsed by the stall
 * detector of tests/faults.
 */
static void htbs_show_oldest(struct seq_file *sf, struct htbs_device *dev)
{
	const struct htbs_policy *policy = &dev->policy;
	u64 bound = htbs_policy_bound(policy);
	u64 arrived, age;

	if (!htbs_policy_oldest_arrival(policy, &arrived)) {
		seq_puts(sf, "oldest          none\n");
		return;
	}
	age = ktime_get_ns() - arrived;
	seq_printf(sf, "oldest          pending for %llu us, at most for %llu us%s\n",
		   age / NSEC_PER_USEC, bound / NSEC_PER_USEC,
		   age > bound ? ": overdue" : "");
}

/* Show how long the device takes, and how much it may have. */
static void htbs_show_load(struct seq_file *sf, struct htbs_policy *policy)
{
	const struct htbs_service_time *service = &policy->service;

	seq_printf(sf, "overload        %s\n",
		   policy->overload.now ? "yes" : "no");
	seq_printf(sf, "positioning     %llu us, up to %llu us; %llu us for 1 MiB\n",
		   service->position / NSEC_PER_USEC,
		   htbs_service_time_longest(service) / NSEC_PER_USEC,
		   service->stream * 1024 / NSEC_PER_USEC);
	seq_printf(sf, "margin          %u.%02u mean deviations\n",
		   policy->margin / HTBS_MARGIN_ONE,
		   policy->margin % HTBS_MARGIN_ONE * 100 / HTBS_MARGIN_ONE);
	seq_printf(sf, "stall           %llu us\n",
		   htbs_stall_time(&policy->stall) / NSEC_PER_USEC);
	seq_printf(sf, "in flight       %u reads, %u writes",
		   htbs_policy_in_flight(policy, false),
		   htbs_policy_in_flight(policy, true));
	if (policy->seeks)
		seq_printf(sf, "; %llu us", policy->load.mean / NSEC_PER_USEC);
	seq_printf(sf, "%s\n", policy->held ? "; a request is held back" : "");
	seq_puts(sf, "surplus         ");
	if (!policy->seeks)
		seq_printf(sf, "%u reads in flight, ", htbs_policy_window(policy));
	seq_printf(sf, "%llu bytes/s of writes, %s\n", policy->limits.quota.limit.value,
		   htbs_policy_expected(policy, NULL, ktime_get_ns()) ?
		   "in force" : "not in force");
}

static int htbs_show_state(struct seq_file *sf, struct htbs_device *dev)
{
	struct htbs_policy *policy = &dev->policy;
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	if (policy->active)
		seq_printf(sf, "active          group %llu, run %u\n",
			   htbs_flow_owner(policy->active)->id, policy->run);
	else
		seq_puts(sf, "active          none\n");
	htbs_show_load(sf, policy);
	seq_printf(sf, "ahead           %u\n", HTBS_AHEAD_MAX - htbs_ahead_room(&dev->ahead));
	seq_printf(sf, "kept idle       %s\n", htbs_wait_names[policy->wait]);
	htbs_show_oldest(sf, dev);
	htbs_show_throttled(sf, dev);
	seq_printf(sf, "unscheduled     %s\n",
		   list_empty(&dev->dispatch) && list_empty(&dev->exempt) &&
		   list_empty(&dev->urgent) ?
		   "none" : "pending");
	seq_printf(sf, "background      %u pending, %u in flight\n",
		   policy->background->pending, policy->background->in_flight);
	htbs_device_unlock_run(dev, flags);
	return 0;
}

static void htbs_backlog_line(struct seq_file *sf, struct htbs_flow *flow,
			      u64 now)
{
	seq_printf(sf, "group %llu: %u pending, %u in flight, ",
		   htbs_flow_owner(flow)->id, flow->pending, flow->in_flight);
	/* The background is owed nothing. */
	if (flow->background) {
		seq_puts(sf, "the background\n");
		return;
	}
	seq_printf(sf, "entitled in %lld us, due in %lld us%s\n",
		   (s64)(htbs_flow_start(flow) - now) / NSEC_PER_USEC,
		   (s64)(htbs_flow_deadline(flow) - now) / NSEC_PER_USEC,
		   flow->pool->relaxed ? ", reserves and asks for more than the device has" : "");
}

static void htbs_throttled_line(struct seq_file *sf, struct htbs_flow *flow)
{
	seq_printf(sf, "group %llu: %u pending, %u in flight, throttled by its cap for %lld us\n",
		   htbs_flow_owner(flow)->id, flow->pending, flow->in_flight,
		   (s64)(htbs_cap_end(&flow->cap) - ktime_get_ns()) /
		   NSEC_PER_USEC);
}

static int htbs_show_backlog(struct seq_file *sf, struct htbs_device *dev)
{
	u64 now = ktime_get_ns();
	unsigned int listed = 0;
	struct htbs_flow *flow;
	unsigned long flags;
	struct rb_node *rb;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	list_for_each_entry(flow, &dev->policy.backlogged, backlogged) {
		if (listed++ == HTBS_LIST_MAX) {
			seq_puts(sf, "and more\n");
			break;
		}
		htbs_backlog_line(sf, flow, now);
	}
	for (rb = rb_first_cached(&dev->policy.throttled);
	     rb && listed < HTBS_LIST_MAX; rb = rb_next(rb), listed++)
		htbs_throttled_line(sf, rb_entry(rb, struct htbs_flow, cap.rb));
	htbs_device_unlock_run(dev, flags);
	return 0;
}

static int htbs_show_admission(struct seq_file *sf, struct htbs_device *dev)
{
	return htbs_admission_set_show(&dev->admitted, sf);
}

static int htbs_show_locked(struct request_queue *q, struct seq_file *sf,
			    int (*show)(struct seq_file *sf, struct htbs_device *dev))
{
	/* A task that waits for the lock may have frozen the queue, so reclaim must not do I/O. */
	unsigned int flags = memalloc_noio_save();
	int err = htbs_elevator_lock(q, &htbs_elevator);

	if (!err) {
		err = show(sf, htbs_device_of(q));
		htbs_elevator_unlock(q);
	}
	memalloc_noio_restore(flags);
	return err;
}

static int htbs_state_show(void *data, struct seq_file *sf)
{
	return htbs_show_locked(data, sf, htbs_show_state);
}

static int htbs_backlog_show(void *data, struct seq_file *sf)
{
	return htbs_show_locked(data, sf, htbs_show_backlog);
}

static int htbs_admission_show(void *data, struct seq_file *sf)
{
	return htbs_show_locked(data, sf, htbs_show_admission);
}

const struct blk_mq_debugfs_attr htbs_debugfs_attrs[] = {
	{ "admission", 0400, htbs_admission_show },
	{ "state", 0400, htbs_state_show },
	{ "backlog", 0400, htbs_backlog_show },
	{ },
};
