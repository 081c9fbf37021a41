// SPDX-License-Identifier: GPL-2.0
/*
 * Model of a flash drive. The kernel module and the host tests are built from
 * this file; drive.h has what one asks of it.
 *
 * Layout. The drive maps slots of 4 KiB, the host's to those of the flash. A page,
 * a few slots (on all planes of a die), is read or programmed at a time; a block,
 * some hundred pages, is erased at a time. Blocks are written from their first
 * page to their last, and not again before they were erased.
 *
 * Dies. A die does one thing at a time: it reads a page and moves what is wanted
 * of it over its channel, or takes a page from the channel and programs it, or
 * erases a block. (Dies that share a channel don't get into each other's way here:
 * two of them use less than half of it, even when all the drive does is to read
 * whole pages.) What it has begun it ends: there is no suspension, so a read
 * waits for the program or the erasure that it finds. But reads go before programs
 * that have not begun; only after read_run reads in a row a program has its turn.
 *
 * Writes are complete when they are in the buffer, which capacitors protect: a
 * flush has nothing to do. Each die that has nothing else to do takes a page's
 * worth from it. The slots it had in the buffer are free when it has programmed
 * them. When the buffer is full writes wait, first come, first served. Reads of
 * what is in the buffer don't go to the dies.
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
 * What the host never wrote, or discarded, is read without the dies, as drives
 * do. Left out: wear, retries of reads, the mapping's own pages, collection while
 * the drive is idle, and that data in the course of being programmed could still
 * be read from the buffer.
 *
 * The dies' work is done when a command comes or there is room for a write, but in
 * the order of the time it belongs to. It is O(number of dies) per page, and a
 * block's slots are looked at once while it is collected.
 */
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "flash.h"

#define SLOT_KB		4
#define SLOT_SECTORS	8

/* Erased blocks of a die below which it collects; they come on top of the spare. */
#define RESERVE		4

/* The dies' work is caught up with so often, lest much of it comes due at once. */
#define CATCH_UP_NS	1000000

/* Values in flash.where and flash.whose, of no slot. */
#define NOWHERE		(~0U)
#define BUFFERED	(~0U - 1)

/* Values in flash.valid, of no block with data. */
#define ERASED		(~0U)

/* No block. */
#define NONE		(~0U)

/* A prime, above all numbers of slots: its multiples modulo one of these are all slots. */
#define SCATTER		2654435761U

/*
 * A third of an Intel SSD DC P4500 of 1 TB: TLC, PCIe 3.0 x4. A third, so that it
 * is the drive that limits what a guest on an emulated CPU gets. Rates are a third
 * of the published ones, which are in brackets; latencies are whole.
 *
 *	random reads of 4 KiB	93,000/s (279,500)	latency 85 us
 *	random writes of 4 KiB	10,200/s (30,500)	latency 20 us
 *	sequential reads	1067 MB/s (3200)
 *	sequential writes	200 MB/s (600)
 *
 * The unit test checks that these come out of the numbers below.
 *
 * Capacity is less than a third, for the tables' sake: it tells how long filling
 * the drive takes, while the state it is in depends on the spare alone.
 */
const struct flash_profile flash_tlc = {
	.size_mb = 8192,
	/*
	 * Not published; drives of its class have 7 to 28 percent. With 15 the
	 * published ratio of sequential to random writes comes out.
	 */
	.spare_permille = 150,
	/* Of 24 dies, each as fast as the published rates have them, 8 are a third. */
	.dies = 8,
	/*
	 * Two planes of 8 KiB, 256 pages per block, 75 us to read, 3.8 ms to erase:
	 * Tavakkol et al., "MQSim", FAST 2018, the set-up they validate against
	 * real drives. They have 750 us to program; 650 give the published rate.
	 */
	.page_kb = 16,
	.block_pages = 256,
	.read_ns = 75000,
	.program_ns = 650000,
	.erase_ns = 3800000,
	/* ONFI 4.0, NV-DDR3: 800 MT/s, 8 bits wide. */
	.channel_kbps = 800000,
	/* A third of 3.2 GB/s. */
	.link_kbps = 1067000,
	/* What the published latencies leave: reads 85 us, writes 20 us. */
	.controller_ns = 2000,
	.buffer_ns = 10000,
	/* Not published. Fills in a moment, drains in 40 ms at the sustained rate. */
	.buffer_kb = 8192,
	/* Not published; eight reads take as long as a program. */
	.read_run = 8,
};

