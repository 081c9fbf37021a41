/* SPDX-License-Identifier: GPL-2.0 */
/* What the core uses of the kernel's <linux/math64.h>, for the host. */
#ifndef HTBS_HOST_MATH64_H
#define HTBS_HOST_MATH64_H

#include <linux/types.h>

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

#endif /* HTBS_HOST_MATH64_H */
