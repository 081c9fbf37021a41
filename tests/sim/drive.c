// SPDX-License-Identifier: GPL-2.0
/* See drive.h.  Only this file of the simulation includes headers of tests/simdisk. */
#include <stdlib.h>
#include <string.h>

#include <disk.h>
#include <flash.h>
#include <jitter.h>

#include "drive.h"

static enum sim_drive drive;
static struct disk disk;
static struct disk_profile drawn;
static struct flash_profile drawn_flash;
static struct sim_host host;
static struct jitter jitter;
static struct flash *flash;
static struct drive_cmd commands[SIM_COMMANDS];
static struct sim_plain plain;
static u64 plain_seed, plain_free;
static u32 plain_new[SIM_COMMANDS], plain_count;

/* The plain drive knows at once when a command will be done. */
static void plain_submit(u32 nr, u64 now, u32 sectors)
{
	u64 takes = sectors * plain.kib / 2, begin = now, times = 1;

	if (plain.slower && now >= plain.slow_at && now < plain.fast_at)
		times = plain.slower;
	takes = times * (takes > plain.each ? takes : plain.each);
	if (plain_free + plain.burst < now)
		plain_free = now - plain.burst;
	plain_free += takes;
	if (begin < plain_free)
		begin = plain_free;
	plain_seed = plain_seed * 6364136223846793005ULL + 1442695040888963407ULL;
	commands[nr].done = begin + times * (plain.least +
			    (plain_seed >> 33) % (plain.most - plain.least + 1));
	plain_new[plain_count++] = nr;
}

static bool plain_decide(u32 *nr, u64 *done)
{
	if (!plain_count)
		return false;
	*nr = plain_new[--plain_count];
	*done = commands[*nr].done;
	return true;
}

static bool is_drawn(void)
{
	return drive == SIM_DRAWN || drive == SIM_DRAWN_FLASH;
}

static bool is_flash(void)
{
	return drive == SIM_TLC || drive == SIM_DRAWN_FLASH;
}

/* A drive that has done nothing yet; a flash drive full of random writes. */
void sim_drive_reset(enum sim_drive kind, const struct sim_plain *of)
{
	const struct flash_profile *profile;

	drive = kind;
	plain = *of;
	plain_seed = 1;
	plain_free = 0;
	plain_count = 0;
	if (kind == SIM_HD080HJ)
		disk_init(&disk, &disk_hd080hj, false);
	else if (kind == SIM_NEARLINE)
		disk_init(&disk, &disk_nearline, false);
	else if (kind == SIM_DRAWN)
		disk_init(&disk, &drawn, host.write_cache);
	jitter = (struct jitter){};
	if (is_drawn())
		jitter = (struct jitter){ host.jitter_ns, host.tail_ns, host.tail_one_in };
	if (!is_flash())
		return;
	profile = kind == SIM_TLC ? &flash_tlc : &drawn_flash;
	free(flash);
	flash = malloc(flash_size(profile));
	flash_init(flash, profile, true);
}

u64 sim_drive_sectors(void)
{
	return is_flash() ? (u64)flash->p.size_mb << 11 : disk.p.sectors;
}

/**
 * sim_drive_host() - set what is before SIM_DRAWN and SIM_DRAWN_FLASH
 * @of: mirrored in tests/sim/drives.py
 */
void sim_drive_host(const struct sim_host *of)
{
	host = *of;
}

/**
 * sim_drive_profile() - set the disk that SIM_DRAWN is
 * @profile: a struct disk_profile; mirrored in tests/simdisk/model.py
 * @size: size of the mirror, bytes
 *
 * Return: NULL, or what is wrong with the profile.
 */
const char *sim_drive_profile(const void *profile, u32 size)
{
	if (size != sizeof(drawn))
		return "struct disk_profile changed: bring DiskProfile up to date";
	memcpy(&drawn, profile, size);
	return disk_init(&disk, &drawn, false);
}

/**
 * sim_drive_flash_profile() - set the drive that SIM_DRAWN_FLASH is
 * @profile: a struct flash_profile; mirrored in tests/simdisk/model.py
 * @size: size of the mirror, bytes
 *
 * Return: NULL, or what is wrong with the profile.
 */
const char *sim_drive_flash_profile(const void *profile, u32 size)
{
	if (size != sizeof(drawn_flash))
		return "struct flash_profile changed: bring FlashProfile up to date";
	memcpy(&drawn_flash, profile, size);
	return flash_check(&drawn_flash);
}

/* How many commands it takes at a time. */
u32 sim_drive_depth(void)
{
	if (drive == SIM_PLAIN)
		return plain.depth;
	if (is_drawn() && host.tags)
		return host.tags;
	return is_flash() ? SIM_COMMANDS : disk.p.depth;
}

void sim_drive_submit(u32 nr, u64 now, bool write, u64 sector, u32 sectors)
{
	struct drive_cmd *cmd = &commands[nr];

	cmd->sector = sector;
	cmd->arrived = now;
	cmd->nr = sectors;
	cmd->op = write ? DRIVE_WRITE : DRIVE_READ;
	if (drive == SIM_PLAIN)
		plain_submit(nr, now, sectors);
	else if (is_flash())
		flash_submit(flash, cmd);
	else
		disk_submit(&disk, cmd);
}

/* The next command whose completion time the drive has decided. */
bool sim_drive_decide(u64 now, u32 *nr, u64 *done)
{
	struct drive_cmd *cmd;

	if (drive == SIM_PLAIN)
		return plain_decide(nr, done);
	cmd = is_flash() ? flash_decide(flash, now) : disk_decide(&disk, now);
	if (!cmd)
		return false;
	*nr = cmd - commands;
	*done = cmd->done + jitter_ns(&jitter);
	return true;
}

u64 sim_drive_wake(void)
{
	if (drive == SIM_PLAIN)
		return ~0ULL;
	return is_flash() ? flash_wake(flash) : disk_wake(&disk);
}
