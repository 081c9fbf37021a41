/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between the kernels that HTBS builds for, and copies of the
 * block layer's private inline helpers.
 *
 * scripts/private-types writes generated/htbs-private.h from the BTF of the kernel to
 * build for. It declares the private types and functions, and has an HTBS_ macro, 0
 * or 1, for each difference; scripts/kernel_types/interface.py names the series that
 * made it. No file outside this directory uses these macros.
 */
#ifndef HTBS_COMPAT_H
#define HTBS_COMPAT_H

#include <compat/blkcg.h>
#include <compat/elevator.h>
#include <compat/queue.h>
#include <compat/request.h>
#include <compat/tags.h>
#include <compat/timer.h>

#endif /* HTBS_COMPAT_H */
