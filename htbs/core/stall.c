// SPDX-License-Identifier: GPL-2.0
/*
 * Stalls: what a device takes now and then for a single request.
 *
 * A drive with shingled tracks cleans, one with a volatile cache puts it on its medium, a
 * hypervisor runs another guest.  That takes many times as long as to position, once in so
 * many requests that mean and deviation tell nothing of it.  So the longest time is kept
 * that the device took for a single request, as BBR keeps the shortest round-trip time.  A
 * time that was seen once says little: the drive may have had to spin up.  What is late because of
 * it says nothing of how long the device takes else.
 */
#include <htbs/core/params.h>
#include <htbs/core/service.h>
#include <htbs/core/stall.h>

/**
 * htbs_stall_learn() - a request has completed
 * @stall: that of the device
 * @now: real time, ns
 * @took: how long the device took for it, ns
 */
void htbs_stall_learn(struct htbs_stall *stall, u64 now, u64 took)
{
	u64 age = now - stall->since;

	if (took > HTBS_HORIZON)
		took = HTBS_HORIZON;
	if (age > HTBS_MEMORY)
		*stall = (struct htbs_stall){ .longest = stall->second,
					      .before = age > 2 * HTBS_MEMORY ? 0 : stall->second,
					      .since = now, .over = stall->over,
					      .lasted = stall->lasted };
	if (took > stall->longest) {
		stall->second = stall->longest;
		stall->longest = took;
	} else if (took > stall->second) {
		stall->second = took;
	}
}

/**
 * htbs_stall_time() - how long a stall takes
 * @stall: that of the device
 *
 * Return: what a request took twice within the last one or two HTBS_MEMORY, ns.
 */
u64 htbs_stall_time(const struct htbs_stall *stall)
{
	return stall->second > stall->before ? stall->second : stall->before;
}

/**
 * htbs_stall_note() - the device has stalled
 * @stall: that of the device, which has learned from the request
 * @now: real time, ns
 * @took: how long the device took for a request, ns
 * @own: how much of that is believed to be the request's own, ns
 *
 * Until the requests that waited for a stall are served they seem to be stalls themselves.
 */
void htbs_stall_note(struct htbs_stall *stall, u64 now, u64 took, u64 own)
{
	if (took <= own || htbs_before(now + took - own, stall->over))
		return;
	stall->lasted = took - own;
	stall->over = now + stall->lasted;
}

/**
 * htbs_stall_delays() - whether a request is late as the device has stalled
 * @stall: that of the device
 * @arrived: when the request arrived, ns
 * @latency: within which it is to be completed, ns
 *
 * Requests that arrive during a stall are served after it. With half of the device reserved that
 * takes as long as the stall. A margin could allow for a stall that is shorter than the latency, so
 * such a stall does not count.
 *
 * Return: true if it may.
 */
bool htbs_stall_delays(const struct htbs_stall *stall, u64 arrived, u64 latency)
{
	return stall->lasted >= latency && htbs_before(arrived, stall->over);
}
