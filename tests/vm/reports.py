"""Reports of the kernel that something is wrong."""

import re
from collections.abc import Iterable

_REPORT = re.compile(
    r"WARNING: |BUG: |BUG\b.* at |\bOops\b|Kernel panic|general protection|unable to handle"
    r"|KASAN|KFENCE|UBSAN|kmemleak: .*disabled|refcount_t: |cut here"
    r"|blocked for more than|hung task|stall on CPU|detected stalls|soft lockup|hard LOCKUP"
    r"|possible (circular|recursive|irq lock)|inconsistent lock state|suspicious RCU usage"
    r"|INFO: trying to register non-static key|INFO: lockdep|page allocation failure"
    r"|corruption|Call Trace:"
)

# Leaks of 6.12 itself. One is the data of a disk that had a limit in io.max: blk_throtl_exit()
# frees it only if the policy is on, and blkg_destroy_all() has turned that off. The other is the
# name of a slab cache that could not be created for lack of memory: if kobject_init_and_add()
# fails, sysfs_slab_add() does not put the object.
_KNOWN_LEAKS = (r" blk_throtl_init\+", r" kobject_init_and_add\+\S+\n +sysfs_slab_add\+")

# Documentation/admin-guide/tainted-kernels.rst: out-of-tree and unsigned modules are expected.
_TAINT_LETTERS = "PFSRMBUDAWCIOELKXTNJ"
_EXPECTED_TAINT = {"O", "E"}


def is_report(line: str, allow: Iterable[str] = ()) -> bool:
    """Return true if a line of a kernel log belongs to a report that is not allowed."""
    return bool(_REPORT.search(line)) and not any(re.search(good, line) for good in allow)


def leaks(kmemleak: str) -> list[str]:
    """Return the objects of /sys/kernel/debug/kmemleak, without the known leaks of the kernel."""
    objects = re.split(r"^(?=unreferenced object)", kmemleak, flags=re.MULTILINE)[1:]
    return [each for each in objects if not any(re.search(known, each) for known in _KNOWN_LEAKS)]


def bad_taint(tainted: int) -> str:
    """Return the letters of /proc/sys/kernel/tainted that no successful test sets."""
    letters = {letter for bit, letter in enumerate(_TAINT_LETTERS) if tainted >> bit & 1}
    return "".join(sorted(letters - _EXPECTED_TAINT))
