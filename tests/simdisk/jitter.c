// SPDX-License-Identifier: GPL-2.0
/*
 * A drive behind a hypervisor, as virtio-blk has it. Each command takes longer than
 * it does on the drive: it waits for an exit, for the thread that does the I/O, and
 * for an interrupt, which are some ten microseconds each when their CPUs are idle.
 * When one of the CPUs has another task, it waits for that task's slice: some
 * milliseconds with Linux' CFS, up to 30 with Xen's credit scheduler. That is the
 * tail. It has a number of slices; each next one is half as probable.
 *
 * The time comes on top of what disk.c or flash.c has decided, and the drive goes on
 * with other commands meanwhile. The numbers only look random: the same commands
 * take the same times in each run.
 */
#include <linux/math64.h>

#include "jitter.h"

/* Knuth's MMIX generator, of whose bits the upper ones are good. */
static u32 draw(struct jitter *j)
{
	j->state = j->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return j->state >> 32;
}

/* One, and one more with each half that is drawn. */
static u32 slices(struct jitter *j)
{
	u32 bits = draw(j), n = 1;

	for (; bits & 0x80000000; bits <<= 1)
		n++;
	return n;
}

/**
 * jitter_ns() - what the next command takes longer
 * @j: the hypervisor
 *
 * Return: nanoseconds.
 */
u64 jitter_ns(struct jitter *j)
{
	u64 more = (u64)draw(j) * j->most_ns >> 32;
	u32 which;

	if (!j->tail_ns || !j->tail_one_in)
		return more;
	div_u64_rem(draw(j), j->tail_one_in, &which);
	return which ? more : more + (u64)slices(j) * j->tail_ns;
}
