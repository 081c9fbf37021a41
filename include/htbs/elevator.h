/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The elevator: blk-mq's operations on the rooms below.
 */
#ifndef HTBS_ELEVATOR_H
#define HTBS_ELEVATOR_H

#include <htbs/device.h>

extern struct elevator_type htbs_elevator;

void htbs_device_set_b_max(struct htbs_device *dev, u32 b_max);
void htbs_device_set_t_wait(struct htbs_device *dev, u64 t_wait);
void htbs_device_set_rule(struct htbs_device *dev, enum htbs_rule rule);

#endif /* HTBS_ELEVATOR_H */
