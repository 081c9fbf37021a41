/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that main.c registers in sysfs, cgroups and debugfs.
 */
#ifndef HTBS_SYSFS_H
#define HTBS_SYSFS_H

#include <compat/compat.h>

extern struct elv_fs_entry htbs_iosched_attrs[];	/* queue/iosched */
extern struct cftype htbs_cgroup_files[];		/* io.htbs* */
extern const struct blk_mq_debugfs_attr htbs_debugfs_attrs[];

#endif /* HTBS_SYSFS_H */
