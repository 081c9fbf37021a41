/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TEST_LINUX_CACHE_H
#define TEST_LINUX_CACHE_H

#include <linux/compiler.h>

#define ____cacheline_aligned_in_smp __aligned(64)

#endif /* TEST_LINUX_CACHE_H */
