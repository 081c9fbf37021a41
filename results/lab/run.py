"""Run an experiment: one guest for each scheduler, several at a time."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from results.lab import guest, reduce
from results.lab.experiment import Experiment, Scheduler
from results.lab.progress import Progress
from results.lab.reduce import Numbers, Request
from tests.vm import Guest, modules
from tests.vm.kernels import Kernel

# Wall-clock seconds that a guest may take: to boot, and for a second of its own time. The slowest
# needs less than a tenth of that on a core of its own.
_BOOT_SECONDS = 200
_SLOWEST = 10

# The share of a run that is boot and set-up, for the progress only.
_BOOT_SHARE = 0.1


class Interrupted(RuntimeError):
    """Another run failed, or the user wants no more."""


@dataclass(frozen=True)
class JobResult:
    """What came out for one job."""

    numbers: Numbers
    requests: list[Request]


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment, by scheduler and job."""

    experiment: Experiment
    kernel: Kernel
    runs: dict[str, dict[str, JobResult]]

    def summary(self) -> dict:
        """The experiment's numbers, as in summary.json."""
        return {
            "kernel": self.kernel.version,
            "virtual_seconds": self.experiment.seconds,
            "reserved": {
                job.name: {"bw": job.reservation.bw, "latency_us": job.reservation.latency_us}
                for job in self.experiment.jobs
            },
            "runs": {
                scheduler: {name: result.numbers.as_dict() for name, result in jobs.items()}
                for scheduler, jobs in self.runs.items()
            },
        }


def run(experiment: Experiment, kernel: Kernel) -> Outcome:
    """Run all of it, as many guests at a time as there are CPUs, and show progress.

    Raises GuestError with the name of the log if a guest fails; the others are ended then.
    """
    files = _stripped(modules.build(kernel))
    progress = Progress([scheduler.name for scheduler in experiment.schedulers])
    stop = threading.Event()

    def one(scheduler: Scheduler) -> dict[str, JobResult]:
        def advance(share: float) -> None:
            if stop.is_set():
                raise Interrupted
            progress.advance(scheduler.name, share)

        return _run_one(experiment, scheduler, kernel, files, advance)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # The last first: they are listed from the slow to the fast, and more I/O takes longer.
        futures = {pool.submit(one, each): each.name for each in reversed(experiment.schedulers)}
        try:
            runs = {futures[future]: future.result() for future in as_completed(futures)}
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            progress.close()
    return Outcome(
        experiment, kernel, {each.name: runs[each.name] for each in experiment.schedulers}
    )


def _stripped(files: dict[str, Path]) -> dict[str, bytes]:
    """The modules without debugging information, which tells where the tree lies and so differs."""
    stripped = {}
    for name, path in files.items():
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run(["objcopy", "--strip-debug", path, file.name], check=True)
            stripped[name] = Path(file.name).read_bytes()
    return stripped


def _run_one(
    experiment: Experiment,
    scheduler: Scheduler,
    kernel: Kernel,
    files: dict[str, bytes],
    advance: Callable[[float], None],
) -> dict[str, JobResult]:
    def on_line(line: str) -> None:
        if line.startswith(guest.TICK):
            ticks = int(line.removeprefix(guest.TICK))
            advance(_BOOT_SHARE + (1 - _BOOT_SHARE) * ticks / guest.TICKS)

    machine = Guest(
        kernel,
        clock="virtual",
        files=files,
        name=f"{experiment.name}-{scheduler.name}",
        timeout=_BOOT_SECONDS + _SLOWEST * experiment.seconds,
    )
    advance(0)
    result = machine.run(guest.script(experiment, scheduler), on_line=on_line)
    advance(1)
    jobs = {}
    for job in experiment.jobs:
        requests = reduce.read_log(result.out / f"{job.name}.log")
        seconds = reduce.job_seconds(result.json(f"{job.name}.json"))
        numbers = reduce.numbers(requests, seconds, job.reservation.latency_us)
        jobs[job.name] = JobResult(numbers, requests)
    return jobs
