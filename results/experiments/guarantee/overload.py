"""Ten groups that are always backlogged have reserved twice what the disk can do.

No reservation can be kept. Is throughput lost to seeks, does each group get a share in proportion
to its reservation, and how long is a request pending?
"""

from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table
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


# Random reads: the disk does some 300 KB/s of them at this queue depth, and 680 KB/s are reserved.
RANDOM = tuple(
    _random(number, 28_000 + 9_000 * number, 200 + 50 * (number % 4)) for number in range(_GROUPS)
)

# Half of them are sequential and have reserved 30 MB/s of the 60 MB/s that one of them could get.
MIXED = (
    *(_sequential(each, 4_500_000 + 750_000 * each, 300 + 50 * each) for each in range(5)),
    *(_random(5 + each, 60_000 + 22_500 * each, 200 + 50 * each) for each in range(5)),
)


# As many requests as all groups have in flight: with fewer, the first groups would take most of
# them.
_DRIVE = replace(drives.PAPER, scheduled={"nr_requests": 256})


def _case(name: str, title: str, jobs: tuple[Job, ...]) -> Case:
    def experiment(seed: int) -> Experiment:
        return Experiment(name, jobs, ways.ALL, _DRIVE, _SECONDS, seed)

    return Case(title, experiment)


CASES = (
    _case("overload", "ten random readers", RANDOM),
    _case("overload-mixed", "five random and five sequential readers", MIXED),
)


def shares(case: Case, runs: Runs, way: Scheduler = ways.HTBS) -> list[float]:
    """Return each group's part of its reservation over that of all groups together."""
    found = runs[case.name][way.name]
    jobs = case.first.jobs
    whole = found["total_bw"] / sum(job.reservation.bw for job in jobs)
    return [found[job.name]["bw"] / job.reservation.bw / whole for job in jobs]


def longest(case: Case, runs: Runs, way: Scheduler) -> float:
    """Return the largest latency of all requests, us."""
    return max(runs[case.name][way.name][job.name]["max_us"] for job in case.first.jobs)


def _waits(case: Case, runs: Runs) -> Claim:
    """Claim that no request takes longer than the bound that the text of the study explains."""
    found = runs[case.name][ways.HTBS.name]
    return Claim(
        case.name,
        f"under {ways.HTBS.title} no request takes longer than 2.5 times the mean of its group plus"
        " one second",
        all(
            found[job.name]["max_us"] <= 2.5 * found[job.name]["mean_us"] + 1_000_000
            for job in case.first.jobs
        ),
        "largest latency: "
        + ways.beside({way.title: ms(longest(case, runs, way)) for way in ways.ALL}),
    )


def _claims(case: Case, runs: Runs) -> list[Claim]:
    found = shares(case, runs)
    return [
        ways.moves(case, runs, 0.9, ways.PAPER),
        ways.moves(case, runs, 1, schedulers.BFQ),
        Claim(
            case.name,
            f"{ways.HTBS.title} gives all groups the same part of their reservations, within 10 %",
            all(0.9 <= share <= 1.1 for share in found),
            f"{min(found):.2f} to {max(found):.2f} times the part of all groups together",
        ),
        _waits(case, runs),
    ]


def shown(_: Study, runs: Runs) -> str:
    """Return a table with a line for each case and scheduler, since the groups are many."""
    rows = [("groups", "scheduler", "total KB/s", "part of the reservations", "largest ms")]
    for case in CASES:
        for way in ways.ALL:
            found = shares(case, runs, way)
            parts = f"{min(found):.2f} to {max(found):.2f}"
            total = f"{ways.total(runs, case, way) / KIB:,.0f}"
            largest = f"{longest(case, runs, way) / 1000:,.0f}"
            rows.append((case.title, way.title, total, parts, largest))
    return table.markdown(rows, 2)


STUDY = Study(
    name="overload",
    title="More reserved than the disk can do",
    asked="""
What happens to throughput, shares and the longest wait if no reservation can be kept? Ten groups
have reserved twice what the disk can do and are always backlogged. All read at random, or half of
them sequentially. Duration: 60 seconds, with a queue for all requests (`nr_requests` 256).

The bound on the longest wait is derived as follows. The requests that a group has in flight take
its mean latency. A sweep that passes all of them serves twice as many requests, and each run begins
with the oldest one, wherever it is. That makes two and a half times the mean. Moreover, a run ends
when its group is half a second ahead of the others. They need a second to catch up, because twice
as much is reserved as the disk can do.
""",
    cases=CASES,
    claims=lambda runs: [claim for case in CASES for claim in _claims(case, runs)],
    figure=figure.totals,
    table=shown,
    words=lambda study, runs: """\
*Part of the reservations* is what a group gets of its reservation, relative to all groups together:
that of the group with the least, and that of the group with the most.""",
)
