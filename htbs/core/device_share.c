// SPDX-License-Identifier: GPL-2.0
/*
 * A flow's share of the device's time, in an overload.
 *
 * In an overload shares are in proportion to the reserved bandwidths. Beside a
 * flow with a thousand times what the device can do, other flows would wait for
 * minutes. So no flow counts for more than the whole device: beside its tags by
 * bytes and by operations (curves.c) it has one by the device's time, without a
 * burst, which advances by the time that the device took for each of its
 * requests. With n flows busy, each gets
 *
 *	the n-th part of the time that the device works, or
 *	the n-th part of what it reserved if that takes less:
 *
 * while the device works for one flow that flow's tag advances by as much, and
 * the time by which tags are given advances with all n. Turns go by finish
 * tags, so a flow with a longer latency waits for the difference first.
 *
 * How long a request took is known when it completes: the time since the
 * completion before, as no more is known with many in flight. Pending requests
 * have their tags by then, so the flow's place in the tree moves, not their
 * tags. When the overload ends, a tag is ahead of the virtual clock by one
 * request's time at most.
 */
#include <htbs/core/backlog.h>
#include <htbs/core/curve.h>
#include <htbs/core/device_share.h>
#include <htbs/core/flow.h>
#include <htbs/core/policy.h>

/* A tag further ahead than this is a moment of long ago. */
#define HTBS_DEVICE_SHARE_AHEAD		3600000000000ULL	/* ns: 1 h */

/*
 * A request that took longer, as the drive had to spin up, is charged this
 * much.
 */
#define HTBS_DEVICE_SHARE_MAX		1000000000ULL		/* ns: 1 s */

/* Whether the tag by the device's time is later than @v. */
static bool htbs_device_share_ahead(const struct htbs_flow *flow, u64 v)
{
	return flow->device_tagged &&
	       flow->device_tag - v - 1 < HTBS_DEVICE_SHARE_AHEAD;
}

/**
 * htbs_device_share_wake() - a flow becomes backlogged
 * @flow: the flow
 * @v: virtual time by which tags are given
 */
void htbs_device_share_wake(struct htbs_flow *flow, u64 v)
{
	flow->device_tagged = htbs_device_share_ahead(flow, v);
}

/**
 * htbs_device_share_start() - the start tag for a flow's place in the tree
 * @flow: the flow
 * @v: virtual time by which tags are given
 * @start: S of its oldest request, virtual ns
 *
 * Return: the later of @start and the tag by the device's time, virtual ns.
 */
u64 htbs_device_share_start(struct htbs_flow *flow, u64 v, u64 start)
{
	if (flow->device_tagged && htbs_before(start, flow->device_tag))
		return flow->device_tag;
	htbs_device_share_wake(flow, v);
	return start;
}

/**
 * htbs_device_share_charge() - charge the device's time for a request
 * @policy: the policy
 * @flow: its flow
 * @took: what htbs_service_end() returned, ns
 */
void htbs_device_share_charge(struct htbs_policy *policy,
			      struct htbs_flow *flow, u64 took)
{
	u64 most = policy->v + HTBS_DEVICE_SHARE_AHEAD;

	if (!htbs_policy_overloaded(policy) || flow == policy->background)
		return;
	if (!htbs_device_share_ahead(flow, policy->v))
		flow->device_tag = policy->v;
	flow->device_tagged = true;
	flow->device_tag += took < HTBS_DEVICE_SHARE_MAX ? took :
						     HTBS_DEVICE_SHARE_MAX;
	if (htbs_before(most, flow->device_tag))
		flow->device_tag = most;
	if (!flow->pending || !htbs_before(flow->node.start, flow->device_tag))
		return;

	htbs_policy_unlink(policy, flow);
	flow->node.start = flow->device_tag;
	flow->node.finish = flow->device_tag + flow->curve.params.latency;
	htbs_policy_link(policy, flow);
}
