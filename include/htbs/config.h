/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Set, change and remove the reservations of groups.
 */
#ifndef HTBS_CONFIG_H
#define HTBS_CONFIG_H

#include <htbs/device.h>

struct htbs_group;
struct htbs_stored_config;

void htbs_reservation_change(struct htbs_reservation *res,
			     struct htbs_device *dev,
			     const struct htbs_params *params);
void htbs_reservation_end(struct htbs_reservation *res,
			  struct htbs_device *dev);
int htbs_group_set(struct htbs_group *group, const struct htbs_params *params,
		   struct htbs_stored_config **saved);
int htbs_group_reset(struct htbs_group *group);
int htbs_device_set_defaults(struct htbs_device *dev,
			     const struct htbs_params *params);

#endif /* HTBS_CONFIG_H */
