// SPDX-License-Identifier: GPL-2.0
/*
 * Model of a disk drive, with or without command queueing. The kernel module and
 * the host tests are built from this file and disk_profile.c, which has the drives'
 * numbers; drive.h has what one asks of it.
 *
 * It follows Ruemmler and Wilkes, "An introduction to disk drive modeling",
 * IEEE Computer 27(3), 1994, who found what a model has to have: the seek curve,
 * the position of the platters, and above all the buffer with its read-ahead.
 *
 * Layout. Sectors are numbered along a track, then through the heads of the
 * cylinder, then inwards. Zones of equal width have fewer and fewer sectors per
 * track. The first sector of a track lies @track_skew_ns behind that of the
 * track before, so that a transfer goes on after the change of track without
 * losing a revolution.
 *
 * Mechanism. A seek takes a + b*sqrt(d) while the arm only speeds up and slows
 * down, c + e*d when it coasts between; both include settling. The platters turn
 * with the clock: the angle at time t is t modulo the time of a revolution.
 * Waiting for a sector is therefore exact, to the nanosecond.
 *
 * Buffer. It has equal segments, the least recently used of which is reused.
 * After a read from the media the drive reads on behind it, until the segment is
 * full or a command needs the mechanism elsewhere. Commands served from the
 * buffer don't disturb it. How far it got is worked out when the next command
 * comes (read_ahead()). A write drops the segments it overlaps.
 *
 * Time of a command: command_ns, during which the mechanism goes on with what it
 * does; then the bus for what is in the buffer, or seek, rotation and media
 * transfer for what is not. Media and bus overlap.
 *
 * Queueing. The drive serves one command at a time, of those it has (one, without
 * queueing). When that is complete it picks the one whose first sector it can
 * reach first, with seek, settling, head switch and rotation: shortest positioning
 * time first. (Commands beyond those it takes wait in front of it, first come, first
 * served; a driver with a budget sends none.) Seltzer et al., "Disk scheduling
 * revisited", USENIX 1990, and Jacobson and Wilkes, HPL-CSP-91-7, found that nothing
 * does better and that it starves; so a command that waited patience_ms is next. The
 * latter have commands gain with age besides (aged shortest access time first), which
 * age_permille does. Reads of what is in the buffer pass by the command that is being
 * served.
 *
 * Without a write cache a write is complete when it is on the media. With one, it
 * is complete when it is in the buffer, which takes DISK_WRITE_SLOTS writes; the
 * drive writes them in order and at once, and reads from the media come after. With
 * destage_ms it lets reads go before: it takes DISK_LAZY_WRITES, and writes the nearest
 * when it has had no command for so long, or when a write finds the cache full. A flush
 * waits for all of them. A discard takes no more than the command.
 *
 * Shingled tracks overlap, so a band of them is written from its first sector on.
 * A drive that hides this puts scattered writes into a cache on the medium, and
 * when that is full brings them home, for which it reads and writes whole bands:
 * Aghayev and Desnoyers, "Skylight: a window on shingled disk operation", FAST
 * 2015. Here the mechanism does nothing else for clean_ms after clean_writes of
 * them. The write that fills the cache is complete before. The cache's place on the
 * medium, and that reads of what is in it seek there, are left out.
 */
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "disk.h"

/* Where a sector is: its index is counted from the start of the track. */
struct place {
	u32 cyl;
	u32 head;
	u32 index;
	u32 spt;
};

/**
 * disk_init() - make a drive of a profile, heads on cylinder 0, buffer empty
 * @d: the drive
 * @p: its profile, copied
 * @write_cache: whether writes complete in the buffer
 *
 * Return: NULL, or what is wrong with the profile and how to mend it.
 */
