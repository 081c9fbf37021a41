"""The census in guests: `make census GUEST=1 SEED=n DRIVES=n`.

A guest does not run again if there are raw data of the same inputs. So an interrupted census
continues where it stopped, and more drives of the same seed need only their own guests. If a guest
fails, the others continue, and the census reports the missing one.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from results.census import again, figure, guest, page, raw, summary, workloads
from results.census.guest import Boot
from results.lab import run
from results.lab.experiment import Experiment
from results.lab.progress import Progress, clock
from results.lab.raw import Machine
from tests.sim.drives import Disk, Flash
from tests.vm import GuestError, SetupError, kernels

KERNEL = "6.12"
DIRECTORY = Path(__file__).parent
SUMMARY = DIRECTORY / "summary.json"
PAGE = DIRECTORY.parent / "census.md"
RAW = kernels.BUILD / "results" / "census" / "raw"

# The weight of a boot in seconds of virtual time, and of a second on flash; for the progress.
_BOOT = 20
_FLASH = 20


def main() -> int:
    """Run the guests without raw data, then write summary, figure and page."""
    arguments = parsed()
    drives = workloads.draw_drives(arguments.seed, arguments.drives)
    if arguments.list:
        print(*(f"{place}: {drive}" for place, drive in enumerate(drives)), sep="\n")
        return 0
    if arguments.page:
        write(json.loads(SUMMARY.read_text()))
        return 0
    begin = time.monotonic()
    try:
        kernel = kernels.newest(KERNEL)
        machine = Machine(kernel, run.stripped_modules(kernel), run.versions())
        boots = [
            boot for place, drive in enumerate(drives)
            for boot in boots_of(place, drive, arguments.seed)
        ]  # fmt: skip
        failed = work(boots, machine)
        if not failed:
            found = summarised(arguments.seed, drives, boots, machine)
            longer = again.boots(arguments.seed, drives, found["workloads"])
            failed = work(longer.values(), machine)
    except SetupError as error:
        print(f"census: failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("census: interrupted; the same command goes on with what is missing", file=sys.stderr)
        return 130
    if failed:
        for error in failed:
            print(f"census: failed: {error}", file=sys.stderr)
        return 1
    found |= summarised_again(longer, machine)
    SUMMARY.write_text(json.dumps(found, indent=1) + "\n")
    write(found)
    print("census: wrote results/census.md, census/census.png and census/summary.json")
    print(f"census: took {clock(time.monotonic() - begin)} min")
    return 0


def parsed() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m results.census", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--drives", type=int, default=30, metavar="N")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--list", action="store_true", help="print the drives, run nothing")
    only.add_argument("--page", action="store_true", help="make the page from the summary")
    return parser.parse_args()


def boots_of(place: int, drive: Disk | Flash, seed: int) -> list[Boot]:
    """Return a guest for each scheduler."""
    asked = workloads.experiments(drive, seed)
    return [
        Boot(f"{seed}-{place}-{way.name}", drive, way, asked) for way in workloads.WAYS if asked
    ]


def work(boots: Iterable[Boot], machine: Machine) -> list[GuestError]:
    """Run the guests that have no raw data of these inputs, and return their errors."""
    boots = list(boots)
    todo = {each.name: each for each in boots if raw.load(each, machine, RAW) is None}
    print(
        f"census: {len(boots)} guests with kernel {machine.kernel.version}; there are raw data of"
        f" {len(boots) - len(todo)}, {len(todo)} are to be run",
        flush=True,
    )
    failed: list[GuestError] = []
    weights = {name: _weight(each) for name, each in todo.items()}
    tasks = {name: _task(each, machine, failed) for name, each in todo.items()}
    if tasks:
        run.side_by_side(tasks, Progress(weights))
    return failed


def _weight(each: Boot) -> float:
    return _BOOT + each.seconds * (_FLASH if isinstance(each.drive, Flash) else 1)


def _task(
    each: Boot, machine: Machine, failed: list[GuestError]
) -> Callable[[run.Advance], None]:
    """Run one guest and save its raw data."""

    def do(advance: run.Advance) -> None:
        try:
            found = guest.measure(each, machine.kernel, machine.files, advance)
        except GuestError as error:
            failed.append(error)
            return
        raw.save(each, machine, RAW, found)

    return do


def summarised(
    seed: int, drives: list[Disk | Flash], boots: Iterable[Boot], machine: Machine
) -> dict:
    """Return all that the page shows, from raw data."""
    data = {each.name: raw.load(each, machine, RAW) for each in boots}
    found: dict[str, dict] = {each.name: {} for each in workloads.WORKLOADS}
    promised: dict[str, dict] = {each.name: {} for each in workloads.WORKLOADS}
    for place, drive in enumerate(drives):
        for name, its in workloads.experiments(drive, seed).items():
            ways = {
                way.name: data[f"{seed}-{place}-{way.name}"]["experiments"][name]
                for way in workloads.WAYS
            }
            found[name][str(place)] = summary.reduced(its, ways)
            promised[name][str(place)] = reserved(its)
    return {
        "seed": seed,
        "measured_with": {
            "kernel": machine.kernel.version,
            "versions": machine.versions,
            "inputs": {name: each["inputs"] for name, each in data.items()},
        },
        "drives": {str(place): str(drive) for place, drive in enumerate(drives)},
        "reserved": promised,
        "workloads": found,
    }


def summarised_again(boots: Mapping[str, Boot], machine: Machine) -> dict:
    """Return what the page shows of the longer runs, from raw data; boots: by drive."""
    found: dict[str, dict] = {}
    inputs = {}
    for place, each in boots.items():
        data = raw.load(each, machine, RAW)
        inputs[each.name] = data["inputs"]
        for name, numbers in again.reduced(each, data["experiments"]).items():
            found.setdefault(name, {})[place] = numbers
    return {"again": found, "again_measured_with": inputs}


def reserved(its: Experiment) -> dict[str, str]:
    """Return the reservations by group."""
    return {job.name: str(job.reservation) for job in its.jobs if job.reservation}


def write(found: dict) -> None:
    """Write the figure and the page from the summary."""
    figure.census(found, DIRECTORY / "census.png")
    PAGE.write_text(page.text(found))


if __name__ == "__main__":
    sys.exit(main())
