"""Longer runs of HTBS: the sets with more than 1 in 1000 late, and some sets drawn at random.

The runs of the census are short. HTBS has just learned what a drive does only every few seconds,
such as cleaning, when they end. So these sets run again, LONGER times as long, and the late
requests within the time of the first run and those after it are counted separately. Rare events
show in longer runs only, so DRAWN of the other sets run longer, too.

On flash beside writes, HTBS allows 1 in 100 to be late unless `late_one_in_writes` is set. Here it
is set to 1000.
"""

import random
from collections.abc import Mapping
from dataclasses import replace

from results.census import summary, workloads
from results.census.guest import Boot
from results.experiments import schedulers
from results.lab.experiment import Experiment, Scheduler
from tests.sim.drives import Disk, Flash

LONGER = 8
DRAWN = 6

FLASH = schedulers.htbs("htbs-writes", late_one_in_writes=1000)


def way(drive: Disk | Flash) -> Scheduler:
    """Return the scheduler of the longer run on a drive."""
    return FLASH if isinstance(drive, Flash) else schedulers.HTBS


def boots(
    seed: int, drives: list[Disk | Flash], found: Mapping[str, Mapping[str, Mapping]]
) -> dict[str, Boot]:
    """Return a guest for each drive on which a set runs again, by the number of the drive.

    found: the numbers of the first runs, by workload, drive and scheduler.
    """
    sets = chosen(seed, found)
    every = {}
    for place, drive in enumerate(drives):
        its = {
            name: _longer(each)
            for name, each in workloads.experiments(drive, seed).items()
            if (name, str(place)) in sets
        }
        if its:
            every[str(place)] = Boot(f"{seed}-{place}-again", drive, way(drive), its)
    return every


def chosen(seed: int, found: Mapping[str, Mapping[str, Mapping]]) -> set[tuple[str, str]]:
    """Return the sets that run again, by workload and drive."""
    late = {each for each in _sets(found) if many_late(found[each[0]][each[1]])}
    others = [each for each in _sets(found) if each not in late]
    return late | set(random.Random(seed).sample(others, min(DRAWN, len(others))))


def _sets(found: Mapping[str, Mapping[str, Mapping]]) -> list[tuple[str, str]]:
    return [(name, place) for name, drives in found.items() for place in drives]


def many_late(ways: Mapping[str, Mapping]) -> bool:
    """Return true if more than 1 in 1000 of a group was late under HTBS."""
    return not summary.in_time(ways[schedulers.HTBS.name], summary.FEW)


def _longer(its: Experiment) -> Experiment:
    return replace(its, seconds=LONGER * its.seconds, early=its.seconds)


def reduced(each: Boot, experiments: Mapping[str, Mapping[str, dict]]) -> dict[str, dict]:
    """Return the numbers of a guest by workload; experiments: raw data by workload and job."""
    return {
        name: {"title": each.way.title}
        | summary.reduced(its, {each.way.name: experiments[name]})[each.way.name]
        for name, its in each.experiments.items()
    }
