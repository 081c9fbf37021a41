// SPDX-License-Identifier: GPL-2.0
/*
 * Model of a flash drive. The kernel module and the host tests are built from
 * this file and blocks.c, which knows what lies where; drive.h has what one asks of
 * it. Here is what takes how long.
 *
 * Dies. A die does one thing at a time: it reads a page and moves what is wanted
 * of it over its channel, or takes a page from the channel and programs it, or
 * erases a block. (Dies that share a channel don't get into each other's way here:
 * two of them use less than half of it, even when all the drive does is to read
 * whole pages.) What it has begun it ends, so a read waits for the program or the
 * erasure that it finds. But reads go before programs that have not begun; only
 * after read_run reads in a row a program has its turn.
 *
 * Suspension. With suspend_ns a read stops an erasure, which takes that time, and so
 * do reads that come before it goes on, read_run of them at most. Then it goes on,
 * for as long at least as it takes to stop it, or reads would keep it from its end:
 * Wu and He, "Reducing SSD read latency via NAND flash program and erase
 * suspension", FAST 2012. Programs are not suspended.
 *
 * Writes are complete when they are in the buffer, which capacitors protect: a
 * flush has nothing to do. Each die that has nothing else to do takes a page's
 * worth from it. The slots it had in the buffer are free when it has programmed
 * them. When the buffer is full writes wait, first come, first served. Reads of
 * what is in the buffer don't go to the dies.
 *
 * What the host never wrote, or discarded, is read without the dies, as drives
 * do. Left out: wear, retries of reads, the mapping's own pages, collection while
 * the drive is idle, and that data in the course of being programmed could still
 * be read from the buffer.
 *
 * The dies' work is done when a command comes or there is room for a write, but in
 * the order of the time it belongs to. It is O(number of dies) per page.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "blocks.h"
#include "flash.h"

/* The dies' work is caught up with so often, lest much of it comes due at once. */
#define CATCH_UP_NS	1000000

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

/* Time to move slots over a channel. */
static u64 move_ns(const struct flash *f, u32 slots)
{
	return div_u64((u64)slots * SLOT_KB * 1024 * 1000000, f->p.channel_kbps);
}

static u64 erase(struct flash *f, struct flash_die *die, u64 t)
{
	blocks_erase(f, die);
	die->reads_ns = 0;
	die->erased_ns = t + f->p.erase_ns;
	return die->erased_ns;
}

/* Copy a page's worth of data from the victim. */
static u64 copy(struct flash *f, struct flash_die *die, u64 t)
{
	u32 slots, pages = blocks_copy(f, die, &slots);

	if (!slots)
		return t;
	return t + pages * f->p.read_ns + 2 * move_ns(f, slots) + f->p.program_ns;
}

/* Program a page from the buffer. */
static u64 program(struct flash *f, struct flash_die *die, u64 t)
{
	u32 n;

	blocks_open(f, die);
	for (n = 0; n < f->page_slots; n++) {
		u32 slot = f->ring[f->ring_first];

		/* Discarded, or written again after that and taken already. */
		blocks_put(f, die, f->where[slot] == BUFFERED ? slot : NOWHERE);
		f->ring_first = (f->ring_first + 1) % f->ring_size;
	}
	f->ring_used -= n;
	f->host_pages++;
	blocks_owe(f, die);
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

/* When an erasure has stopped for one read more, DRIVE_NEVER if it ends before. */
static u64 suspend_ns(const struct flash *f, struct flash_die *die, u64 t)
{
	u64 stop = max(t, die->reads_ns + f->p.suspend_ns);

	if (!f->p.suspend_ns || t >= die->erased_ns)
		return DRIVE_NEVER;
	if (t < die->reads_ns && die->suspended < f->p.read_run)
		return die->reads_ns;
	return stop + f->p.suspend_ns < die->erased_ns ? stop + f->p.suspend_ns : DRIVE_NEVER;
}

/* Read while an erasure is suspended, from @start on. */
static u64 read_suspended(struct flash *f, struct flash_die *die, u64 start, u64 takes)
{
	bool stops = start != die->reads_ns;

	die->suspended = stops ? 1 : die->suspended + 1;
	die->erased_ns += takes + (stops ? f->p.suspend_ns : 0);
	die->free_ns = die->erased_ns;
	die->reads_ns = start + takes;
	return die->reads_ns;
}

/* Read slots of one page, not before @t. */
static u64 read_page(struct flash *f, struct flash_die *die, u64 t, u32 slots)
{
	u64 start = suspend_ns(f, die, t), takes = f->p.read_ns + move_ns(f, slots);

	if (start != DRIVE_NEVER)
		return read_suspended(f, die, start, takes);
	start = begin_ns(f, die);

	if (start != DRIVE_NEVER && ++die->reads > f->p.read_run)
		begin(f, die, max(start, t));
	die->free_ns = max(die->free_ns, t) + takes;
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
			done = max(done, read_page(f, &f->die[blocks_die_of(f, place)], t, n));
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
		blocks_forget(f, slot);
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
			blocks_forget(f, slot);
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
