# SPDX-License-Identifier: GPL-2.0
"""What HTBS needs from a kernel, and where kernels differ."""

from .btf import FUNC, STRUCT, Btf, Failure

# Types that no header package declares; types held by value come before their holder.
PRIVATE = (
    "blk_mq_debugfs_attr", "elv_merge", "elv_fs_entry", "elevator_mq_ops", "elevator_type",
    "elevator_queue", "blk_mq_alloc_data", "blkg_iostat", "blkg_iostat_set", "blkcg_gq", "blkcg",
    "blkg_policy_data", "blkcg_policy_data", "blkcg_policy", "blkg_conf_ctx",
)
PRIVATE_TYPEDEFS = {"blk_insert_t": "__bitwise "}

# Public types. Their sizes show that headers and BTF belong to the same kernel.
PUBLIC = ("bio", "request", "request_queue", "gendisk", "blk_mq_hw_ctx")

# The series for which this was read, and with which it was tried.
OLDEST, NEWEST = "6.1", "7.3"
REMEDY = f"HTBS knows kernels from {OLDEST} to {NEWEST}; use one of these, or a newer HTBS"

# Parameters of functions without a public prototype: their types, without pointers, each as it has
# been since a series.
FUNCTIONS = {
    "elv_register": {"6.1": "elevator_type"},
    "elv_unregister": {"6.1": "elevator_type"},
    "elv_rb_add": {"6.1": "rb_root request"},
    "elv_rb_del": {"6.1": "rb_root request"},
    "elv_rb_find": {"6.1": "rb_root sector_t"},
    "elv_rb_former_request": {"6.1": "request_queue request"},
    "elv_rb_latter_request": {"6.1": "request_queue request"},
    "elv_rqhash_add": {"6.1": "request_queue request"},
    "elv_rqhash_del": {"6.1": "request_queue request"},
    "elv_bio_merge_ok": {"6.1": "request bio"},
    "blk_mq_sched_try_merge": {"6.1": "request_queue bio int *"},
    "blk_mq_sched_try_insert_merge": {"6.1": "request_queue request list_head"},
    "blkcg_policy_register": {"6.1": "blkcg_policy"},
    "blkcg_policy_unregister": {"6.1": "blkcg_policy"},
    "blkcg_activate_policy": {"6.1": "request_queue blkcg_policy", "6.3": "gendisk blkcg_policy"},
    "blkcg_deactivate_policy": {"6.1": "request_queue blkcg_policy", "6.3": "gendisk blkcg_policy"},
    "blkg_conf_prep": {"6.1": "blkcg blkcg_policy char blkg_conf_ctx",
                       "6.4": "blkcg blkcg_policy blkg_conf_ctx"},
    "blkcg_print_blkgs": {"6.1": "seq_file blkcg * blkcg_policy int bool"},
}
# The same for functions that only some kernels have, or that may be configured out.
OPTIONAL_FUNCTIONS = {
    "elevator_alloc": {"6.1": "request_queue elevator_type"},
    "blkg_conf_init": {"6.4": "blkg_conf_ctx char"},
    "blkg_conf_exit": {"6.4": "blkg_conf_ctx"},
    "blkg_conf_finish": {"6.1": "blkg_conf_ctx"},
    "blkg_conf_open_bdev": {"6.4": "blkg_conf_ctx"},
    "blkg_conf_unprep": {"7.2": "blkg_conf_ctx"},
    "blkg_conf_close_bdev": {"7.2": "blkg_conf_ctx"},
    "wbt_disable_default": {"6.1": "request_queue", "6.3": "gendisk"},
    "wbt_enable_default": {"6.1": "request_queue", "6.3": "gendisk"},
}
# The same for the operations that HTBS defines. A macro of compat.h selects a signature.
OPERATIONS = {
    "elevator_mq_ops": {
        "init_sched": {"6.1": "request_queue elevator_type",
                       "6.16": "request_queue elevator_queue"},
        "exit_sched": {"6.1": "elevator_queue"},
        "depth_updated": {"6.1": "blk_mq_hw_ctx", "6.17": "request_queue"},
        "allow_merge": {"6.1": "request_queue request bio"},
        "bio_merge": {"6.1": "request_queue bio int"},
        "request_merge": {"6.1": "request_queue * bio"},
        "request_merged": {"6.1": "request_queue request elv_merge"},
        "requests_merged": {"6.1": "request_queue request request"},
        "limit_depth": {"6.1": "blk_opf_t blk_mq_alloc_data"},
        "prepare_request": {"6.1": "request"},
        "finish_request": {"6.1": "request"},
        "insert_requests": {"6.1": "blk_mq_hw_ctx list_head bool",
                            "6.4": "blk_mq_hw_ctx list_head blk_insert_t"},
        "dispatch_request": {"6.1": "blk_mq_hw_ctx"},
        "has_work": {"6.1": "blk_mq_hw_ctx"},
        "completed_request": {"6.1": "request u64"},
        "requeue_request": {"6.1": "request"},
        "former_request": {"6.1": "request_queue request"},
        "next_request": {"6.1": "request_queue request"},
    },
    "blkcg_policy": {
        "cpd_alloc_fn": {"6.1": "gfp_t"},
        "cpd_free_fn": {"6.1": "blkcg_policy_data"},
        "pd_alloc_fn": {"6.1": "gfp_t request_queue blkcg", "6.3": "gendisk blkcg gfp_t"},
        "pd_init_fn": {"6.1": "blkg_policy_data"},
        "pd_offline_fn": {"6.1": "blkg_policy_data"},
        "pd_free_fn": {"6.1": "blkg_policy_data"},
    },
}
# Members of public types that compat.h and the elevator access without a function.
MEMBERS = {
    "request_queue": ("elevator", "queue_lock", "root_blkg", "last_merge", "nr_requests",
                      "tag_set", "disk", "id", "q_usage_counter", "mq_ops", "queue_flags"),
    "request": ("rq_flags", "cmd_flags", "hash", "rb_node", "queuelist", "fifo_time",
                "start_time_ns", "elv", "mq_hctx", "bio"),
    "blk_mq_hw_ctx": ("sched_tags", "tags", "flags", "state", "queue", "dispatch",
                      "dispatch_busy"),
    "blk_mq_tags": ("bitmap_tags", "active_queues"),
    "blk_mq_alloc_data": ("q", "hctx", "nr_tags", "shallow_depth", "cmd_flags"),
    "blkcg_gq": ("q", "parent", "blkcg", "refcnt", "pd"),
    "blkcg": ("css", "blkg_tree", "cpd"),
    "elevator_queue": ("type", "elevator_data", "kobj"),
}
# Other exports of the block and cgroup layers that HTBS needs, which a kernel may lack.
OTHER_SYMBOLS = (
    "blkcg_root", "bdi_dev_name", "blk_queue_flag_set", "blk_mq_free_request",
    "blk_mq_run_hw_queues", "of_css", "sbitmap_queue_min_shallow_depth", "sbitmap_weight",
)

