"""Run the laboratory: `make lab`, or `make lab EXPERIMENT=name`.

What has been run before with the same inputs is not run again, so an interrupted run goes on.
LAB_SECONDS bounds the virtual time of each run, to try an experiment out; the results then go to
build/lab and not to results/.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from results.experiments import STUDIES
from results.lab import page, raw, run, summary
from results.lab.progress import Progress, clock
from results.lab.raw import Machine, Run
from results.lab.study import Case, Study
from tests.vm import GuestError, SetupError, kernels

KERNEL = "6.12"
RESULTS = Path(__file__).parents[1]
TRIAL = kernels.BUILD / "lab"

# What a boot weighs, in seconds of virtual time, for the progress only.
_BOOT = 20


def main() -> int:
    """Run what is missing, then write summary, figures and page."""
    seconds = seconds_wanted(os.environ.get("LAB_SECONDS", ""))
    names = chosen(os.environ.get("EXPERIMENT", ""))
    every = [shortened(study, seconds) for study in STUDIES] if seconds else list(STUDIES)
    directory = TRIAL if seconds else RESULTS
    wanted = [study for study in every if study.name in names]
    try:
        work(wanted, directory / "raw")
    except (SetupError, GuestError) as error:
        print(f"lab: failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted; make lab goes on with what is missing", file=sys.stderr)
        return 130
    write(every, wanted, directory)
    return 0


def chosen(name: str) -> list[str]:
    """The names of the studies that EXPERIMENT asks for: one, or all without it."""
    names = [study.name for study in STUDIES]
    if not name:
        return names
    if name in names:
        return [name]
    raise SystemExit(f"lab: no experiment {name!r}; there are: {', '.join(names)}")


def seconds_wanted(text: str) -> int:
    """LAB_SECONDS as a number, 0 without it."""
    if not text or (text.isascii() and text.isdigit() and int(text)):
        return int(text or 0)
    raise SystemExit(f"lab: LAB_SECONDS is a whole number from 1, not {text!r}")


def shortened(study: Study, seconds: int) -> Study:
    """The study with no run longer than that."""

    def short(case: Case) -> Case:
        def experiment(seed: int):
            whole = case.experiment(seed)
            return replace(whole, seconds=min(whole.seconds, seconds))

        return replace(case, experiment=experiment)

    return replace(study, cases=tuple(short(case) for case in study.cases))


@dataclass(frozen=True)
class Spent:
    """A guest's time: virtual seconds of its jobs, real seconds of all of it and of its jobs."""

    drive: str
    virtual: float
    real: float
    jobs: float


def speeds(spent: Iterable[Spent], at_once: int) -> list[str]:
    """How fast it went on each drive."""
    virtual, real, jobs = Counter(), Counter(), Counter()
    for each in spent:
        virtual[each.drive] += each.virtual
        real[each.drive] += each.real
        jobs[each.drive] += each.jobs
    return [
        f"{drive}: {passed:g} s of virtual time, {passed * at_once / jobs[drive]:.1f} per real"
        f" second, {passed * at_once / real[drive]:.1f} with the boots"
        for drive, passed in virtual.items()
    ]


def work(studies: list[Study], directory: Path) -> None:
    """Run what is missing and say how fast."""
    kernel = kernels.newest(KERNEL)
    machine = Machine(kernel, run.stripped_modules(kernel), versions())
    every = {each.name: each for study in studies for each in raw.runs(study)}
    todo = missing(every, directory, machine)
    print(
        f"lab: {len(every)} runs with kernel {kernel.version}, of which {len(every) - len(todo)}"
        " are there already",
        flush=True,
    )
    begin, spent = time.monotonic(), []
    # The longest first, so that the last ones end together.
    weights = {name: each.experiment.seconds + _BOOT for name, each in todo.items()}
    order = sorted(todo, key=lambda name: -weights[name])
    tasks = {name: task(todo[name], machine, directory, spent) for name in order}
    run.side_by_side(tasks, Progress(weights))
    for line in speeds(spent, run.AT_ONCE):
        print(f"lab: {line}")
    if todo:
        print(f"lab: took {clock(time.monotonic() - begin)} min")


def missing(every: Mapping[str, Run], directory: Path, machine: Machine) -> dict[str, Run]:
    """Those that have no results, or results of other inputs."""
    return {name: each for name, each in every.items() if not each.done(directory, machine)}


def task(
    each: Run, machine: Machine, directory: Path, spent: list[Spent]
) -> Callable[[run.Advance], None]:
    """Run one guest and save what came out."""

    def do(advance: run.Advance) -> None:
        begin, heard = time.monotonic(), []

        def watch(share: float) -> None:
            heard.append((time.monotonic(), share))
            advance(share)

        jobs = run.run_one(each.experiment, each.scheduler, machine.kernel, machine.files, watch)
        each.save(directory, machine, jobs)
        took = time.monotonic() - begin
        drive, seconds = each.experiment.drive.title, each.experiment.seconds
        spent.append(Spent(drive, seconds, took, run.jobs_took(heard) or took))

    return do


def versions() -> dict[str, str]:
    """Programs whose version may show in the numbers."""
    commands = {"fio": ["fio", "--version"], "qemu": ["qemu-system-x86_64", "--version"]}
    return {
        name: subprocess.run(command, capture_output=True, text=True, check=True)
        .stdout.splitlines()[0]
        .removeprefix("QEMU emulator version ")
        for name, command in commands.items()
    }


def write(every: list[Study], wanted: list[Study], directory: Path) -> None:
    """Write what follows from the raw results."""
    complete = [study for study in every if not summary.missing(study, directory / "raw")]
    numbers = {study.name: summary.numbers(study, directory / "raw") for study in complete}
    for study in complete:
        path = directory / "figures" / f"{study.name}.png"
        series = summary.series(study, directory / "raw")
        study.figure(study, numbers[study.name], series, path)
    prices, section = bench()
    summary.write(complete, numbers, prices, directory / "summary.json")
    page.write(every, numbers, section, directory)
    for study in wanted:
        for claim in study.claims(numbers[study.name]):
            verdict = "holds" if claim.holds else "DOES NOT HOLD"
            print(f"lab: {claim.case}: {verdict}: {claim.claim} ({claim.evidence})")
    shown = directory.relative_to(kernels.REPO)
    print(f"lab: wrote {shown}/README.md, summary.json, figures and raw")


def bench() -> tuple[dict, str]:
    """What `make bench` left: its numbers, by scheduler first, and its section of the page.

    Nothing if it never ran.
    """
    path = RESULTS / "bench" / "summary.json"
    if not path.exists():
        return {}, ""
    found = json.loads(path.read_text())
    section = importlib.import_module("results.bench.page").section(found)
    schedulers = found.pop("schedulers", {})
    return schedulers | found, section


if __name__ == "__main__":
    sys.exit(main())
