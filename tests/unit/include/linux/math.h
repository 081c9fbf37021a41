/* SPDX-License-Identifier: GPL-2.0 */
/* What the core uses of the kernel's <linux/math.h>, for the host. */
#ifndef HTBS_HOST_MATH_H
#define HTBS_HOST_MATH_H

/* The square root of @x, rounded down. */
static inline unsigned long int_sqrt(unsigned long x)
{
	unsigned long root = 0, bit;

	for (bit = 1UL << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= x)
			root += bit;
	return root;
}

#endif /* HTBS_HOST_MATH_H */
