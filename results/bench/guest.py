"""Make the script of a guest on the virtual clock from the cases of a scheduler."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

from results.bench import memory, snapshot
from results.bench.cases import BLOCK, CGROUPS, CROWD, Case, cases
from tests.vm import Guest, Result
from tests.vm.functional import LIBRARY
from tests.vm.kernels import Kernel

# The beginning of a line of the guest's output that starts a case.
CASE = "case "

_FUNCTIONS = (LIBRARY, Path(__file__).with_name("guest.sh"))
_DISK_BYTES = 4 << 30
TIMEOUT = 900
PROGRAMS = ("fio", "chrt", "nice")

# The modules of schedulers that have state per cgroup.
_MODULES = {"bfq": "bfq", "htbs": "htbs"}


def run(scheduler: str, kernel: Kernel, htbs: bytes, advance: Callable[[float], None]) -> dict:
    """Measure all cases of a scheduler in one guest; advance() is called with the share done.

    Returns the raw results: the difference of the snapshots of each case, and the growth of the
    slabs.
    """
    wanted = cases()
    steps = len(wanted) + 1
    seen = []

    def on_line(line: str) -> None:
        if line.startswith(CASE):
            seen.append(line)
            advance(len(seen) / (steps + 1))

    machine = Guest(
        kernel,
        clock="virtual",
        files=files(scheduler, wanted, htbs),
        name=f"bench-{scheduler}",
        timeout=TIMEOUT,
        programs=PROGRAMS,
    )
    advance(0)
    bw = CROWD.bw // CROWD.readers
    memory_of = _MODULES.get(scheduler)
    measures = f"memory {memory_of} {CGROUPS[-1]} {bw}\n" if memory_of else ""
    result = machine.run(script(scheduler, wanted) + measures, on_line=on_line)
    advance(1)
    return _raw(scheduler, result)


def _raw(scheduler: str, result: Result) -> dict:
    raw = {"cases": {}}
    for case in cases():
        before, after = (result.text(f"{case.name}.{when}") for when in ("before", "after"))
        raw["cases"][case.name] = snapshot.difference(before, after)
    if scheduler in _MODULES:
        before = result.text("slabs.before")
        raw["slabs"] = {
            when: memory.growth(before, result.text(f"slabs.{when}"), CGROUPS[-1])
            for when in memory.WHEN
        }
    return raw


def files(scheduler: str, wanted: Iterable[Case], htbs: bytes) -> dict[str, bytes]:
    """Return the files that the script of these cases needs."""
    found = {f"{case.name}.fio": job_file(case).encode() for case in wanted}
    return found | ({"htbs.ko": htbs} if scheduler == "htbs" else {})


def script(scheduler: str, wanted: list[Case], more: str = "") -> str:
    """Return a script with rising numbers of cgroups; it leaves CASE.before and CASE.after.

    more: functions that replace those in guest.sh.
    """
    lines = [*(path.read_text() for path in _FUNCTIONS), more]
    lines += [f"begin {scheduler}"]
    most = max(case.cgroups for case in wanted)
    stages = [each for each in CGROUPS if each <= most]
    for there, groups in pairwise((0, *stages)):
        bw = CROWD.bw // min(groups, CROWD.readers)
        lines += [f"cgroups {there} {groups} {bw}"]
        if there == 1:
            lines += [f"reservations nullb1 0 1 {bw}"]
        lines += [line for case in wanted if case.cgroups == groups for line in _measure(case)]
    return "\n".join(lines) + "\n"


def _measure(case: Case) -> list[str]:
    load = case.load
    lines = [f"measure {case.name} {load.disk} {load.readers} {case.cgroups} {load.seconds}"]
    return lines if load == CROWD else [f"reservations {load.disk} 0 1 {load.bw}", *lines]


def job_file(case: Case) -> str:
    """Return the fio job file: each reader has its own region and reads without end."""
    load = case.load
    region = _DISK_BYTES // load.readers // BLOCK * BLOCK
    lines = [
        "[global]",
        f"filename=/dev/{load.disk}",
        f"rw={case.pattern}",
        f"bs={BLOCK}",
        "direct=1",
        f"ioengine={load.engine}",
        f"iodepth={case.depth}",
        f"iodepth_batch_submit={case.depth}",
        f"iodepth_batch_complete_max={case.depth}",
        f"size={region}",
        "norandommap=1",
        "clocksource=clock_gettime",
        "time_based=1",
        "runtime=100000",
        "gtod_reduce=1",
        "nice=19",
        "group_reporting=1",
    ]
    if load.engine == "io_uring":
        lines += ["fixedbufs=1", "registerfiles=1"]
    for reader in range(load.readers):
        lines += [f"[reader{reader}]", f"offset={reader * region}"]
    return "\n".join(lines) + "\n"
