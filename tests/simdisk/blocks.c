// SPDX-License-Identifier: GPL-2.0
/*
 * What lies where on a flash drive, and garbage collection; flash.c has the times.
 *
 * Layout. The drive maps slots of 4 KiB, the host's to those of the flash. A page,
 * a few slots (on all planes of a die), is read or programmed at a time; a block,
 * some hundred pages, is erased at a time. Blocks are written from their first
 * page to their last, and not again before they were erased.
 *
 * Garbage collection. An overwritten slot's old place is lost until its block is
 * erased. Each die for itself collects the block with the least data when few
 * erased ones are left, and in step with the writes: a victim with v pages of
 * data and g pages lost gains g, and costs v copies, so each page from the host
 * brings v/g copies with it. A copy is a read of the pages the data is in, two
 * transfers and a program. Random overwrites, small spare: large v. Sequential
 * overwrites: no data is left in the victims, and only the erasure is to pay.
 *
 * A new drive has to be filled before any of this is seen. flash_init() gives the
 * state that random overwrites of 4 KiB lead to: the older the block, the less
 * data is left in it. (The fraction falls exponentially with age, Desnoyers,
 * "Analytic models of SSD write performance", ACM Transactions on Storage 10(2),
 * 2014; over the range it spans with usual spares, a straight line is as good.)
 *
 * A block's slots are looked at once while it is collected.
 */
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "blocks.h"

/* Erased blocks of a die below which it collects; they come on top of the spare. */
#define RESERVE		4

/* Values in flash.valid, of no block with data. */
#define ERASED		(~0U)

/* A prime, above all numbers of slots: its multiples modulo one of these are all slots. */
#define SCATTER		2654435761U

static u32 block_slots(const struct flash_profile *p)
{
	return p->block_pages * (p->page_kb / SLOT_KB);
}

static u32 host_slots(const struct flash_profile *p)
{
	return p->size_mb * (1024 / SLOT_KB);
}

/* Blocks of a die: the host's share, the spare, the open one and the reserve. */
static u32 die_blocks(const struct flash_profile *p)
{
	u32 share = host_slots(p) / p->dies / block_slots(p) + 1;

	return share + share * p->spare_permille / 1000 + 2 + RESERVE;
}

/**
 * flash_size() - memory for a drive
 * @p: its profile, checked
 *
 * Return: bytes.
 */
size_t flash_size(const struct flash_profile *p)
{
	u32 blocks = p->dies * die_blocks(p);

	return sizeof(struct flash) + sizeof(u32) * (host_slots(p) + blocks * block_slots(p) +
						     blocks + p->buffer_kb / SLOT_KB);
}

/**
 * blocks_die_of() - which die has a slot
 * @f: the drive
 * @place: the slot of flash
 *
 * Return: its number.
 */
u32 blocks_die_of(const struct flash *f, u32 place)
{
	return place / (f->blocks * f->block_slots);
}

/* Blocks are numbered through the dies. */
static u32 first_block(const struct flash *f, const struct flash_die *die)
{
	return (die - f->die) * f->blocks;
}

/**
 * blocks_forget() - what the host's slot had is data no more
 * @f: the drive
 * @slot: the host's
 */
void blocks_forget(struct flash *f, u32 slot)
{
	u32 place = f->where[slot];

	f->where[slot] = NOWHERE;
	if (place == NOWHERE || place == BUFFERED)
		return;
	f->valid[place / f->block_slots]--;
	f->die[blocks_die_of(f, place)].valid--;
	f->total_valid--;
}

/**
 * blocks_put() - write a slot to the open block
 * @f: the drive
 * @die: its die
 * @slot: the host's, or NOWHERE for no data
 */
void blocks_put(struct flash *f, struct flash_die *die, u32 slot)
{
	u32 place = die->open * f->block_slots + die->next++;

	f->origin[place] = slot;
	if (slot == NOWHERE)
		return;
	blocks_forget(f, slot);
	f->where[slot] = place;
	f->valid[die->open]++;
	die->valid++;
	f->total_valid++;
}

/* Fill the page begun. */
static void pad(struct flash *f, struct flash_die *die)
{
	while (die->next % f->page_slots)
		blocks_put(f, die, NOWHERE);
}

/**
 * blocks_open() - see to it that a page can be written
 * @f: the drive
 * @die: the die
 *
 * There is an erased block: as no die has a block more of data than its share
 * (takes_page() in flash.c), some block has lost 6 percent at least, which is three
 * pages; and from when collection begins, with RESERVE erased blocks, no more pages
 * are written than it gains (blocks_owe()).
 */
void blocks_open(struct flash *f, struct flash_die *die)
{
	u32 block = first_block(f, die);

	if (die->open != NONE && die->next < f->block_slots)
		return;
	while (f->valid[block] != ERASED)
		block++;
	f->valid[block] = 0;
	die->open = block;
	die->next = 0;
	die->erased--;
}

