"""Run experiments: one guest for each scheduler, several at a time."""

import os
import queue
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TypeVar

from results.lab import guest, postgres, reduce, transactions
from results.lab.experiment import Database, Experiment, Job, Scheduler
from results.lab.progress import Progress
from results.lab.reduce import Numbers, Request
from tests.vm import Guest, GuestError, Result, modules
from tests.vm.guest import PROGRAMS, STOCK_MODULES
from tests.vm.kernels import REPO, Kernel

# Timeouts in wall-clock seconds: of a boot, and of a second of virtual time. On a core of its own
# the slowest guest needs less than a tenth of that.
_BOOT_SECONDS = 200
_SLOWEST = 30

# These two are not needed and would take a third of a boot: checks of page tables, zeroed memory.
ARGUMENTS = "rodata=off init_on_alloc=0"

# Instructions per nanosecond: a server core at 3 GHz with a little more than one per cycle.
SPEED = 4

# A guest on the virtual clock keeps one CPU busy.
AT_ONCE = len(os.sched_getaffinity(0))

# The share of a run that boot and set-up take, for the progress only.
_BOOT_SHARE = 0.1

# Sections that depend on the place of the build, and types, which pahole puts in random order.
_STRIP = ("--strip-debug", "--remove-section=.note.gnu.build-id", "--remove-section=.BTF")
# A hash of the sources, which includes comments.
_SRCVERSION = re.compile(rb"(?<=\0srcversion=)[0-9A-F]+(?=\0)")

# Under a scheduler without reservations, such as `none`, a task may wait for a file system for
# longer than the kernel's hung task check allows. That is a result, not a failure of the guest.
_HUNG = (r"INFO: task \S+ blocked for more than \d+ seconds", r"Call Trace:")

Advance = Callable[[float], None]
T = TypeVar("T")


class Interrupted(RuntimeError):
    """Another run failed, or the user interrupted."""


@dataclass(frozen=True)
class JobResult:
    """The results of one job.

    fio: its report of the job; stat: io.htbs.stat, under htbs; early: the same early in the run, if
    the experiment asks for it; more: the raw data of a database.
    """

    numbers: Numbers
    requests: list[Request]
    fio: Mapping[str, object] = field(default_factory=dict)
    stat: str = ""
    early: str = ""
    more: Mapping[str, list] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment, by scheduler and job."""

    experiment: Experiment
    kernel: Kernel
    runs: dict[str, dict[str, JobResult]]

    def summary(self) -> dict:
        """Return the experiment's numbers as in summary.json."""
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
    """Run an experiment with as many guests at a time as there are CPUs, and show the progress.

    Raises GuestError with the name of the log if a guest fails, and ends the others.
    """
    files = stripped_modules(kernel)

    def task(scheduler: Scheduler) -> Callable[[Advance], dict[str, JobResult]]:
        return lambda advance: run_one(experiment, scheduler, kernel, files, advance)

    # The last scheduler first: the fast ones are at the end, and more I/O takes longer to emulate.
    tasks = {each.name: task(each) for each in reversed(experiment.schedulers)}
    runs = side_by_side(tasks, Progress([each.name for each in experiment.schedulers]))
    return Outcome(
        experiment, kernel, {each.name: runs[each.name] for each in experiment.schedulers}
    )


def side_by_side(tasks: Mapping[str, Callable[[Advance], T]], progress: Progress) -> dict[str, T]:
    """Run tasks, as many at a time as there are CPUs; the first error ends the others."""
    stop = threading.Event()

    def one(name: str) -> T:
        def advance(share: float) -> None:
            if stop.is_set():
                raise Interrupted
            progress.advance(name, share)

        return tasks[name](advance)

    processors = queue.SimpleQueue()
    for processor in os.sched_getaffinity(0):
        processors.put({processor})

    def stay() -> None:
        # The two threads of QEMU take turns, which is 20 % faster on one CPU.
        os.sched_setaffinity(0, processors.get())

    with ThreadPoolExecutor(max_workers=AT_ONCE, initializer=stay) as pool:
        futures = {pool.submit(one, name): name for name in tasks}
        try:
            return {futures[future]: future.result() for future in as_completed(futures)}
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            progress.close()


