"""At the boundary of what admission lets pass: a hundred random sets of reservations.

Each set is admitted for 90 % of what the disk serves at worst, a random read of 4k in 26 ms. Its
groups ask for half of what they have reserved, each in a Poisson process, so that most of their
requests conform; and one more group, without a reservation, reads in sequence as fast as it can; in
larger blocks, as each request takes time to emulate. Ten sets in one guest, one after the other, a
few seconds each.
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
    """Of the groups of a set, us: the same with each seed, so that they can be compared.

    They leave room for half of the capacity, with bursts of a block.
    """
    rng = Random(number)
    while True:
        found = [1000 * rng.choice(_LATENCIES_MS) for _ in range(rng.randrange(2, 7))]
        if _admitted(Reservation(CAPACITY // 2 // len(found), BLOCK, each) for each in found):
            return found


def promises(number: int, seed: int) -> list[Reservation]:
    """A random set that is admitted."""
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
    """Ten sets, a stage each."""
    every = []
    for number in range(1, SETS + 1):
        found = promises(number, seed)
        every += [_reader(number, place, each) for place, each in enumerate(found, 1)]
        every.append(_greedy(number))
    return tuple(every)


@cache
def experiment(seed: int) -> Experiment:
    """The sets of a seed."""
    return Experiment("boundary", jobs(seed), ways.ALL, drives.PAPER, SETS * _SECONDS, seed)


def _of_htbs(seed: int) -> Experiment:
    """The sets of a seed, under HTBS alone, which the claim is about."""
    return replace(experiment(seed), schedulers=(ways.HTBS,))


# What all schedulers ran, so that they can be compared; and all sets.
CASE = Case("ten sets", experiment)
HUNDRED = Case("a hundred sets", _of_htbs, lambda _: SEEDS, called="boundary-hundred")


def claims(runs: Runs) -> list[Claim]:
    """Every reservation that is admitted is kept."""
    return [ways.none_late(HUNDRED, runs)]


def beyond(runs: Runs, way: Scheduler) -> float:
    """The part of all requests of the reserved groups that took longer than their latency."""
    found = [runs[CASE.name][way.name][job.name] for job in table.reserved(CASE)]
    return sum(job["late"] for job in found) / sum(job["requests"] for job in found)


def price(_: Study, runs: Runs) -> str:
    """What is beyond the latency, conforming or not, and what that is the price of."""
    own, none = (beyond(runs, way) for way in (ways.HTBS, schedulers.NONE))
    totals = [ways.total(runs, CASE, way) / KIB for way in (ways.HTBS, schedulers.NONE)]
    return f"""\
HTBS keeps what it promises, and no more: {own:.0%} of all requests of the reserved groups take
longer than their latency, with none {none:.0%}. At random times requests come closer together now
and then than was reserved. Those do not conform and are owed later, and HTBS lets the sequential
reader go on meanwhile: all groups move {totals[0]:,.0f} KB/s, with none {totals[1]:,.0f}. A group
that has to have each request in time needs a reservation that covers its bursts.

{words.ranking(CASE, runs)}"""


STUDY = Study(
    name="boundary",
    title="A hundred sets that are just admitted",
    asked="""
A hundred random sets of two to six reservations, each of which is admitted with 90 % of what the
paper's disk does at worst. In each set every group reads 4k blocks at random, at random times, half
as much as it has reserved; and one more group without a reservation reads in sequence, in blocks of
64k, as fast as it can. All hundred under HTBS, ten under the others; the figure has the ten that
all have. 3 seconds each.
""",
    cases=(CASE, HUNDRED),
    claims=claims,
    figure=figure.margins,
    table=table.kept,
    words=price,
)