INCLUDES = (
    "linux/bio.h", "linux/blk-cgroup.h", "linux/blk-mq.h", "linux/blkdev.h", "linux/build_bug.h",
    "linux/cgroup.h", "linux/kobject.h", "linux/llist.h", "linux/mutex.h",
    "linux/percpu-refcount.h", "linux/radix-tree.h", "linux/rbtree.h", "linux/stddef.h",
    "linux/u64_stats_sync.h", "linux/workqueue.h",
)


def _unknown(name: str, found: str, known: dict[str, str]) -> Failure:
    """Return the message for a signature that no kernel had when this was written."""
    series, latest = list(known.items())[-1]
    return Failure(f"{name} takes ({found.replace(' ', ', ')}), not ({latest.replace(' ', ', ')}) "
                   f"as since {series}: {REMEDY}")


def check(btf: Btf, exported: set[str]) -> None:
    """Refuse a kernel with an interface that HTBS was not written for."""
    if lacking := [name for name in (*PRIVATE, *PUBLIC, *MEMBERS) if not btf.tagged(name)]:
        raise Failure(f"its BTF lacks {', '.join(lacking)}: {REMEDY}")
    for owner, names in MEMBERS.items():
        if gone := [name for name in names if not btf.has(owner, name)]:
            raise Failure(f"struct {owner} has no {', '.join(gone)}: {REMEDY}")
    for name, known in (FUNCTIONS | OPTIONAL_FUNCTIONS).items():
        # elevator_alloc() is called only if init_sched gets a type.
        if name not in exported or name == "elevator_alloc":
            continue
        if not btf.find(FUNC, name):
            raise Failure(f"its headers export {name}, which its BTF lacks: headers and image are "
                          "of different builds; install both of the same version")
        found = " ".join(btf.kinds(btf.find(FUNC, name)))
        if found not in known.values():
            raise _unknown(f"{name}()", found, known)
    for owner, operations in OPERATIONS.items():
        for name, known in operations.items():
            found = " ".join(btf.operation(owner, name))
            if found not in known.values():
                raise _unknown(f"{owner}.{name}()", found, known)


