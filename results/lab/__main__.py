"""Run the laboratory: `make lab`, or `make lab EXPERIMENT=name`.

A run is not repeated if there are raw data of the same inputs, so an interrupted `make lab`
continues where it stopped. LAB_SECONDS limits the virtual time of each run, for a short trial; its
results go to build/lab. With --list nothing runs, and the raw data are listed. With --page nothing
runs, and page and figures are made from the summary.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from results.bench import page as bench_page
from results.experiments import STUDIES
from results.lab import figure, page, raw, run, sources, summary
from results.lab.progress import Progress, clock
from results.lab.raw import Machine, Run
from results.lab.study import Case, Study
from results.lab.summary import Summary, SummaryError
from tests.vm import GuestError, SetupError, kernels

KERNEL = "6.12"
RESULTS = Path(__file__).parents[1]
RAW = kernels.BUILD / "results" / "raw"
TRIAL = kernels.BUILD / "lab"

# The weight of a boot in seconds of virtual time, for the progress only.
_BOOT = 20


def main() -> int:
    """Run the experiments without raw data, then write summary, figures and page."""
    arguments = parsed()
    seconds = seconds_wanted(os.environ.get("LAB_SECONDS", ""))
    names = chosen(os.environ.get("EXPERIMENT", ""))
    every = [shortened(study, seconds) for study in STUDIES] if seconds else list(STUDIES)
    directory, raws = (TRIAL, TRIAL / "raw") if seconds else (RESULTS, RAW)
    wanted = [study for study in every if study.name in names]
    if arguments.list:
        print("\n".join(listed(wanted, raws)))
        return 0
    try:
        found = summary.read(directory / "summary.json")
        if not arguments.page:
            work(wanted, raws)
            # After work() all runs are of these modules, because the others ran again.
            made_of = sources.commit()
            for study in wanted:
                found |= summary.reduced(study, raws, made_of)
            summary.write(every, found, directory / "summary.json")
    except (SetupError, GuestError, SummaryError) as error:
        print(f"lab: failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted; make lab goes on with what is missing", file=sys.stderr)
        return 130
    write(every, found, directory)
    for study in wanted:
        for claim in claims(study, found):
            print(f"lab: {claim}")
    shown = directory.relative_to(kernels.REPO)
    print(f"lab: wrote {shown}/README.md and the figures, which follow from {shown}/summary.json")
    return 0


def parsed() -> argparse.Namespace:
    """Parse the command line; EXPERIMENT and LAB_SECONDS are in the environment."""
    parser = argparse.ArgumentParser(prog="python -m results.lab", description=__doc__)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--list", action="store_true", help="say which raw data are there")
    only.add_argument("--page", action="store_true", help="make page and figures from the summary")
    return parser.parse_args()


def place(raws: Path) -> str:
    """Return the directory of the raw data as it is shown to the user."""
    return str(raws.relative_to(kernels.REPO)) if raws.is_relative_to(kernels.REPO) else str(raws)


def listed(studies: Iterable[Study], raws: Path) -> list[str]:
    """Say how many runs of each study have raw data, and how to make the rest."""
    lines = [f"lab: raw data are in {place(raws)}, which git does not track"]
    for study in studies:
        every = {each.name for each in raw.runs(study)}
        there = len(every) - len(summary.missing(study, raws))
        line = f"lab: {study.name}: raw data of {there} of {len(every)} runs"
        lines.append(line if there == len(every) else f"{line}: make lab EXPERIMENT={study.name}")
    return lines


def chosen(name: str) -> list[str]:
    """Return the names of the studies to run: that of EXPERIMENT, or all without it."""
    names = [study.name for study in STUDIES]
    if not name:
        return names
    if name in names:
        return [name]
    raise SystemExit(f"lab: no experiment {name!r}; there are: {', '.join(names)}")


def seconds_wanted(text: str) -> int:
    """Return LAB_SECONDS as a number, 0 without it."""
    if not text or (text.isascii() and text.isdigit() and int(text)):
        return int(text or 0)
    raise SystemExit(f"lab: LAB_SECONDS is a whole number from 1, not {text!r}")


def shortened(study: Study, seconds: int) -> Study:
    """Return the study with no run longer than that."""

    def short(case: Case) -> Case:
        def experiment(seed: int):
            whole = case.experiment(seed)
            return replace(whole, seconds=min(whole.seconds, seconds))

        return replace(case, experiment=experiment)

    return replace(study, cases=tuple(short(case) for case in study.cases))


@dataclass(frozen=True)
class Spent:
    """The time of a guest: virtual seconds of its jobs, real seconds in total and of its jobs."""

    drive: str
    virtual: float
    real: float
    jobs: float


def speeds(spent: Iterable[Spent], at_once: int) -> list[str]:
    """Say how fast the runs were on each drive."""
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
    """Run what has no raw data of these inputs, and say how fast the runs were."""
    kernel = kernels.newest(KERNEL)
    machine = Machine(kernel, run.stripped_modules(kernel), run.versions())
    every = {each.name: each for study in studies for each in raw.runs(study)}
    todo = missing(every, directory, machine)
    print(
        f"lab: {len(every)} runs with kernel {kernel.version}; {place(directory)} has raw data of"
        f" {len(every) - len(todo)}, {len(todo)} are to be run",
        flush=True,
    )
    begin, spent = time.monotonic(), []
    # The longest first, so that the last ones end at about the same time.
    weights = {name: each.experiment.seconds + _BOOT for name, each in todo.items()}
    order = sorted(todo, key=lambda name: -weights[name])
    tasks = {name: task(todo[name], machine, directory, spent) for name in order}
    run.side_by_side(tasks, Progress(weights))
    for line in speeds(spent, run.AT_ONCE):
        print(f"lab: {line}")
    if todo:
        print(f"lab: took {clock(time.monotonic() - begin)} min")


def missing(every: Mapping[str, Run], directory: Path, machine: Machine) -> dict[str, Run]:
    """Return the runs that have no raw data, or raw data of other inputs."""
    return {name: each for name, each in every.items() if not each.done(directory, machine)}


def task(
    each: Run, machine: Machine, directory: Path, spent: list[Spent]
) -> Callable[[run.Advance], None]:
    """Return a task that runs one guest and saves its raw data."""

    def do(advance: run.Advance) -> None:
        begin, calls = time.monotonic(), []

        def watch(share: float) -> None:
            calls.append((time.monotonic(), share))
            advance(share)

        jobs = run.run_one(each.experiment, each.scheduler, machine.kernel, machine.files, watch)
        each.save(directory, machine, jobs)
        took = time.monotonic() - begin
        drive, seconds = each.experiment.drive.title, each.experiment.seconds
        spent.append(Spent(drive, seconds, took, run.jobs_took(calls) or took))

    return do


def write(every: list[Study], found: Summary, directory: Path) -> None:
    """Write the figures and the page from the summary."""
    for study in every:
        if summary.shows(found, study):
            numbers, series = summary.numbers(study, found), summary.series(study, found)
            drawn = study.figure(study, numbers, series)
            path = directory / "figures" / f"{study.name}.png"
            figure.save(drawn, path, figure.source(study, numbers, series))
    (directory / "README.md").write_text(page.text(every, found, bench()))


def claims(study: Study, found: Summary) -> list[str]:
    """Return a line for each claim of a study."""
    return [
        f"{claim.case}: {'holds' if claim.holds else 'DOES NOT HOLD'}: {claim.claim}"
        f" ({claim.evidence})"
        for claim in (
            study.claims(summary.numbers(study, found)) if summary.shows(found, study) else []
        )
    ]


def bench() -> str:
    """Return the section about the benchmark; empty if `make bench` never ran."""
    path = RESULTS / "bench" / "summary.json"
    return bench_page.section(json.loads(path.read_text())) if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
