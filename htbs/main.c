// SPDX-License-Identifier: GPL-2.0
/*
 * Module entry: register with blk-cgroup and the block layer.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include <compat/compat.h>
#include <htbs/cap_timer.h>
#include <htbs/elevator.h>
#include <htbs/group.h>
#include <htbs/sysfs.h>

static int __init htbs_init(void)
{
	int err;

	err = htbs_measure_shallow_depth();
	if (err)
		return err;
	err = htbs_reservations_register(htbs_cgroup_files);
	if (err) {
		if (err == -ENOSPC)
			pr_err("this kernel has no room for another cgroup I/O policy; unload one, for instance bfq, and load htbs again\n");
		return err;
	}

	htbs_elevator.elevator_attrs = htbs_iosched_attrs;
#ifdef CONFIG_BLK_DEBUG_FS
	htbs_elevator.queue_debugfs_attrs = htbs_debugfs_attrs;
#endif
	err = htbs_cap_timer_register();
	if (err)
		goto err_reservations;
	err = elv_register(&htbs_elevator);
	if (err)
		goto err_release;
	return 0;

err_release:
	htbs_cap_timer_unregister();
err_reservations:
	htbs_reservations_unregister();
	return err;
}

static void __exit htbs_exit(void)
{
	elv_unregister(&htbs_elevator);
	htbs_cap_timer_unregister();
	htbs_reservations_unregister();
}

module_init(htbs_init);
module_exit(htbs_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HTBS I/O scheduler: a reservation for every cgroup");
MODULE_VERSION("0.1.0");
MODULE_ALIAS("htbs-iosched");