def stripped_modules(kernel: Kernel) -> dict[str, bytes]:
    """Return the modules without the parts that differ between builds, so runs repeat exactly."""
    stripped = {}
    built = modules.build(kernel) | {"htbs-paper.ko": modules.build_paper(kernel)}
    for name, path in built.items():
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run(["objcopy", *_STRIP, path, file.name], check=True)
            module = Path(file.name).read_bytes()
        stripped[name] = _SRCVERSION.sub(lambda found: len(found[0]) * b"0", module)
    return stripped


def versions() -> dict[str, str]:
    """Return the versions of programs on which the numbers may depend."""
    commands = {
        "fio": ["fio", "--version"],
        "qemu": ["qemu-system-x86_64", "--version"],
        "postgres": [postgres.server(), "--version"],
    }
    return {
        name: subprocess.run(command, capture_output=True, text=True, check=True)
        .stdout.splitlines()[0]
        .removeprefix("QEMU emulator version ")
        .removeprefix("postgres (PostgreSQL) ")
        for name, command in commands.items()
    }


def run_name(experiment: Experiment, scheduler: Scheduler) -> str:
    """Return the name of a run, with its seed if that is not the first one."""
    name = f"{experiment.run_as}-{scheduler.name}"
    return name if experiment.seed == 1 else f"{name}-{experiment.seed}"


def files_for(scheduler: Scheduler, files: Mapping[str, T]) -> dict[str, T]:
    """Return the modules of a run: that of the drive, and that of the scheduler if there is one."""
    needed = {"simdisk.ko", f"{scheduler.module}.ko"}
    return {name: file for name, file in files.items() if name in needed}


def versions_for(experiment: Experiment, every: Mapping[str, str]) -> dict[str, str]:
    """Return the versions on which a run depends."""
    return {name: each for name, each in every.items() if name != "postgres" or experiment.database}


def jobs_took(calls: Iterable[tuple[float, float]]) -> float:
    """Return the real seconds that a guest's jobs took; calls: time and share of each advance().

    The time is extrapolated from the first and the last call; it is 0 with fewer than two.
    """
    signs = [(at, share) for at, share in calls if _BOOT_SHARE < share < 1]
    if len(signs) < 2:
        return 0
    (begin, first), (end, last) = signs[0], signs[-1]
    return (end - begin) * (1 - _BOOT_SHARE) / (last - first)


def run_one(
    experiment: Experiment,
    scheduler: Scheduler,
    kernel: Kernel,
    files: dict[str, bytes],
    advance: Advance,
) -> dict[str, JobResult]:
    """Run one guest and return the results by job; advance() is called with the share done.

    Raises GuestError, which names the run.
    """
    machine = machine_for(experiment, scheduler, kernel, files)
    result = boot(machine, guest.script(experiment, scheduler), advance)
    try:
        return reduced(result, experiment, scheduler)
    except reduce.ReduceError as error:
        kept = result.out.relative_to(REPO)
        raise GuestError(f"{machine.name}: {error}; what the guest left is in {kept}") from error


def machine_for(
    experiment: Experiment, scheduler: Scheduler, kernel: Kernel, files: dict[str, bytes]
) -> Guest:
    """Return the guest that an experiment runs in."""
    database = experiment.database
    return Guest(
        kernel,
        clock="virtual",
        files=files_for(scheduler, files),
        name=run_name(experiment, scheduler),
        timeout=_BOOT_SECONDS + _SLOWEST * experiment.seconds,
        modules=(*STOCK_MODULES, *(postgres.MODULES if experiment.volumes else ())),
        programs=(
            *(*PROGRAMS, "chrt"),
            *(postgres.VOLUME_PROGRAMS if experiment.volumes else ()),
            *(postgres.PROGRAMS if database else ()),
        ),
        shared=postgres.shared() if database else (),
        memory=postgres.MEMORY if experiment.volumes else Guest.memory,
        allow=_HUNG if database and not scheduler.reserves else (),
        arguments=ARGUMENTS,
        speed=SPEED,
    )


