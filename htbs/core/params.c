// SPDX-License-Identifier: GPL-2.0
/*
 * What a reservation promises.
 */
#include <htbs/core/params.h>

/**
 * htbs_params_valid() - whether a reservation is within the ranges of params.h
 * @params: the reservation
 *
 * Return: true if each number that is given is within its HTBS_*_MIN and HTBS_*_MAX, bytes or
 *	operations are reserved, and the cap, if any, is no less than the bandwidth.
 */
bool htbs_params_valid(const struct htbs_params *params)
{
	u64 rate = htbs_params_rate(params);

	return rate >= HTBS_BW_MIN && rate <= HTBS_BW_MAX &&
	       params->iops <= HTBS_IOPS_MAX &&
	       params->burst >= HTBS_BURST_MIN &&
	       params->burst <= HTBS_BURST_MAX &&
	       params->latency >= HTBS_LATENCY_MIN &&
	       params->latency <= HTBS_LATENCY_MAX &&
	       params->max <= HTBS_BW_MAX &&
	       (!params->max || params->max >= rate) &&
	       params->weight <= HTBS_WEIGHT_MAX;
}
