"""The I/Os of a disk, and the CPU time that they took.

A snapshot is the disk's stat file, followed by /proc/timer_list of the guest's only CPU, which has
the time and the idle time in nanoseconds. On the virtual clock an instruction takes one nanosecond,
so busy time is the number of instructions of fio, of the kernel's I/O path and of the scheduler.
"""

import re

# Fields of /sys/block/DISK/stat (Documentation/block/stat.rst).
_READS, _READ_MERGES = 0, 1

_TIMES = {
    "now": r"^now at (\d+) nsecs",
    "idle": r"^\s*\.idle_sleeptime\s*: (\d+) nsecs",
    "iowait": r"^\s*\.iowait_sleeptime\s*: (\d+) nsecs",
}


class SnapshotError(ValueError):
    """The text is no snapshot, or there was no I/O between two snapshots."""


def parse(text: str) -> dict[str, int]:
    """Return the numbers of a snapshot: reads, merges, and now, idle and iowait in ns."""
    stat = text.split("\n", 1)[0].split()
    if len(stat) <= _READ_MERGES:
        raise SnapshotError(f"no disk's stat: {text[:80]!r}")
    numbers = {"reads": int(stat[_READS]), "merges": int(stat[_READ_MERGES])}
    for name, pattern in _TIMES.items():
        found = re.findall(pattern, text, re.MULTILINE)
        if len(found) != 1:
            raise SnapshotError(f"{len(found)} times {name!r} in a snapshot: one CPU has one")
        numbers[name] = int(found[0])
    return numbers


def difference(before: str, after: str) -> dict[str, int]:
    """Return the second snapshot minus the first."""
    first, second = parse(before), parse(after)
    return {name: second[name] - first[name] for name in first}


def idle(passed: dict[str, int]) -> float:
    """Return the part of the time in which the CPU was idle."""
    return (passed["idle"] + passed["iowait"]) / passed["now"]


def cost(passed: dict[str, int]) -> float:
    """Return the CPU time per I/O of the readers in ns; merged I/Os count as well."""
    ios = passed["reads"] + passed["merges"]
    if not ios:
        raise SnapshotError("not a single I/O")
    return (passed["now"] - passed["idle"] - passed["iowait"]) / ios
