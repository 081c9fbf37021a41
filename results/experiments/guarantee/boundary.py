"""A hundred random sets of reservations that are just admitted.

Each set is admitted for 90 % of what the disk does in the worst case, which is a random read of 4k
in 26 ms. The groups submit half of what they have reserved, each as a Poisson process, so most
requests conform. One more group without a reservation reads sequentially as fast as it can, in
larger blocks, since emulating a request takes time. A guest runs ten sets one after the other, for
a few seconds each.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from random import Random

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Experiment, Job, Reservation, Scheduler
from results.lab.study import Case, Claim, Runs, Study
from scripts.htbsctl.admission import shortfall
from tests.model.reservation import Params

BLOCK = 4 * KIB

# The longest of many random reads of the paper's disk: 25.9 ms (tests/sim measures it).
WORST_US = 26_000
CAPACITY = 9 * BLOCK * 1_000_000 // (10 * WORST_US)

SETS = 10
SEEDS = tuple(range(1, 11))
_SECONDS = 3
_LATENCIES_MS = (60, 100, 200, 500, 1000, 2000)


def _admitted(promises: Iterable[Reservation]) -> bool:
    params = [Params(each.bw, each.burst, 1000 * each.latency_us) for each in promises]
    return shortfall(params, CAPACITY, BLOCK) is None


def _latencies(number: int) -> list[int]:
    """Return the latencies of the groups of a set in us, the same for each seed.

    Half of the capacity, in equal parts and with bursts of one block, is admitted with them.
    """
    rng = Random(number)
    while True:
        found = [1000 * rng.choice(_LATENCIES_MS) for _ in range(rng.randrange(2, 7))]
        if _admitted(Reservation(CAPACITY // 2 // len(found), BLOCK, each) for each in found):
            return found


def promises(number: int, seed: int) -> list[Reservation]:
    """Return a random set that is admitted."""
    rng = Random(1000 * seed + number)
    latencies = _latencies(number)
    while True:
        weights = [rng.uniform(0.1, 1) for _ in latencies]
        part = CAPACITY * rng.uniform(0.5, 1) / sum(weights)
        bursts = [BLOCK * rng.choice([1, 1, 2, 4, 8]) for _ in latencies]
        found = [
            Reservation(max(BLOCK, int(part * weight)), burst, latency)
            for weight, burst, latency in zip(weights, bursts, latencies, strict=True)
        ]
        if _admitted(found):
            return found


def _reader(number: int, place: int, promise: Reservation) -> Job:
    options = {
        "ioengine": "libaio",
        "iodepth": 32,
        "rate_iops": max(1, promise.bw // (2 * BLOCK)),
        "rate_process": "poisson",
        "norandommap": 1,
        "runtime": _SECONDS,
    }
    name = f"set{number}group{place}"
    return Job(name, "randread", 0, 64 * GIB, promise, BLOCK, options, number)


def _greedy(number: int) -> Job:
    options = {"runtime": _SECONDS}
    return Job(f"set{number}greedy", "read", 70 * GIB, 2 * GIB, None, 16 * BLOCK, options, number)


def jobs(seed: int) -> tuple[Job, ...]:
    """Return the jobs of ten sets, with a stage for each set."""
    every = []
    for number in range(1, SETS + 1):
        found = promises(number, seed)
        every += [_reader(number, place, each) for place, each in enumerate(found, 1)]
        every.append(_greedy(number))
    return tuple(every)


@cache
def experiment(seed: int) -> Experiment:
    """Return the sets of a seed."""
    return Experiment("boundary", jobs(seed), ways.ALL, drives.PAPER, SETS * _SECONDS, seed)


def _of_htbs(seed: int) -> Experiment:
    """Return the sets of a seed under HTBS alone, which the claim is about."""
    return replace(experiment(seed), schedulers=(ways.HTBS,))


# Ten sets under all schedulers, to compare them, and all sets under HTBS.
CASE = Case("ten sets", experiment)
HUNDRED = Case("a hundred sets", _of_htbs, lambda _: SEEDS, called="boundary-hundred")


def claims(runs: Runs) -> list[Claim]:
    """Claim that no conforming request is late."""
    return [ways.none_late(HUNDRED, runs)]


def beyond(runs: Runs, way: Scheduler) -> float:
    """Return the part of all requests of groups with a reservation that were late."""
    found = [runs[CASE.name][way.name][job.name] for job in table.reserved(CASE)]
    return sum(job["late"] for job in found) / sum(job["requests"] for job in found)


def price(_: Study, runs: Runs) -> str:
    """Say how many requests were late, conforming or not, and why."""
    own, none = (beyond(runs, way) for way in (ways.HTBS, schedulers.NONE))
    totals = [ways.total(runs, CASE, way) / KIB for way in (ways.HTBS, schedulers.NONE)]
    return f"""\
HTBS guarantees the latency of conforming requests, and no more: {own:.0%} of all requests of the
groups with a reservation are late under HTBS, {none:.0%} under none. In a Poisson process, some
requests arrive closer together than their reservation allows. They do not conform and are owed
later, and meanwhile HTBS continues the run of the sequential reader. All groups together move
{totals[0]:,.0f} KB/s under HTBS and {totals[1]:,.0f} KB/s under none. If each request of a group
has to be in time, its reservation has to cover its bursts.

{words.ranking(CASE, runs)}"""


STUDY = Study(
    name="boundary",
    title="A hundred sets that are just admitted",
    asked="""
Does HTBS keep each set of reservations that it admits? A hundred random sets of two to six
reservations are admitted with 90 % of what the paper's disk does in the worst case. Each group of a
set reads 4k blocks at random, as a Poisson process with half of its reserved bandwidth. One more
group without a reservation reads 64k blocks sequentially as fast as it can. HTBS runs all hundred
sets, the other schedulers run ten; the figure has these ten. Duration: 3 seconds per set.
""",
    cases=(CASE, HUNDRED),
    claims=claims,
    figure=figure.margins,
    table=table.kept,
    words=price,
)