/**
 * flash_check() - see whether a profile makes a drive
 * @p: the profile
 *
 * Return: NULL, or what is wrong with it and how to mend it.
 */
const char *flash_check(const struct flash_profile *p)
{
	if (p->size_mb < 512 || p->size_mb > 65536)
		return "size_mb: must be 512 to 65536 for flash";
	if (p->spare_permille < 70 || p->spare_permille > 500)
		return "spare_permille: must be 70 to 500";
	if (!p->dies || p->dies > FLASH_MAX_DIES)
		return "dies: must be 1 to 32";
	if (!p->page_kb || p->page_kb > 64 || p->page_kb % SLOT_KB)
		return "page_kb: must be a multiple of 4, 64 at most";
	if (p->block_pages < 64 || p->block_pages > 8192 / p->page_kb)
		return "block_pages: must be 64 or more, and a block 8 MiB at most";
	if (!p->channel_kbps || !p->link_kbps)
		return "channel_kbps, link_kbps: must not be 0";
	if (p->buffer_kb < 1024 || p->buffer_kb > 1048576)
		return "buffer_kb: must be 1024 to 1048576";
	return NULL;
}

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

static u32 die_of(const struct flash *f, u32 place)
{
	return place / (f->blocks * f->block_slots);
}

/* Blocks are numbered through the dies. */
static u32 first_block(const struct flash *f, const struct flash_die *die)
{
	return (die - f->die) * f->blocks;
}

/* What the host's slot had is data no more. */
static void forget(struct flash *f, u32 slot)
{
	u32 place = f->where[slot];

	f->where[slot] = NOWHERE;
	if (place == NOWHERE || place == BUFFERED)
		return;
	f->valid[place / f->block_slots]--;
	f->die[die_of(f, place)].valid--;
	f->total_valid--;
}

/* Write a slot to the open block, with the host's data or none (NOWHERE). */
static void put(struct flash *f, struct flash_die *die, u32 slot)
{
	u32 place = die->open * f->block_slots + die->next++;

	f->whose[place] = slot;
	if (slot == NOWHERE)
		return;
	forget(f, slot);
	f->where[slot] = place;
	f->valid[die->open]++;
	die->valid++;
	f->total_valid++;
}

/* Fill the page begun. */
static void pad(struct flash *f, struct flash_die *die)
{
	while (die->next % f->page_slots)
		put(f, die, NOWHERE);
}

/*
 * See to it that a page can be written. There is an erased block: as no die has a
 * block more of data than its share (takes_page()), some block has lost 6 percent
 * at least, which is three pages; and from when collection begins, with RESERVE
 * erased blocks, no more pages are written than it gains (owe()).
 */
static void open_block(struct flash *f, struct flash_die *die)
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

/*
 * A page from the host brings its share of copies with it: when a victim's gain
 * is written by the host, and its cost by copies, a block was filled and one erased.
 */
static void owe(struct flash *f, struct flash_die *die)
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

/* Time to move slots over a channel. */
static u64 move_ns(const struct flash *f, u32 slots)
{
	return div_u64((u64)slots * SLOT_KB * 1024 * 1000000, f->p.channel_kbps);
}

static u64 erase(struct flash *f, struct flash_die *die, u64 t)
{
	die->erase = false;
	die->erased++;
	f->valid[die->victim] = ERASED;
	die->victim = NONE;
	return t + f->p.erase_ns;
}

/* Copy a page's worth of data from the victim. */
static u64 copy(struct flash *f, struct flash_die *die, u64 t)
{
	u32 base = die->victim * f->block_slots, slots = 0, page = NONE, pages = 0;

	if (retire_victim(f, die))
		return t;
	die->copies--;
	open_block(f, die);
	for (; slots < f->page_slots && f->valid[die->victim]; die->scan++) {
		u32 place = base + die->scan, slot = f->whose[place];

		if (slot == NOWHERE || f->where[slot] != place)
			continue;
		pages += place / f->page_slots != page;
		page = place / f->page_slots;
		put(f, die, slot);
		slots++;
	}
	pad(f, die);
	retire_victim(f, die);
	f->gc_pages++;
	return t + pages * f->p.read_ns + 2 * move_ns(f, slots) + f->p.program_ns;
}

