"""HTBS again, for longer: where more than 1 in 1000 were late, and some sets drawn at random.

The runs of the census are short: what a drive does once in some seconds, as cleaning, HTBS has
just learned when they end. So its late requests are told apart once more, in a run that is LONGER
times as long: those within the time of the first run, and those after it. What is seldom shows in
a longer run only, so DRAWN of the other sets run for longer, too.

On flash beside writes 1 in 100 is promised, unless `late_one_in_writes` says otherwise;
there it says 1 in 1000.
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
    """What runs again on a drive."""
    return FLASH if isinstance(drive, Flash) else schedulers.HTBS


def boots(
    seed: int, drives: list[Disk | Flash], found: Mapping[str, Mapping[str, Mapping]]
) -> dict[str, Boot]:
    """A guest for each drive, by its place, on which a set runs again.

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
    """The sets that run again, by workload and drive."""
    late = {each for each in _sets(found) if many_late(found[each[0]][each[1]])}
    others = [each for each in _sets(found) if each not in late]
    return late | set(random.Random(seed).sample(others, min(DRAWN, len(others))))


def _sets(found: Mapping[str, Mapping[str, Mapping]]) -> list[tuple[str, str]]:
    return [(name, place) for name, drives in found.items() for place in drives]


def many_late(ways: Mapping[str, Mapping]) -> bool:
    """Was more than 1 in 1000 of a group late with HTBS?"""
    return not summary.in_time(ways[schedulers.HTBS.name], summary.FEW)


def _longer(its: Experiment) -> Experiment:
    return replace(its, seconds=LONGER * its.seconds, early=its.seconds)


def reduced(each: Boot, experiments: Mapping[str, Mapping[str, dict]]) -> dict[str, dict]:
    """The numbers of a guest, by workload; experiments: its raw data, by workload and job."""
    return {
        name: {"title": each.way.title}
        | summary.reduced(its, {each.way.name: experiments[name]})[each.way.name]
        for name, its in each.experiments.items()
    }
