// SPDX-License-Identifier: GPL-2.0
/* What a test on the host has to know of the structures in disk.h, flash.h and jitter.h. */
#include "../disk.h"
#include "../flash.h"
#include "../jitter.h"

size_t host_disk_size(void)
{
	return sizeof(struct disk);
}

size_t host_jitter_size(void)
{
	return sizeof(struct jitter);
}

u32 host_disk_cylinders(const struct disk *d)
{
	return d->cyls;
}

/* Pages programmed for the host, and all pages: their ratio is the write amplification. */
void host_flash_pages(const struct flash *f, u64 *host, u64 *all)
{
	*host = f->host_pages;
	*all = f->host_pages + f->gc_pages;
}

/* Whether tables and counts agree. */
bool host_flash_is_sound(const struct flash *f)
{
	u32 blocks = f->p.dies * f->blocks, slot, block, sum = 0, in_block;

	for (slot = 0; slot < f->slots; slot++)
		if (f->where[slot] < ~0U - 1 && f->origin[f->where[slot]] != slot)
			return false;
	for (block = 0; block < blocks; block++) {
		in_block = 0;
		if (f->valid[block] == ~0U)
			continue;
		for (slot = block * f->block_slots; slot < (block + 1) * f->block_slots; slot++)
			if (f->origin[slot] < f->slots && f->where[f->origin[slot]] == slot)
				in_block++;
		if (in_block != f->valid[block])
			return false;
		sum += in_block;
	}
	return sum == f->total_valid && f->held <= f->ring_size && f->ring_used <= f->held;
}