/* Program a page from the buffer. */
static u64 program(struct flash *f, struct flash_die *die, u64 t)
{
	u32 n;

	open_block(f, die);
	for (n = 0; n < f->page_slots; n++) {
		u32 slot = f->ring[f->ring_first];

		/* Discarded, or written again after that and taken already. */
		put(f, die, f->where[slot] == BUFFERED ? slot : NOWHERE);
		f->ring_first = (f->ring_first + 1) % f->ring_size;
	}
	f->ring_used -= n;
	f->host_pages++;
	owe(f, die);
	die->program_slots = n;
	die->program_ns = t + move_ns(f, n) + f->p.program_ns;
	return die->program_ns;
}

/* A die that has far more data than the others leaves the buffer to them. */
static bool takes_page(const struct flash *f, const struct flash_die *die)
{
	return f->ring_used >= f->page_slots &&
	       (u64)die->valid * f->p.dies <= f->total_valid + (u64)f->block_slots * f->p.dies;
}

/* When a die begins the next program or erasure, if no read comes. */
static u64 begin_ns(const struct flash *f, const struct flash_die *die)
{
	if (die->copies || die->erase)
		return die->free_ns;
	return takes_page(f, die) ? max(die->free_ns, f->filled_ns) : DRIVE_NEVER;
}

/* Give back the buffer's slots that a die has programmed. */
static void release(struct flash *f, struct flash_die *die)
{
	f->held -= die->program_slots;
	die->program_slots = 0;
}

static void begin(struct flash *f, struct flash_die *die, u64 t)
{
	release(f, die);
	die->reads = 0;
	if (die->erase)
		die->free_ns = erase(f, die, t);
	else if (die->copies)
		die->free_ns = copy(f, die, t);
	else
		die->free_ns = program(f, die, t);
}

/* The die that is the first to begin something, and that not after @t. */
static struct flash_die *next_die(struct flash *f, u64 t)
{
	struct flash_die *die, *first = NULL;

	for (die = f->die; die < f->die + f->p.dies; die++) {
		u64 start = begin_ns(f, die);

		if (start <= t && (!first || start < begin_ns(f, first)))
			first = die;
	}
	return first;
}

/* Do what the dies begin and end until @t. */
static void advance(struct flash *f, u64 t)
{
	struct flash_die *die;

	while ((die = next_die(f, t)))
		begin(f, die, begin_ns(f, die));
	for (die = f->die; die < f->die + f->p.dies; die++)
		if (die->program_slots && die->program_ns <= t)
			release(f, die);
}

/* Read slots of one page, not before @t. */
static u64 read_page(struct flash *f, struct flash_die *die, u64 t, u32 slots)
{
	u64 start = begin_ns(f, die);

	if (start != DRIVE_NEVER && ++die->reads > f->p.read_run)
		begin(f, die, max(start, t));
	die->free_ns = max(die->free_ns, t) + f->p.read_ns + move_ns(f, slots);
	return die->free_ns;
}

static u64 read_slots(struct flash *f, u64 t, u32 slot, u32 end)
{
	u64 done = t;

	while (slot < end) {
		u32 place = f->where[slot], n = 1;

		if (place != NOWHERE && place != BUFFERED) {
			while (slot + n < end && f->where[slot + n] == place + n &&
			       (place + n) % f->page_slots)
				n++;
			done = max(done, read_page(f, &f->die[die_of(f, place)], t, n));
		}
		slot += n;
	}
	return done;
}

static void decided(struct flash *f, struct drive_cmd *cmd)
{
	cmd->next = f->decided;
	f->decided = cmd;
}

static u32 first_slot(const struct drive_cmd *cmd)
{
	return div_u64(cmd->sector, SLOT_SECTORS);
}

static u32 end_slot(const struct drive_cmd *cmd)
{
	return div_u64(cmd->sector + cmd->nr + SLOT_SECTORS - 1, SLOT_SECTORS);
}

