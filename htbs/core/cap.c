// SPDX-License-Identifier: GPL-2.0
/*
 * Caps.
 *
 * A flow with a cap is throttled as soon as it is ahead of the cap, which is
 * counted in real time from request to request (GCRA). In any time t the flow
 * dispatches no more than
 *
 *	max * (t + HTBS_CAP_AHEAD) + its largest request
 *
 * A throttled flow is not backlogged: the device is not idled for it, it ends
 * no run, and it gains no share of surplus. In all decisions, its pending
 * requests count as arrived when the flow was unthrottled. So a cap is not
 * mistaken for an overload or a slow device.
 *
 * Some requests cannot be throttled: requests that bypass the policy, and all
 * requests while the queue has to be emptied. They are charged to the cap
 * nevertheless, so later requests of the flow wait longer.
 */
#include <linux/math64.h>

#include <htbs/core/cap.h>
#include <htbs/core/params.h>

/**
 * htbs_cap_init() - set the cap of a flow that has dispatched nothing
 * @cap: the cap
 * @max: the cap, bytes/s; 0: none
 * @now: real time, ns
 */
void htbs_cap_init(struct htbs_cap *cap, u64 max, u64 now)
{
	cap->max = max;
	cap->tag = now;
	cap->rest = 0;
	cap->since = now - HTBS_CAP_DEBT;
	cap->throttled = false;
}

/**
 * htbs_cap_charge() - charge a dispatched request to the cap
 * @cap: the cap
 * @now: real time, ns
 * @cost: bytes charged
 */
void htbs_cap_charge(struct htbs_cap *cap, u64 now, u32 cost)
{
	u64 exact, step;

	if (htbs_before(cap->tag, now)) {
		cap->tag = now;
		cap->rest = 0;
	}
	exact = cost * HTBS_SECOND + cap->rest;
	step = div64_u64(exact, cap->max);
	cap->tag += step;
	cap->rest = exact - step * cap->max;
	if (htbs_before(now + HTBS_CAP_DEBT, cap->tag)) {
		cap->tag = now + HTBS_CAP_DEBT;
		cap->rest = 0;
	}
	cap->throttled = htbs_before(now, htbs_cap_end(cap));
}
