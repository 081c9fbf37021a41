/* SPDX-License-Identifier: GPL-2.0 */
/* The simulated disk, as the simulation uses it: one command at a time. */
#ifndef HTBS_SIM_DRIVE_H
#define HTBS_SIM_DRIVE_H

#include <linux/types.h>

void sim_drive_reset(void);
u64 sim_drive_sectors(void);
u64 sim_drive_serve(u64 now, bool write, u64 sector, u32 sectors);

#endif /* HTBS_SIM_DRIVE_H */
