"""Raw data of the laboratory with made-up numbers, as a guest would leave them."""

from collections.abc import Callable, Iterable
from pathlib import Path

from results.lab import raw, summary
from results.lab.experiment import KIB, Job
from results.lab.raw import Machine, Run
from results.lab.reduce import Numbers, Request
from results.lab.run import JobResult
from results.lab.study import Study
from results.lab.summary import Summary
from tests.vm.kernels import Kernel

MACHINE = Machine(
    Kernel("6.12.0-amd64", Path("/")),
    {"htbs.ko": b"htbs", "htbs-paper.ko": b"paper", "simdisk.ko": b"simdisk"},
    {"fio": "fio-3.33", "qemu": "7.2.0"},
)


def result(bw: int = 1000 * KIB, late: int = 0, mean_ms: float = 5) -> JobResult:
    """Return the results of one job."""
    requests = [Request(100 * i, int(mean_ms * 1e6), 4096) for i in range(100)]
    numbers = Numbers(bw, bw / 4096, 1000.0 * mean_ms, 9000.5, 20_000.0, late)
    lat = {"min": 1, "max": 20_000_000, "mean": int(mean_ms * 1e6), "stddev": 2_000_000}
    return JobResult(
        numbers,
        requests,
        {"total_ios": 100, "lat_ns": lat, "runtime_ms": 10_000},
        "8:0 conforming=9 met=9 missed=0 late_max_us=0",
    )


def fill(
    studies: Iterable[Study],
    directory: Path,
    results: Callable[[Run, Job], JobResult] = lambda each, job: result(),
) -> Summary:
    """Save raw data of all runs, and return their summary."""
    found = {}
    for study in studies:
        for each in raw.runs(study):
            jobs = {job.name: results(each, job) for job in each.experiment.jobs}
            each.save(directory, MACHINE, jobs)
        found |= summary.reduced(study, directory)
    return found
