/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the models of drives have in common: disk.c, flash.c.
 *
 * A model is a function of its profile, the commands it was given and the time,
 * which is an argument: no clock, no random numbers, no floating point. It is
 * asked three things, in this order and with a time that never falls:
 *
 *	submit(cmd)	here is a command
 *	decide(now)	of which command do you know by now when it is complete?
 *			Ask until there is none.
 *	wake()		when shall I ask again, if nothing is submitted before?
 *
 * Times are in nanoseconds. A command belongs to its caller, and to the model
 * from its submission until it was decided.
 */
#ifndef SIMDISK_DRIVE_H
#define SIMDISK_DRIVE_H

#include <linux/types.h>

#define DRIVE_NEVER	(~0ULL)

enum drive_op {
	DRIVE_READ,
	DRIVE_WRITE,
	DRIVE_WRITE_FUA,
	DRIVE_FLUSH,
	DRIVE_DISCARD,
};

/**
 * struct drive_cmd - a command
 * @next: the model's, for its lists
 * @sector: where; the caller has checked that the drive has these sectors
 * @arrived: when the drive gets it
 * @done: when it is complete, once decided
 * @nr: how many sectors, 0 for a flush
 * @op: what to do
 */
struct drive_cmd {
	struct drive_cmd *next;
	u64 sector;
	u64 arrived;
	u64 done;
	u32 nr;
	enum drive_op op;
};

#endif
