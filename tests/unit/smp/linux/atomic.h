/* SPDX-License-Identifier: GPL-2.0 */
/* Of the kernel's memory model what completions.h and ahead.h use, for threads. */
#ifndef TEST_LINUX_ATOMIC_H
#define TEST_LINUX_ATOMIC_H

#include <linux/compiler.h>

/* Between stores before and loads after. */
#define smp_mb()	__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* Before what follows. */
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
/* After what came before. */
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define try_cmpxchg(p, old, new) \
	__atomic_compare_exchange_n(p, old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif /* TEST_LINUX_ATOMIC_H */
