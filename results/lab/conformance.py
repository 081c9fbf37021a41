"""Record experiments and replay them: python -m results.lab.conformance NAME [--seconds N].

NAME is demo or one that `make lab` knows. Each case runs under each form of HTBS with its first
seed; every tag, choice, wait and drift has to be what the specification says (tests/model/replay).
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from results import demo
from results.experiments import STUDIES
from results.lab import guest
from results.lab.experiment import Experiment, Scheduler
from results.lab.progress import Progress
from results.lab.run import Advance, boot, machine_for, run_name, side_by_side, stripped_modules
from tests.model import replay
from tests.vm import GuestError, Result, SetupError, kernels
from tests.vm.functional import LIBRARY

KERNEL = "6.12"
# A flash drive makes 100,000 events a second, and the guest's buffer has room for 300,000.
SECONDS = 2


def recording(
    experiment: Experiment,
    scheduler: Scheduler,
    kernel: kernels.Kernel,
    files: dict[str, bytes],
    advance: Advance,
) -> Result:
    """Run one guest, which leaves its recording as `trace` besides its results."""
    machine = machine_for(experiment, scheduler, kernel, files)
    machine = replace(machine, name=f"{machine.name}-recorded")
    script = guest.script(experiment, scheduler, recorded=True)
    return boot(machine, LIBRARY.read_text() + script, advance)


def known() -> dict[str, list[Experiment]]:
    """All experiments, by the name of their study."""
    studies = {study.name: [case.first for case in study.cases] for study in STUDIES}
    return {"demo": [demo.experiment(demo.SECONDS)]} | studies


def runs(some: Iterable[Experiment], seconds: int) -> dict[str, tuple[Experiment, Scheduler]]:
    """The runs of HTBS, by name; none longer than so many seconds."""
    return {
        run_name(each, scheduler): (replace(each, seconds=min(each.seconds, seconds)), scheduler)
        for each in some
        for scheduler in each.schedulers
        if scheduler.reserves
    }


def _tasks(
    wanted: dict[str, tuple[Experiment, Scheduler]], kernel: kernels.Kernel
) -> dict[str, Callable[[Advance], Path]]:
    files = stripped_modules(kernel)

    def task(experiment: Experiment, scheduler: Scheduler) -> Callable[[Advance], Path]:
        return lambda advance: (
            recording(experiment, scheduler, kernel, files, advance).out / "trace"
        )

    return {name: task(*each) for name, each in wanted.items()}


def _replayed(recordings: dict[str, Path]) -> int:
    """Replay and count the recordings that differ from the specification."""
    wrong = 0
    for number, (name, path) in enumerate(sorted(recordings.items()), start=1):
        print(f"{number}/{len(recordings)} {name}: ", end="", flush=True)
        wrong += replay.main([str(path)])
    return wrong


def main() -> int:
    """Record all runs of a name, replay each; 0 if all are as specified."""
    every = known()
    parser = argparse.ArgumentParser(prog="python -m results.lab.conformance", description=__doc__)
    parser.add_argument("name", choices=every, metavar="NAME", help=", ".join(every))
    parser.add_argument(
        "--seconds",
        type=int,
        default=SECONDS,
        metavar="N",
        help="of each run, at most (%(default)s); fewer, where events are lost",
    )
    arguments = parser.parse_args()
    if arguments.seconds < 1:
        parser.error("--seconds is at least 1")
    wanted = runs(every[arguments.name], arguments.seconds)
    tasks = _tasks(wanted, kernels.newest(KERNEL))
    return min(_replayed(side_by_side(tasks, Progress(list(tasks)))), 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (GuestError, SetupError) as error:
        sys.exit(f"conformance: {error}")
