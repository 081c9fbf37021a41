// SPDX-License-Identifier: GPL-2.0
/*
 * Stalls: how long a device takes now and then for a single request.
 *
 * A drive with shingled tracks cleans, a drive with a volatile cache writes it to the medium, or a
 * hypervisor runs another guest. A request then takes many times as long as a positioning, but this
 * is so rare that mean and deviation do not show it. So HTBS keeps the longest time that the device
 * took for a single request, as BBR keeps the shortest round-trip time. A time that was seen only
 * once says little, because the drive may have spun up. If a request is late because of a stall,
 * that says nothing about how long the device takes otherwise.
 */
#include <htbs/core/params.h>
#include <htbs/core/service.h>
#include <htbs/core/stall.h>

/**
 * htbs_stall_learn() - learn from a completed request
 * @stall: the stalls of the device
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
 * @stall: the stalls of the device
 *
 * Return: the longest time that requests took at least twice within the last one or two
 *	HTBS_MEMORY, ns.
 */
u64 htbs_stall_time(const struct htbs_stall *stall)
{
	return stall->second > stall->before ? stall->second : stall->before;
}

/**
 * htbs_stall_note() - note that the device has stalled
 * @stall: the stalls of the device, which already include the request
 * @now: real time, ns
 * @took: how long the device took for a request, ns
 * @own: how much of that is the request's own service time, as far as known, ns
 *
 * Until the requests that waited for a stall are served, they look like stalls themselves. They are
 * ignored, unless they delay requests until later than the stall does.
 */
void htbs_stall_note(struct htbs_stall *stall, u64 now, u64 took, u64 own)
{
	if (took <= own || htbs_before(now + took - own, stall->over))
		return;
	stall->lasted = took - own;
	stall->over = now + stall->lasted;
}

/**
 * htbs_stall_delays() - whether a request may be late because the device has stalled
 * @stall: the stalls of the device
 * @arrived: when the request arrived, ns
 * @latency: within which it has to complete, ns
 *
 * Requests that arrive during a stall are served after it. If half of the device is reserved, that
 * takes as long as the stall. A stall that is shorter than the latency does not count, because a
 * margin could allow for it.
 *
 * Return: true if it may.
 */
bool htbs_stall_delays(const struct htbs_stall *stall, u64 arrived, u64 latency)
{
	return stall->lasted >= latency && htbs_before(arrived, stall->over);
}
