"""Run all workloads of a drive under one scheduler in one guest, one after the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from results.census import workloads
from results.lab import guest, run
from results.lab.experiment import Experiment, Scheduler
from results.lab.run import ARGUMENTS, SPEED, JobResult
from tests.sim.drives import Disk, Flash
from tests.vm import Guest, GuestError, Result
from tests.vm.guest import PROGRAMS
from tests.vm.kernels import Kernel

# Timeouts in wall-clock seconds: of the boot, and of a second of virtual time on a busy machine.
_BOOT_SECONDS = 300
_SLOWEST = 60
_BOOT_SHARE = 0.2


@dataclass(frozen=True)
class Boot:
    """What a guest runs: the experiments of a drive under a scheduler, in this order."""

    name: str
    drive: Disk | Flash
    way: Scheduler
    experiments: Mapping[str, Experiment]

    @property
    def seconds(self) -> float:
        """Return the seconds of virtual time."""
        return sum(each.seconds for each in self.experiments.values())

    @property
    def script(self) -> str:
        """Return the script: each experiment in its own directory, with its modules loaded anew."""
        parts = [_part(name, *self.pair(name)) for name in self.experiments]
        return "\n".join(parts)

    def pair(self, name: str) -> tuple[Experiment, Scheduler]:
        """Return an experiment, and its scheduler with its settings for this drive."""
        its = self.experiments[name]
        return its, workloads.scheduler_for(self.way, its, self.drive)


def _part(name: str, its: Experiment, scheduler: Scheduler) -> str:
    """Return the lab's script for one experiment; it leaves a new drive for the next one."""
    lines = [f"mkdir {name}", f"cd {name}", guest.script(its, scheduler).strip(), "cd .."]
    lines += ["rmmod simdisk"]
    lines += [f"rmmod {scheduler.module}"] if scheduler.module else []
    return "\n".join(lines) + "\n"


def measure(
    each: Boot, kernel: Kernel, files: dict[str, bytes], advance: run.Advance
) -> dict[str, dict[str, JobResult]]:
    """Run the guest and return the results by experiment and job. Raises GuestError."""
    machine = Guest(
        kernel,
        clock="virtual",
        files=run.files_for(each.way, files),
        name=f"census-{each.name}",
        timeout=_BOOT_SECONDS + _SLOWEST * each.seconds,
        programs=(*PROGRAMS, "chrt"),
        arguments=ARGUMENTS,
        speed=SPEED,
    )
    advance(0)
    result = machine.run(each.script, on_line=_watch(each, advance))
    advance(1)
    return {name: _reduced(result, each, name) for name in each.experiments}


def _reduced(result: Result, each: Boot, name: str) -> dict[str, JobResult]:
    part = replace(result, out=result.out / name)
    try:
        return run.reduced(part, *each.pair(name))
    except run.reduce.ReduceError as error:
        raise GuestError(f"census-{each.name}: {name}: {error}") from error


def _watch(each: Boot, advance: run.Advance) -> Callable[[str], None]:
    """Report the progress by the ticks that each experiment writes."""
    ticks = guest.TICKS * len(each.experiments)
    seen = 0

    def on_line(line: str) -> None:
        nonlocal seen
        if line.startswith(guest.TICK):
            seen += 1
            advance(min(1, _BOOT_SHARE + (1 - _BOOT_SHARE) * seen / ticks))

    return on_line