const char *disk_init(struct disk *d, const struct disk_profile *p, bool write_cache)
{
	const char *wrong = disk_check(p);
	u64 first = 0, spt_sum = 0;
	u32 i, zone_cyls;

	if (wrong)
		return wrong;
	memset(d, 0, sizeof(*d));
	d->p = *p;
	d->write_cache = write_cache;
	d->rev_ns = div_u64(60000000000ULL, p->rpm);
	d->seg_sectors = p->cache_kb * 2 / p->segments;
	for (i = 0; i < p->zones; i++) {
		d->zone[i].spt = p->outer_spt;
		if (i)
			d->zone[i].spt -= (p->outer_spt - p->inner_spt) * i / (p->zones - 1);
		spt_sum += d->zone[i].spt;
	}
	zone_cyls = div64_u64(p->sectors, spt_sum * p->heads) + 1;
	for (i = 0; i < p->zones; i++) {
		d->zone[i].first_cyl = i * zone_cyls;
		d->zone[i].first_sector = first;
		first += (u64)zone_cyls * p->heads * d->zone[i].spt;
	}
	d->cyls = p->zones * zone_cyls;
	if (p->track_skew_ns < p->head_switch_ns || p->track_skew_ns < disk_seek_ns(d, 1))
		return "track_skew_ns: must not be below head_switch_ns and a seek of one cylinder";
	return NULL;
}

/**
 * disk_seek_ns() - time to move the arm
 * @d: the drive
 * @distance: how far, in cylinders
 *
 * Return: nanoseconds until the head can read, 0 for no distance.
 */
u64 disk_seek_ns(const struct disk *d, u32 distance)
{
	if (!distance)
		return 0;
	if (distance < d->p.seek_knee) /* the root as a fixed-point number of 16 bits */
		return d->p.seek_short_ns +
			((u64)d->p.seek_sqrt_ns * int_sqrt64((u64)distance << 32) >> 16);
	return d->p.seek_long_ns + div_u64((u64)d->p.seek_cyl_ps * distance, 1000);
}

static u64 bus_ns(const struct disk *d, u32 nr)
{
	return div_u64((u64)nr * 512 * 1000000, d->p.bus_kbps);
}

static struct place locate(const struct disk *d, u64 sector)
{
	const struct disk_zone *z = &d->zone[d->p.zones - 1];
	struct place at;
	u32 track;

	while (sector < z->first_sector)
		z--;
	track = div_u64_rem(sector - z->first_sector, z->spt, &at.index);
	at.spt = z->spt;
	at.cyl = z->first_cyl + track / d->p.heads;
	at.head = track % d->p.heads;
	return at;
}

/* Angle of a sector's start from that of its track, as a time. */
static u64 sector_ns(const struct disk *d, u32 spt, u32 index)
{
	return div_u64((u64)index * d->rev_ns, spt);
}

/* Earliest time the start of a sector is under its head, leaving at @t. */
static u64 arrive(const struct disk *d, u64 t, const struct place *at)
{
	u64 track = (u64)at->cyl * d->p.heads + at->head;
	u32 want, have;

	if (at->cyl != d->cyl)
		t += disk_seek_ns(d, max(at->cyl, d->cyl) - min(at->cyl, d->cyl));
	else if (at->head != d->head)
		t += d->p.head_switch_ns;
	div_u64_rem(track * d->p.track_skew_ns + sector_ns(d, at->spt, at->index),
		    d->rev_ns, &want);
	div_u64_rem(t, d->rev_ns, &have);
	return t + want - have + (want < have ? d->rev_ns : 0);
}

/* Let @nr sectors of one track pass under the head from time @t on. */
static void pass(struct disk *d, u64 t, const struct place *at, u32 nr)
{
	d->cyl = at->cyl;
	d->head = at->head;
	d->media_ns = t + sector_ns(d, at->spt, at->index + nr) - sector_ns(d, at->spt, at->index);
}

/* Read or write sectors of the media, not before @t. */
static void transfer(struct disk *d, u64 t, u64 sector, u64 nr)
{
	while (nr) {
		struct place at = locate(d, sector);
		u32 n = min_t(u64, nr, at.spt - at.index);

		pass(d, arrive(d, t, &at), &at, n);
		t = d->media_ns;
		sector += n;
		nr -= n;
	}
}

