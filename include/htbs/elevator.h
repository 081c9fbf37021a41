/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The elevator: the operations that blk-mq calls.
 */
#ifndef HTBS_ELEVATOR_H
#define HTBS_ELEVATOR_H

#include <htbs/device.h>

extern struct elevator_type htbs_elevator;

#endif /* HTBS_ELEVATOR_H */
