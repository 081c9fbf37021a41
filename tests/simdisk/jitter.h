/* SPDX-License-Identifier: GPL-2.0 */
/* What a hypervisor adds to each command: pure, see the top of jitter.c. */
#ifndef SIMDISK_JITTER_H
#define SIMDISK_JITTER_H

#include <linux/types.h>

/**
 * struct jitter - the time that a hypervisor adds
 * @most_ns: to each command, at most; half of it in the mean
 * @tail_ns: a step of the tail, 0 for no tail
 * @tail_one_in: one command in so many has a tail
 * @state: of the numbers that look random
 */
struct jitter {
	u32 most_ns;
	u32 tail_ns;
	u32 tail_one_in;
	u64 state;
};

u64 jitter_ns(struct jitter *j);

#endif
