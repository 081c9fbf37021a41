/* SPDX-License-Identifier: GPL-2.0 */
/* What disk.c needs of the kernel's headers, for its build on the host. */
#ifndef SIMDISK_HOST_TYPES_H
#define SIMDISK_HOST_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;

#endif
