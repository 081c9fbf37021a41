// SPDX-License-Identifier: GPL-2.0
/* What a test on the host has to know of the structures in disk.h. */
#include "../disk.h"

size_t host_disk_size(void)
{
	return sizeof(struct disk);
}

u32 host_disk_cylinders(const struct disk *d)
{
	return d->cyls;
}
