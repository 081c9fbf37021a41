/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>

#define DIV_ROUND_UP(a, b) ({ __auto_type _e = (b); ((a) + _e - 1) / _e; })

static inline u32 int_sqrt64(u64 x)
{
	u64 root = 0;

	for (u64 bit = 1ULL << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= x)
			root += bit;
	return root;
}