/* A full segment keeps what was read last. */
static void trim(const struct disk *d, struct disk_segment *seg)
{
	if (seg->end - seg->start > d->seg_sectors)
		seg->start = seg->end - d->seg_sectors;
}

static bool reading_ahead(const struct disk *d)
{
	return d->ahead && d->ahead->end < d->ahead_limit;
}

/*
 * Do what the mechanism did on its own until @t. It stops between two sectors,
 * at media_ns, so that a command for the next sector goes on from there.
 */
static void read_ahead(struct disk *d, u64 t)
{
	while (reading_ahead(d) && d->media_ns < t) {
		struct place at = locate(d, d->ahead->end);
		u32 n = min_t(u64, d->ahead_limit - d->ahead->end, at.spt - at.index);
		u64 start = arrive(d, d->media_ns, &at);
		u64 passed;

		if (start >= t)
			return;
		passed = div_u64((t - start + sector_ns(d, at.spt, at.index)) * at.spt,
				 d->rev_ns) - at.index;
		n = min_t(u64, n, passed);
		if (!n)
			return;
		pass(d, start, &at, n);
		d->ahead->end += n;
		trim(d, d->ahead);
	}
}

/* The segment that holds @sector, or ends before it. */
static struct disk_segment *lookup(const struct disk *d, u64 sector)
{
	const struct disk_segment *found = NULL, *seg;

	for (seg = d->seg; seg < d->seg + d->p.segments; seg++)
		if (seg->start <= sector && sector <= seg->end && (!found || seg->end > found->end))
			found = seg;
	return (struct disk_segment *)found;
}

/* That segment, else the one used longest ago, to fill anew. */
static struct disk_segment *find_segment(struct disk *d, u64 sector)
{
	struct disk_segment *found = lookup(d, sector), *seg;

	if (!found) {
		found = d->seg;
		for (seg = d->seg; seg < d->seg + d->p.segments; seg++)
			if (seg->used < found->used)
				found = seg;
		found->start = sector;
		found->end = sector;
		if (d->ahead == found)
			d->ahead = NULL;
	}
	found->used = ++d->uses;
	return found;
}

/* A read moves the end of the read-ahead of its segment. */
static void extend_ahead(struct disk *d, const struct disk_segment *seg, u64 end)
{
	if (seg == d->ahead)
		d->ahead_limit = min_t(u64, end + d->seg_sectors, d->p.sectors);
}

static u64 serve_read(struct disk *d, u64 t, u64 sector, u32 nr)
{
	u64 end = sector + nr, done = t + bus_ns(d, nr);
	struct disk_segment *seg;

	read_ahead(d, t);
	seg = find_segment(d, sector);
	/* A mechanism at rest, or wanted elsewhere, starts now. */
	if (!reading_ahead(d) || (seg != d->ahead && seg->end < end))
		d->media_ns = max(d->media_ns, t);
	if (seg->end < end) {
		transfer(d, d->media_ns, seg->end, end - seg->end);
		seg->end = end;
		trim(d, seg);
		d->ahead = seg;
		done = max(done, d->media_ns + bus_ns(d, 1));
	}
	extend_ahead(d, seg, end);
	return done;
}

static void drop_segments(struct disk *d, u64 sector, u32 nr)
{
	struct disk_segment *seg;

	for (seg = d->seg; seg < d->seg + d->p.segments; seg++)
		if (seg->start < sector + nr && sector < seg->end) {
			*seg = (struct disk_segment){};
			if (d->ahead == seg)
				d->ahead = NULL;
		}
}

/* A shingled drive cleans after so many scattered writes. */
static void clean(struct disk *d, u64 sector, u32 nr)
{
	d->scattered += sector != d->write_end;
	d->write_end = sector + nr;
	if (!d->p.clean_writes || d->scattered < d->p.clean_writes)
		return;
	d->scattered = 0;
	d->media_ns += d->p.clean_ms * 1000000ULL;
}

