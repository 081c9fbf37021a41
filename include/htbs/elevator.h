/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The elevator: blk-mq's operations on the core.
 */
#ifndef HTBS_ELEVATOR_H
#define HTBS_ELEVATOR_H

#include <htbs/device.h>

extern struct elevator_type htbs_elevator;

#endif /* HTBS_ELEVATOR_H */
