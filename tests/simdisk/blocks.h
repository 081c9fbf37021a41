/* SPDX-License-Identifier: GPL-2.0 */
/* What lies where on a flash drive: between blocks.c and flash.c only. */
#ifndef SIMDISK_BLOCKS_H
#define SIMDISK_BLOCKS_H

#include "flash.h"

#define SLOT_KB		4
#define SLOT_SECTORS	8

/* Values in flash.where and flash.origin, of no slot. */
#define NOWHERE		(~0U)
#define BUFFERED	(~0U - 1)

/* No block. */
#define NONE		(~0U)

u32 blocks_die_of(const struct flash *f, u32 place);
void blocks_forget(struct flash *f, u32 slot);
void blocks_put(struct flash *f, struct flash_die *die, u32 slot);
void blocks_open(struct flash *f, struct flash_die *die);
void blocks_owe(struct flash *f, struct flash_die *die);
void blocks_erase(struct flash *f, struct flash_die *die);
u32 blocks_copy(struct flash *f, struct flash_die *die, u32 *slots);

#endif
