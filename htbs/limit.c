// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduler tags: who leaves some to others.
 *
 * However many flood the device, others must find a tag: who does asynchronous I/O
 * leaves the last quarter to the rest, and so does who has its share of that
 * quarter, which would leave one for another who comes.  Asking the task is right
 * for direct I/O; write-back, where it is wrong, is asynchronous.
 */
#include <linux/blk-mq.h>

#include <htbs/limit.h>
#include <htbs/reservation.h>

/*
 * Has it had its share of the last quarter of the tags?  Whose request it will be
 * isn't known yet: the task's cgroup is asked.
 */
static bool htbs_task_had_share(struct htbs_device *dev, u32 tags)
{
	u32 share = tags / 4 / (READ_ONCE(dev->policy.busy) + 1);
	struct htbs_reservation *res;
	u32 held;

	/* Nobody has more than all have together, which is told sooner. */
	held = READ_ONCE(dev->policy.pending) +
	       READ_ONCE(dev->policy.in_flight);
	if (!held || held < share)
		return false;

	rcu_read_lock();
	res = htbs_reservation_of_task(dev);
	held = READ_ONCE(res->flow.pending) + READ_ONCE(res->flow.in_flight);
	rcu_read_unlock();
	return held && held >= share;
}

/**
 * htbs_limit_tags() - blk-mq's limit_depth: how many tags may an allocation see
 * @opf: what the request will be
 * @data: the allocation
 */
void htbs_limit_tags(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	if (!op_is_sync(opf) || htbs_task_had_share(htbs_device_of(data->q),
						    htbs_tags(data->q)))
		htbs_limit_depth(data);
}