def facts(btf: Btf, exported: set[str]) -> dict[str, bool]:
    """Return where this kernel differs from others, by the macros of compat.h."""
    def operation(name: str) -> list[str]:
        return btf.operation("elevator_mq_ops", name)

    def function(name: str) -> list[tuple[str, str]]:
        return btf.parameters(btf.find(FUNC, name))

    queue_flag = "QUEUE_FLAG_DISABLE_WBT_DEF" in btf.constants()
    split_switch = queue_flag or bool(btf.find(STRUCT, "elv_change_ctx"))
    return {
        # Before 6.3.
        "HTBS_ACTIVATE_BY_QUEUE": function("blkcg_activate_policy")[0][1] == "request_queue",
        "HTBS_PD_ALLOC_GFP_FIRST": btf.operation("blkcg_policy", "pd_alloc_fn")[0] == "gfp_t",
        "HTBS_WBT_BY_QUEUE": ("q", "request_queue") in function("wbt_disable_default"),
        # Since 6.4; before 7.2 the second half of it is blkg_conf_exit().
        "HTBS_CONF_INIT": bool(function("blkg_conf_init")),
        "HTBS_CONF_CLOSE_BDEV": bool(function("blkg_conf_close_bdev")),
        # Since 6.4.
        "HTBS_INSERT_FLAGS": operation("insert_requests")[2] == "blk_insert_t",
        # Before 6.16 and 6.17.
        "HTBS_INIT_SCHED_BY_TYPE": operation("init_sched")[1] == "elevator_type",
        "HTBS_DEPTH_UPDATED_BY_HCTX": operation("depth_updated")[0] == "blk_mq_hw_ctx",
        # Since 7.2.
        # Since 6.15.
        "HTBS_HRTIMER_SETUP": bool(function("hrtimer_setup")),
        # Since 7.0.
        "HTBS_ASYNC_DEPTH": btf.has("request_queue", "async_depth"),
        # Since 6.16.
        "HTBS_ELEVATOR_LOCK": split_switch,
        # A flag says that the elevator disables it: the elevator's from 6.2, the queue's from 6.16
        # on, where the elevator's flag with that number has another meaning.
        "HTBS_WBT": {"wbt_disable_default", "wbt_enable_default"} <= exported,
        "HTBS_WBT_ELEVATOR_FLAG": btf.has("elevator_queue", "flags") and not split_switch,
        "HTBS_WBT_QUEUE_FLAG": queue_flag,
    }
