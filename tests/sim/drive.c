// SPDX-License-Identifier: GPL-2.0
/* See drive.h.  All that this simulation knows of tests/simdisk is in this file. */
#include <disk.h>

#include "drive.h"

static struct disk sim_disk;

void sim_drive_reset(void)
{
	disk_init(&sim_disk, &disk_hd080hj, false);
}

u64 sim_drive_sectors(void)
{
	return disk_hd080hj.sectors;
}

/* When a command is complete that the drive gets now, ns. */
u64 sim_drive_serve(u64 now, bool write, u64 sector, u32 sectors)
{
	return disk_service(&sim_disk, now, write ? DISK_WRITE : DISK_READ,
			    sector, sectors);
}
