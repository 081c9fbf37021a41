// SPDX-License-Identifier: GPL-2.0
/* Makes drives for a test that knows nothing of their structure. */
#include <stdlib.h>

#include "../disk.h"

struct disk *host_disk_new(bool write_cache);

struct disk *host_disk_new(bool write_cache)
{
	struct disk *d = malloc(sizeof(*d));

	if (d && disk_init(d, &disk_hd080hj, write_cache)) {
		free(d);
		return NULL;
	}
	return d;
}