def boot(machine: Guest, script: str, advance: Advance) -> Result:
    """Run the script of an experiment; advance() is called with the share done."""

    def on_line(line: str) -> None:
        if line.startswith(guest.TICK):
            ticks = int(line.removeprefix(guest.TICK))
            advance(_BOOT_SHARE + (1 - _BOOT_SHARE) * ticks / guest.TICKS)

    advance(0)
    result = machine.run(script, on_line=on_line)
    advance(1)
    return result


def reduced(result: Result, experiment: Experiment, scheduler: Scheduler) -> dict[str, JobResult]:
    """Return the results of a guest by job. Raises ReduceError if something is missing."""
    reports = [result.json(name) for name in guest.reports(experiment)]
    fios = {job["jobname"]: job for report in reports for job in report["jobs"]}
    jobs = {}
    for job in experiment.jobs:
        if isinstance(job, Database):
            found = _database(result, experiment, job)
        else:
            found = _fio_job(result, experiment, job, fios[job.name])
        if job.buffered:
            bw = _drive_bw(result, experiment, job)
            found = replace(found, numbers=replace(found.numbers, bw=bw))
        if scheduler.reserves:
            found = replace(found, stat=result.text(f"{job.name}.stat").strip())
        if scheduler.reserves and experiment.early:
            found = replace(found, early=result.text(f"{job.name}.early").strip())
        jobs[job.name] = found
    for log in ("log", "trace"):  # One line per request: a gigabyte in total.
        for name in jobs:
            (result.out / f"{name}.{log}").unlink(missing_ok=True)
    return jobs


def _fio_job(result: Result, experiment: Experiment, job: Job, report: dict) -> JobResult:
    """Return the result of a job of fio."""
    requests = reduce.read_log(result.out / f"{job.name}.log", guest.late(experiment, job))
    fio = reduce.fio_job(report)
    reduce.check_whole(requests, fio)
    numbers = reduce.numbers(requests, fio["runtime_ms"] / 1000, _latency_us(job))
    return JobResult(numbers, requests, fio)


def _database(result: Result, experiment: Experiment, job: Database) -> JobResult:
    """Return the result of a database: from pgbench, PostgreSQL and kernel tracing."""
    with (result.out / f"{job.name}.log").open() as log:
        took_us = transactions.parse_transactions(log)
    if len(took_us) != transactions.processed(result.text(f"{job.name}.txt")):
        raise reduce.ReduceError(f"pgbench's log has {len(took_us)} transactions, not all")
    with (result.out / f"{job.name}.trace").open() as lines:
        trace = transactions.parse_trace(lines)
    wal = transactions.parse_wal(result.text(f"{job.name}.wal"))
    return JobResult(
        reduce.numbers(trace.requests, experiment.seconds, _latency_us(job)),
        trace.requests,
        {
            "total_ios": len(trace.requests),
            "lat_ns": reduce.lat_ns(trace.requests),
            "runtime_ms": 1000 * experiment.seconds,
        },
        more=transactions.kept(took_us, experiment.seconds, wal, trace),
    )


def _drive_bw(result: Result, experiment: Experiment, job: Job) -> int:
    """Return what the drive did for a job's cgroup, bytes/s."""
    before, after = (result.text(f"{job.name}.{each}") for each in ("begin", "end"))
    moved = transactions.io_stat(after) - transactions.io_stat(before)
    return round(moved / experiment.seconds)


def _latency_us(job: Job) -> float:
    return job.reservation.latency_us if job.reservation else inf