/* When the first of some sectors to write can be under its head. */
static u64 reach_write_ns(const struct disk *d, u64 t, u64 sector)
{
	struct place at = locate(d, sector);

	if (at.cyl != d->cyl)
		t += d->p.write_settle_ns;
	return arrive(d, max(t, d->media_ns), &at);
}

/* Write sectors of the media, not before @t. Returns when they are written. */
static u64 write_media(struct disk *d, u64 t, u64 sector, u32 nr)
{
	u64 done;

	t = max(t, d->media_ns);
	if (locate(d, sector).cyl != d->cyl)
		t += d->p.write_settle_ns;
	transfer(d, t, sector, nr);
	done = d->media_ns;
	clean(d, sector, nr);
	return done;
}

/* Write what is nearest of the lazy cache, not before @t. Returns when it is written. */
static u64 destage_nearest(struct disk *d, u64 t)
{
	struct disk_extent *nearest = d->lazy, *each, it;

	read_ahead(d, t);
	d->ahead = NULL;
	for (each = d->lazy; each < d->lazy + d->lazy_writes; each++)
		if (reach_write_ns(d, t, each->sector) < reach_write_ns(d, t, nearest->sector))
			nearest = each;
	it = *nearest;
	*nearest = d->lazy[--d->lazy_writes];
	return write_media(d, t, it.sector, it.nr);
}

/* What the drive wrote of its lazy cache while it had no command, until @t. */
static void destage(struct disk *d, u64 t)
{
	u64 idle = d->busy_ns + d->p.destage_ms * 1000000ULL;

	while (d->lazy_writes && max(idle, d->media_ns) < t)
		destage_nearest(d, idle);
}

/* A write is complete when the lazy cache has it. */
static u64 cache_write(struct disk *d, u64 t, u64 sector, u32 nr)
{
	if (d->lazy_writes == DISK_LAZY_WRITES)
		t = destage_nearest(d, t);
	d->lazy[d->lazy_writes++] = (struct disk_extent){ sector, nr };
	return t + bus_ns(d, nr);
}

static u64 serve_write(struct disk *d, u64 t, u64 sector, u32 nr, bool cached)
{
	u64 done = t, written;

	read_ahead(d, t);
	drop_segments(d, sector, nr);
	if (cached && d->p.destage_ms)
		return cache_write(d, t, sector, nr);
	d->ahead = NULL;
	if (cached) {
		t = max(t, d->slot_ns[d->slot]);
		done = t + bus_ns(d, nr);
	}
	written = write_media(d, t, sector, nr);
	if (!cached)
		return written;
	d->slot_ns[d->slot] = written;
	d->slot = (d->slot + 1) % DISK_WRITE_SLOTS;
	return done;
}

static u64 flush(struct disk *d, u64 t)
{
	while (d->lazy_writes)
		destage_nearest(d, t);
	return max(t, d->media_ns);
}

/* When a command is complete whose service starts at @t. */
static u64 serve(struct disk *d, u64 t, const struct drive_cmd *cmd)
{
	switch (cmd->op) {
	case DRIVE_READ:
		return serve_read(d, t, cmd->sector, cmd->nr);
	case DRIVE_WRITE:
		return serve_write(d, t, cmd->sector, cmd->nr, d->write_cache);
	case DRIVE_WRITE_FUA:
		return serve_write(d, t, cmd->sector, cmd->nr, false);
	case DRIVE_FLUSH:
		return flush(d, t);
	case DRIVE_DISCARD:
		break;
	}
	return t;
}

static u64 ready_ns(const struct disk *d, const struct drive_cmd *cmd)
{
	return max(cmd->arrived + d->p.command_ns, d->busy_ns);
}

