// SPDX-License-Identifier: GPL-2.0
/*
 * Merges.
 *
 * A request that has grown by a merge is charged for all of its bytes when it is
 * dispatched. When two requests are merged, the result takes the place of the earlier
 * one. Only requests of the same reservation are merged.
 */
#include <linux/blk-mq.h>

#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/lookup.h>
#include <htbs/merge.h>
#include <htbs/queue.h>
#include <htbs/request.h>
#include <htbs/tag_depth.h>
#include <htbs/trace.h>

/**
 * htbs_allow_merge() - whether a bio may be merged into a request
 * @q: the queue
 * @rq: a pending request
 * @bio: the bio
 *
 * A bio that other groups may wait for is not merged into a request that a cap
 * may throttle.
 *
 * Return: true if both are charged to the same reservation, and the bio is not
 * exempt from its cap.
 */
bool htbs_allow_merge(struct request_queue *q, struct request *rq,
		      struct bio *bio)
{
	struct htbs_reservation *res =
		htbs_reservation_of(htbs_device_of(q), bio);

	if (!res || htbs_rq_reservation(rq) != res)
		return false;
	return !htbs_op_issued_as_root(bio->bi_opf) || !res->flow.cap.max;
}

/**
 * htbs_request_merge() - find a request that begins where a bio ends
 * @q: the queue; dev->lock is held, because blk_mq_sched_try_merge() calls back
 * @rq: the request found
 * @bio: the bio
 *
 * Return: an enum elv_merge.
 */
int htbs_request_merge(struct request_queue *q, struct request **rq,
		       struct bio *bio)
{
	struct htbs_reservation *res = htbs_reservation_of(htbs_device_of(q), bio);
	struct request *found = NULL;

	if (res)
		found = elv_rb_find(htbs_queue_by_pos(res, bio->bi_opf), bio_end_sector(bio));
	if (!found || !elv_bio_merge_ok(found, bio))
		return ELEVATOR_NO_MERGE;

	*rq = found;
	return htbs_discard_mergeable(found) ? ELEVATOR_DISCARD_MERGE :
					       ELEVATOR_FRONT_MERGE;
}

static noinline bool htbs_merge_bio(struct htbs_device *dev, struct bio *bio,
				    unsigned int nr_segs)
{
	struct request *free = NULL;
	unsigned long flags;
	bool merged;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	merged = blk_mq_sched_try_merge(dev->queue, bio, nr_segs, &free);
	if (merged)
		htbs_queue_update_head(dev, htbs_reservation_of(dev, bio));
	htbs_device_unlock_run(dev, flags);

	if (free)
		blk_mq_free_request(free);
	return merged;
}

/**
 * htbs_bio_merge() - merge a bio into a pending request, if there is one
 * @q: the queue
 * @bio: the bio
 * @nr_segs: its segments
 *
 * Return: true if it was merged.
 */
bool htbs_bio_merge(struct request_queue *q, struct bio *bio,
		    unsigned int nr_segs)
{
	struct htbs_device *dev = htbs_device_of(q);

	/* The check may miss a request that is inserted meanwhile. Then the bio is not merged. */
	return htbs_peek(dev->policy.pending) && htbs_merge_bio(dev, bio, nr_segs);
}

/**
 * htbs_request_merged() - a bio was merged into a request
 * @q: the queue
 * @rq: the request; a front merge has moved its first sector
 * @type: where it was merged
 */
void htbs_request_merged(struct request_queue *q, struct request *rq,
			 enum elv_merge type)
{
	struct htbs_reservation *res = htbs_rq_reservation(rq);

	res->unmerged = 0;
	if (type == ELEVATOR_FRONT_MERGE && !RB_EMPTY_NODE(&rq->rb_node)) {
		elv_rb_del(htbs_queue_by_pos(res, rq->cmd_flags), rq);
		elv_rb_add(htbs_queue_by_pos(res, rq->cmd_flags), rq);
	}
	htbs_trace_merge(htbs_device_of(q), res, rq, NULL);
}

/* Two pending requests of one reservation become one, which takes the earlier place. */
static void htbs_merge_places(struct request *rq, struct request *next)
{
	if (!htbs_before(htbs_rq_arrived(next), htbs_rq_arrived(rq)))
		return;
	list_move(&rq->queuelist, &next->queuelist);
	htbs_rq_set_arrived(rq, htbs_rq_arrived(next));
}

/**
 * htbs_requests_merged() - a request was merged into another
 * @q: the queue
 * @rq: the request that stays, pending
 * @next: the request that will be freed: pending too, or about to be inserted
 */
void htbs_requests_merged(struct request_queue *q, struct request *rq,
			  struct request *next)
{
	struct htbs_device *dev = htbs_device_of(q);
	struct htbs_reservation *res = htbs_rq_reservation(rq);
	struct htbs_reservation *other = htbs_rq_reservation(next);

	lockdep_assert_held(&dev->lock);

	res->unmerged = 0;
	if (!other) {
		res->stats.inserted++;
		res->stats.merged++;
		htbs_trace_merge(dev, res, rq, NULL);
		htbs_queue_update_head(dev, res);
		return;
	}

	if (res == other)
		htbs_merge_places(rq, next);
	other->stats.merged++;
	htbs_queue_take(dev, other, next);
	htbs_policy_remove(&dev->policy, &other->flow);
	htbs_tags_account(dev, other);
	htbs_queue_update_head(dev, other);
	if (res != other)
		htbs_queue_update_head(dev, res);
	htbs_trace_merge(dev, other, rq, next);
}
