/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: the operations that blk-cgroup calls.
 */
#ifndef HTBS_GROUP_H
#define HTBS_GROUP_H

#include <compat/compat.h>
#include <htbs/device.h>

struct cftype;

int htbs_reservations_register(struct cftype *files);
void htbs_reservations_unregister(void);

int htbs_reservations_attach(struct htbs_device *dev);
void htbs_reservations_detach(struct htbs_device *dev);
void htbs_device_put(struct htbs_device *dev);

#endif /* HTBS_GROUP_H */