/* When the first sector that a command needs of the media can be under its head. */
static u64 reach_ns(const struct disk *d, const struct drive_cmd *cmd)
{
	u64 t = ready_ns(d, cmd), sector = cmd->sector;
	const struct disk_segment *seg;
	struct place at;

	if (cmd->op == DRIVE_FLUSH || cmd->op == DRIVE_DISCARD)
		return t;
	seg = cmd->op == DRIVE_READ ? lookup(d, sector) : NULL;
	if (seg && (seg->end >= sector + cmd->nr || (seg == d->ahead && reading_ahead(d))))
		return t;
	if (seg)
		sector = seg->end;
	at = locate(d, sector);
	if (cmd->op != DRIVE_READ && at.cyl != d->cyl)
		t += d->p.write_settle_ns;
	return arrive(d, max(t, d->media_ns), &at);
}

/* That time, later by what a command lacks in age: the least is served next. */
static u64 rank(const struct disk *d, const struct drive_cmd *cmd)
{
	return reach_ns(d, cmd) + div_u64(cmd->arrived * d->p.age_permille, 1000);
}

/* The link in the queue that leads to the command to serve next. */
static struct drive_cmd **pick(struct disk *d, u64 now)
{
	struct drive_cmd **best = &d->queue, **link;
	u64 least, its;
	u32 seen = 1;

	if (!(*best)->next || (*best)->arrived + d->p.patience_ms * 1000000ULL <= now)
		return best;
	least = rank(d, *best);
	for (link = &(*best)->next; *link && seen < d->p.depth; link = &(*link)->next, seen++) {
		its = rank(d, *link);
		if (its < least) {
			best = link;
			least = its;
		}
	}
	return best;
}

/* Whether the drive has all commands that it takes, so that another has to wait. */
static bool is_full(const struct disk *d, u64 now)
{
	const struct drive_cmd *cmd;
	u32 has = now < d->busy_ns;

	for (cmd = d->queue; cmd; cmd = cmd->next)
		has++;
	return has >= d->p.depth;
}

/* Whether a command is a read that passes the one being served. */
static bool passes(struct disk *d, struct drive_cmd *cmd)
{
	u64 end = cmd->sector + cmd->nr, t = cmd->arrived + d->p.command_ns;
	struct disk_segment *seg;

	if (cmd->arrived >= d->busy_ns || cmd->op != DRIVE_READ || is_full(d, cmd->arrived))
		return false;
	seg = lookup(d, cmd->sector);
	if (!seg || seg->end < end)
		return false;
	/* The end of this segment may be under the head only now. */
	if (seg == d->ahead)
		t = max(t, d->media_ns);
	seg->used = ++d->uses;
	extend_ahead(d, seg, end);
	d->bus_ns = max(t, d->bus_ns) + bus_ns(d, cmd->nr);
	cmd->done = d->bus_ns;
	return true;
}

/**
 * disk_submit() - give the drive a command
 * @d: the drive
 * @cmd: the command, arrived not before an earlier one
 */
void disk_submit(struct disk *d, struct drive_cmd *cmd)
{
	struct drive_cmd **link = passes(d, cmd) ? &d->passing : &d->queue;

	while (*link)
		link = &(*link)->next;
	cmd->next = NULL;
	*link = cmd;
}

/**
 * disk_decide() - let the drive do what it does at a time
 * @d: the drive
 * @now: the time
 *
 * Return: a command whose completion is known now, NULL for none.
 */
struct drive_cmd *disk_decide(struct disk *d, u64 now)
{
	struct drive_cmd **link = &d->passing, *cmd;

	if (!*link) {
		if (!d->queue || now < d->busy_ns)
			return NULL;
		destage(d, d->queue->arrived);
		link = pick(d, now);
	}
	cmd = *link;
	if (link != &d->passing) {
		cmd->done = serve(d, ready_ns(d, cmd), cmd);
		d->busy_ns = cmd->done;
	}
	*link = cmd->next;
	return cmd;
}

/**
 * disk_wake() - when the drive can decide more than it has
 * @d: the drive
 *
 * Return: the time, DRIVE_NEVER when it has no command to decide.
 */
u64 disk_wake(const struct disk *d)
{
	return d->queue ? d->busy_ns : DRIVE_NEVER;
}
