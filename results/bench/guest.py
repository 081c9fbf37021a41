"""The cases of one scheduler as the script of a guest on the virtual clock, and its files."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from results.bench import memory, snapshot
from results.bench.cases import BLOCK, CGROUPS, CROWD, SCHEDULERS, Case, cases
from tests.vm import Guest, Result
from tests.vm.functional import LIBRARY
from tests.vm.kernels import Kernel

# A line of the guest's output that begins a case.
CASE = "case "

_FUNCTIONS = (LIBRARY, Path(__file__).with_name("guest.sh"))
_DISK_BYTES = 4 << 30
_TIMEOUT = 900

# The sum of the readers' reservations: less than the crowd's disk can do.
_RESERVED = 100 << 20

# The modules that hold what a scheduler keeps of a cgroup.
_MODULES = {"bfq": "bfq", "htbs": "htbs"}


def run(scheduler: str, kernel: Kernel, htbs: bytes, advance: Callable[[float], None]) -> dict:
    """Measure all of a scheduler in one guest; advance() is called with the share that is done.

    Returns the raw results: for each case the two snapshots, and the slabs' growth.
    """
    wanted = cases(scheduler)
    steps = len(wanted) + 1
    seen = []

    def on_line(line: str) -> None:
        if line.startswith(CASE):
            seen.append(line)
            advance(len(seen) / (steps + 1))

    files = {f"{case.name}.fio": job_file(case).encode() for case in wanted}
    if scheduler == "htbs":
        files["htbs.ko"] = htbs
    machine = Guest(
        kernel,
        clock="virtual",
        files=files,
        name=f"bench-{scheduler}",
        timeout=_TIMEOUT,
        programs=("fio", "chrt", "nice"),
    )
    advance(0)
    result = machine.run(script(scheduler), on_line=on_line)
    advance(1)
    return _raw(scheduler, result)


def _raw(scheduler: str, result: Result) -> dict:
    raw = {"cases": {}}
    for case in cases(scheduler):
        before, after = (result.text(f"{case.name}.{when}") for when in ("before", "after"))
        raw["cases"][case.name] = snapshot.difference(before, after)
    if scheduler in _MODULES:
        before, after = (result.text(f"slabs.{when}") for when in ("before", "after"))
        raw["slabs"] = memory.growth(before, after, CGROUPS[-1])
    return raw


def script(scheduler: str) -> str:
    """Stages of rising numbers of cgroups; the script leaves CASE.before and CASE.after."""
    lines = [path.read_text() for path in _FUNCTIONS]
    lines += [f"begin {scheduler}"]
    stages = CGROUPS if SCHEDULERS[scheduler] else CGROUPS[:1]
    for there, wanted in pairwise((0, *stages)):
        readers = min(wanted, CROWD.readers)
        bw = _RESERVED // readers
        lines += [f"cgroups {there} {wanted} {bw}"]
        if wanted == 1:
            lines += [f"reservations nullb0 0 1 {bw}"]
        elif there == 1:
            lines += [f"reservations nullb1 0 1 {bw}"]
        lines += [_measure(case) for case in cases(scheduler) if case.cgroups == wanted]
    if module := _MODULES.get(scheduler):
        lines += [f"memory {module} {CGROUPS[-1]} {bw}"]
    return "\n".join(lines) + "\n"


def _measure(case: Case) -> str:
    load = case.load
    return f"measure {case.name} {load.disk} {load.readers} {case.cgroups} {load.seconds}"


def job_file(case: Case) -> str:
    """fio's description of the case: each reader has a region of its own and reads without end."""
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