static void choose_victim(struct flash *f, struct flash_die *die)
{
	u32 first = first_block(f, die), block;

	die->victim = NONE;
	for (block = first; block < first + f->blocks; block++)
		if (f->valid[block] != ERASED && block != die->open &&
		    (die->victim == NONE || f->valid[block] < f->valid[die->victim]))
			die->victim = block;
	die->scan = 0;
	die->cost = DIV_ROUND_UP(f->valid[die->victim], f->page_slots);
	die->debt = 0;
}

/* A victim without data owes no more copies, and is to be erased. */
static bool retire_victim(struct flash *f, struct flash_die *die)
{
	if (f->valid[die->victim])
		return false;
	die->copies = 0;
	die->erase = true;
	return true;
}

/**
 * blocks_owe() - a page from the host brings its share of copies with it
 * @f: the drive
 * @die: the die that programmed it
 *
 * When a victim's gain is written by the host, and its cost by copies, a block was
 * filled and one erased.
 */
void blocks_owe(struct flash *f, struct flash_die *die)
{
	u32 gain;

	if (die->victim == NONE && die->erased < RESERVE)
		choose_victim(f, die);
	if (die->victim == NONE || retire_victim(f, die))
		return;
	gain = f->p.block_pages - die->cost;
	die->debt += die->cost;
	die->copies += die->debt / gain;
	die->debt %= gain;
}

/**
 * blocks_erase() - erase the victim
 * @f: the drive
 * @die: its die
 */
void blocks_erase(struct flash *f, struct flash_die *die)
{
	die->erase = false;
	die->erased++;
	f->valid[die->victim] = ERASED;
	die->victim = NONE;
}

/**
 * blocks_copy() - copy a page's worth of data from the victim
 * @f: the drive
 * @die: the die, which owes a copy
 * @slots: how much was copied, none if there was no data left
 *
 * Return: pages it was in.
 */
u32 blocks_copy(struct flash *f, struct flash_die *die, u32 *slots)
{
	u32 base = die->victim * f->block_slots, page = NONE, pages = 0;

	*slots = 0;
	if (retire_victim(f, die))
		return 0;
	die->copies--;
	blocks_open(f, die);
	for (; *slots < f->page_slots && f->valid[die->victim]; die->scan++) {
		u32 place = base + die->scan, slot = f->origin[place];

		if (slot == NOWHERE || f->where[slot] != place)
			continue;
		pages += place / f->page_slots != page;
		page = place / f->page_slots;
		blocks_put(f, die, slot);
		(*slots)++;
	}
	pad(f, die);
	retire_victim(f, die);
	f->gc_pages++;
	return pages;
}

/*
 * Fill a die with its share of the host's slots, with less and less data in the
 * older blocks, and the open block partly, so that the dies are not in step.
 */
static void age_die(struct flash *f, struct flash_die *die)
{
	u32 index = die - f->die, step = (u64)f->p.dies * SCATTER % f->slots;
	u32 share = (f->slots - index + f->p.dies - 1) / f->p.dies, closed = f->blocks - RESERVE;
	u32 slot = (u64)index * SCATTER % f->slots, rank, n;
	u64 lost = (u64)closed * f->block_slots - share, before = 0, until;

	for (rank = 0; rank < closed; rank++) {
		blocks_open(f, die);
		until = div_u64(lost * (rank + 1) * rank, closed * (closed - 1));
		for (n = f->block_slots - (until - before); n; n--) {
			blocks_put(f, die, slot);
			slot += step;
			if (slot >= f->slots)
				slot -= f->slots;
		}
		before = until;
		while (die->next < f->block_slots)
			blocks_put(f, die, NOWHERE);
	}
	blocks_open(f, die);
	for (n = f->p.block_pages * index / f->p.dies * f->page_slots; n; n--)
		blocks_put(f, die, NOWHERE);
}

/**
 * flash_init() - make a drive of a profile
 * @f: the drive, flash_size() bytes
 * @p: its profile, checked
 * @precondition: in the state that random writes have brought it to; else empty
 */
void flash_init(struct flash *f, const struct flash_profile *p, bool precondition)
{
	struct flash_die *die;
	u32 i;

	memset(f, 0, sizeof(*f));
	f->p = *p;
	f->blocks = die_blocks(p);
	f->page_slots = p->page_kb / SLOT_KB;
	f->block_slots = block_slots(p);
	f->slots = host_slots(p);
	f->ring_size = p->buffer_kb / SLOT_KB;
	f->where = (u32 *)(f + 1);
	f->origin = f->where + f->slots;
	f->valid = f->origin + f->p.dies * f->blocks * f->block_slots;
	f->ring = f->valid + f->p.dies * f->blocks;
	for (i = 0; i < f->slots; i++)
		f->where[i] = NOWHERE;
	for (i = 0; i < f->p.dies * f->blocks; i++)
		f->valid[i] = ERASED;
	for (die = f->die; die < f->die + f->p.dies; die++) {
		die->erased = f->blocks;
		die->open = NONE;
		die->victim = NONE;
		if (precondition)
			age_die(f, die);
	}
}
