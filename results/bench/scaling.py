"""From one CPU to two, in real time: the IOPS of two readers, on a CPU each, over those of one.

Real time is noisy. So every scheduler has a disk in the same guest, the schedulers and none take
turns in short rounds, and the result is the median of the ratios of all rounds.
"""

from collections.abc import Callable
from statistics import median

from results.bench.cases import BASE, BLOCK, SCHEDULERS
from tests.vm import Guest
from tests.vm.functional import LIBRARY
from tests.vm.kernels import Kernel

ROUNDS = 7
CPUS = (1, 2)

_SECONDS = 0.5
_WARM_UP = 0.1
_TIMEOUT = 400


def run(kernel: Kernel, htbs: bytes, advance: Callable[[float], None]) -> list[dict]:
    """Measure and return the IOPS with each number of CPUs, by round and scheduler."""
    machine = Guest(
        kernel,
        clock="real",
        files={"htbs.ko": htbs, "scaling.fio": job_file().encode()},
        name="bench-scaling",
        timeout=_TIMEOUT,
        cpus=max(CPUS),
        parallel=True,
    )
    advance(0)
    result = machine.run(script())
    advance(1)
    return rounds(result.json("scaling.json"))


def script() -> str:
    """Return a script with a null_blk disk per scheduler and a hardware queue per CPU."""
    lines = [LIBRARY.read_text(), "load htbs"]
    for number, scheduler in enumerate(SCHEDULERS):
        disk = f"nullb{number}"
        lines += [f"null_disk {disk} size=4096 irqmode=0 submit_queues={max(CPUS)}"]
        lines += [f"scheduler {disk} {scheduler}"]
    lines += ["fio $IN/scaling.fio --eta=never --output-format=json --output=scaling.json"]
    return "\n".join(lines) + "\n"


def job_file() -> str:
    """Return the fio job file: one group of readers after another."""
    lines = [
        "[global]",
        "rw=randread",
        f"bs={BLOCK}",
        "direct=1",
        "ioengine=io_uring",
        "iodepth=32",
        "norandommap=1",
        "gtod_reduce=1",
        "time_based=1",
        f"runtime={_SECONDS * 1000:.0f}ms",
        f"ramp_time={_WARM_UP * 1000:.0f}ms",
        "cpus_allowed_policy=split",
        "group_reporting=1",
    ]
    for number in range(ROUNDS):
        for disk, scheduler in enumerate(SCHEDULERS):
            for cpus in CPUS:
                lines += [f"[{number} {scheduler} {cpus}]", "stonewall", f"numjobs={cpus}"]
                lines += [f"cpus_allowed=0-{cpus - 1}", f"filename=/dev/nullb{disk}"]
    return "\n".join(lines) + "\n"


def rounds(report: dict) -> list[dict]:
    """Return the raw result from fio's report."""
    found: list[dict] = [{name: {} for name in SCHEDULERS} for _ in range(ROUNDS)]
    for job in report["jobs"]:
        number, scheduler, cpus = job["jobname"].split()
        found[int(number)][scheduler][cpus] = round(job["read"]["iops"])
    return found


def scaling(measured: list[dict], scheduler: str) -> float:
    """Return the IOPS of two CPUs over those of one."""
    return median(each[scheduler]["2"] / each[scheduler]["1"] for each in measured)


def of_none(measured: list[dict], scheduler: str) -> float:
    """Return the IOPS of two CPUs over those of two CPUs under none."""
    return median(each[scheduler]["2"] / each[BASE]["2"] for each in measured)