/* Move a command's data over the link, not before @t. */
static u64 transfer(struct flash *f, const struct drive_cmd *cmd, u64 t)
{
	f->link_ns = max(f->link_ns, t) + div_u64((u64)cmd->nr * 512 * 1000000, f->p.link_kbps);
	return f->link_ns;
}

/* Put as much of the first write into the buffer as it takes, the command when all. */
static bool take_write(struct flash *f, u64 now)
{
	struct drive_cmd *cmd = f->writes;
	u32 slot = first_slot(cmd) + f->taken;

	for (; slot < end_slot(cmd); slot++, f->taken++) {
		if (f->where[slot] == BUFFERED)
			continue;
		if (f->held == f->ring_size)
			return false;
		forget(f, slot);
		f->where[slot] = BUFFERED;
		f->ring[(f->ring_first + f->ring_used++) % f->ring_size] = slot;
		f->held++;
		f->filled_ns = now;
	}
	cmd->done = transfer(f, cmd, max(now, cmd->arrived + f->p.controller_ns)) + f->p.buffer_ns;
	f->taken = 0;
	f->writes = cmd->next;
	decided(f, cmd);
	return true;
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
		open_block(f, die);
		until = div_u64(lost * (rank + 1) * rank, closed * (closed - 1));
		for (n = f->block_slots - (until - before); n; n--) {
			put(f, die, slot);
			slot += step;
			if (slot >= f->slots)
				slot -= f->slots;
		}
		before = until;
		while (die->next < f->block_slots)
			put(f, die, NOWHERE);
	}
	open_block(f, die);
	for (n = f->p.block_pages * index / f->p.dies * f->page_slots; n; n--)
		put(f, die, NOWHERE);
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
	f->whose = f->where + f->slots;
	f->valid = f->whose + f->p.dies * f->blocks * f->block_slots;
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

/**
 * flash_submit() - give the drive a command
 * @f: the drive
 * @cmd: the command, arrived not before an earlier one
 */
void flash_submit(struct flash *f, struct drive_cmd *cmd)
{
	u64 t = cmd->arrived + f->p.controller_ns;
	u32 slot;

	switch (cmd->op) {
	case DRIVE_WRITE:
	case DRIVE_WRITE_FUA:
		cmd->next = NULL;
		*(f->writes ? &f->last_write->next : &f->writes) = cmd;
		f->last_write = cmd;
		return;
	case DRIVE_READ:
		advance(f, t);
		t = max(read_slots(f, t, first_slot(cmd), end_slot(cmd)), transfer(f, cmd, t));
		break;
	case DRIVE_DISCARD:
		for (slot = div_u64(cmd->sector + SLOT_SECTORS - 1, SLOT_SECTORS);
		     slot < div_u64(cmd->sector + cmd->nr, SLOT_SECTORS); slot++)
			forget(f, slot);
		break;
	case DRIVE_FLUSH:
		break;
	}
	cmd->done = t;
	decided(f, cmd);
}

/**
 * flash_decide() - let the drive do what it does until a time
 * @f: the drive
 * @now: the time
 *
 * Return: a command whose completion is known now, NULL for none.
 */
struct drive_cmd *flash_decide(struct flash *f, u64 now)
{
	struct drive_cmd *cmd;

	f->now = now;
	if (!f->decided) {
		advance(f, now);
		while (f->writes && take_write(f, now))
			advance(f, now);
	}
	cmd = f->decided;
	if (cmd)
		f->decided = cmd->next;
	return cmd;
}

/**
 * flash_wake() - when the drive can decide more than it has, or has work to do
 * @f: the drive
 *
 * Return: the time, DRIVE_NEVER when it has neither.
 */
u64 flash_wake(const struct flash *f)
{
	const struct flash_die *die;
	u64 wake = DRIVE_NEVER, end;

	for (die = f->die; die < f->die + f->p.dies; die++) {
		end = die->program_slots ? die->program_ns : die->free_ns;
		if (f->writes && end > f->now)
			wake = min(wake, end);
		if (begin_ns(f, die) != DRIVE_NEVER)
			wake = min(wake, f->now + CATCH_UP_NS);
	}
	return wake;
}
