"""Twice as much is promised as the disk has, to ten groups that are always backlogged.

No promise can be kept. The questions: is throughput lost to seeks, does each group get a part in
proportion to its reservation, and how long is a request pending?
"""

from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Experiment, Job, Reservation, Scheduler
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms

_SECONDS = 60
_GROUPS = 10
_PLACES = 3 * 2 * GIB


def _deep(depth: int) -> dict[str, object]:
    return {"ioengine": "libaio", "iodepth": depth}


def _random(number: int, bw: int, latency_ms: int) -> Job:
    promise = Reservation(bw, 16 * KIB, 1000 * latency_ms)
    options = _deep(16) | {"norandommap": 1}
    return Job(f"rand{number}", "randread", number * _PLACES, 2 * GIB, promise, options=options)


def _sequential(number: int, bw: int, latency_ms: int) -> Job:
    promise = Reservation(bw, 64 * KIB, 1000 * latency_ms)
    return Job(f"seq{number}", "read", number * _PLACES, 2 * GIB, promise, 16 * KIB, _deep(32))


# Random reads: the disk does some 300 KB/s of them, deep as they are, and 680 KB/s are promised.
RANDOM = tuple(
    _random(number, 28_000 + 9_000 * number, 200 + 50 * (number % 4)) for number in range(_GROUPS)
)

# Half of them read on: 30 MB/s are promised to these alone, of the 60 that one of them could have.
MIXED = (
    *(_sequential(each, 4_500_000 + 750_000 * each, 300 + 50 * each) for each in range(5)),
    *(_random(5 + each, 60_000 + 22_500 * each, 200 + 50 * each) for each in range(5)),
)


# As many requests as all groups want to have outstanding: with fewer, the first groups take most.
_DRIVE = replace(drives.PAPER, scheduled={"nr_requests": 256})


def _case(name: str, title: str, jobs: tuple[Job, ...]) -> Case:
    def experiment(seed: int) -> Experiment:
        return Experiment(name, jobs, ways.ALL, _DRIVE, _SECONDS, seed)

    return Case(title, experiment)


CASES = (
    _case("overload", "ten read at random", RANDOM),
    _case("overload-mixed", "five read at random, five in sequence", MIXED),
)


def shares(case: Case, runs: Runs) -> list[float]:
    """What each got of what it reserved, against what all got of what all reserved."""
    found = runs[case.name][ways.HTBS.name]
    jobs = case.first.jobs
    whole = found["total_bw"] / sum(job.reservation.bw for job in jobs)
    return [found[job.name]["bw"] / job.reservation.bw / whole for job in jobs]


def longest(case: Case, runs: Runs, way: Scheduler) -> float:
    """The longest that any request took, us."""
    return max(runs[case.name][way.name][job.name]["max_us"] for job in case.first.jobs)


def _waits(case: Case, runs: Runs) -> Claim:
    """No request waits for longer than a bound.

    What a group has outstanding takes its mean; a sweep that goes past all of it has twice as many
    requests, and each run begins with the oldest, wherever it is: two and a half times the mean.
    Half a second's lead over the others takes a second to make up, as twice as much is promised.
    """
    found = runs[case.name][ways.HTBS.name]
    return Claim(
        case.name,
        f"with {ways.HTBS.title} no request takes more than 2.5 times the mean of its group, "
        "and a second",
        all(
            found[job.name]["max_us"] <= 2.5 * found[job.name]["mean_us"] + 1_000_000
            for job in case.first.jobs
        ),
        "the longest request: "
        + ways.beside({way.title: ms(longest(case, runs, way)) for way in ways.ALL}),
    )


def _claims(case: Case, runs: Runs) -> list[Claim]:
    found = shares(case, runs)
    return [
        ways.moves(case, runs, 0.9, ways.PAPER),
        ways.moves(case, runs, 1, schedulers.BFQ),
        Claim(
            case.name,
            f"{ways.HTBS.title} gives each group its part of what all reserved, within 10 %",
            all(0.9 <= share <= 1.1 for share in found),
            f"{min(found):.2f} to {max(found):.2f} of that",
        ),
        _waits(case, runs),
    ]


STUDY = Study(
    name="overload",
    title="More promised than the disk has",
    asked="""
Ten groups have reserved twice what the disk can do, and are always backlogged: all read at random,
or half of them in sequence. No promise can be kept then. What becomes of throughput, of the shares,
and of the longest wait? 60 seconds, with room in the queue for all requests (`nr_requests` 256).

The bound on the longest wait: what a group has outstanding takes its mean; a sweep that goes past
all of it has twice as many requests, and each run begins with the oldest, wherever it is, which
makes two and a half times the mean. Besides, a group's run ends when it is half a second ahead of
the others; as twice as much is promised as there is, they need a second to catch up.
""",
    cases=CASES,
    claims=lambda runs: [claim for case in CASES for claim in _claims(case, runs)],
    figure=figure.totals,
    table=table.per_job,
    words=words.rankings,
)
