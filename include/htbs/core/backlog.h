/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backlogged flows, and those that a cap throttles.
 */
#ifndef HTBS_CORE_BACKLOG_H
#define HTBS_CORE_BACKLOG_H

#include <linux/types.h>

struct htbs_flow;
struct htbs_policy;

void htbs_policy_link(struct htbs_policy *policy, struct htbs_flow *flow);
bool htbs_policy_unlink(struct htbs_policy *policy, struct htbs_flow *flow);

#endif /* HTBS_CORE_BACKLOG_H */
