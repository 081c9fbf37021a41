"""A reader that wants each block at once, on a flash drive, beside those who want all it has.

Three neighbours: four who read at depth 64 each; one who writes in blocks of 128k, 64 under way, on
a drive that collects garbage; and, with 64 tags in all, one who reads 1,024 deep.
"""

from collections.abc import Callable
from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import KIB, Drive, Experiment, Job, Reservation
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms

MIB = 1 << 20
WAYS = ways.without_waits(*ways.ALL)
HTBS = WAYS[0]

# As much as one who waits for each block can read, so that all of it is promised.
_ALL_IT_CAN = 64 * MIB


def reader(latency_us: int) -> Job:
    """One block at a time."""
    return Job("reader", "randread", 0, 1024 * MIB, Reservation(_ALL_IT_CAN, 4 * KIB, latency_us))


def _deep(depth: int) -> dict[str, object]:
    return {
        "ioengine": "libaio",
        "iodepth": depth,
        "iodepth_batch_submit": 8,
        "iodepth_batch_complete_max": 8,
        "norandommap": 1,
    }


READERS = tuple(
    Job(f"deep{number}", "randread", number * 1024 * MIB, 1024 * MIB, None, options=_deep(64))
    for number in range(1, 5)
)
WRITER = Job("writer", "randwrite", 2048 * MIB, 4096 * MIB, None, 128 * KIB, _deep(64))
# fio of Debian 12 aborts with 1,024 in one process.
_FOUR = {"numjobs": 4, "group_reporting": 1}
FLOOD = Job(
    "flood",
    "randread",
    2048 * MIB,
    4096 * MIB,
    None,
    options={**_FOUR, "ioengine": "libaio", "iodepth": 256, "norandommap": 1},
)


def tail(case: Case, runs: Runs, job: Job) -> Claim:
    """All but one of a thousand are in time."""
    got, bound = runs[case.name][HTBS.name][job.name], job.reservation.latency_us
    return Claim(
        case.name,
        f"all but one in a thousand of the reader's requests are done within {ms(bound)}",
        got["p999_us"] <= bound,
        ways.beside(ways.latencies(case, runs, job, "p999_us")),
    )


def half_of_best(case: Case, runs: Runs, job: Job) -> Claim:
    """Within the latency, or within half of what the best of the peers needs."""
    found = {each.name: runs[case.name][each.name][job.name]["p999_us"] for each in WAYS}
    best = min(found[each.name] for each in ways.PEERS)
    bound = max(job.reservation.latency_us, best / 2)
    return Claim(
        case.name,
        f"all but one in a thousand of the reader's requests are done within"
        f" {ms(job.reservation.latency_us)}, or within half of what the best of the others needs",
        found[HTBS.name] <= bound,
        ways.beside(ways.latencies(case, runs, job, "p999_us")),
    )


def study(  # noqa: PLR0913, PLR0917
    name: str,
    title: str,
    asked: str,
    jobs: tuple[Job, ...],
    seconds: int,
    decide: Callable[[Case, Runs], list[Claim]],
    drive: Drive = drives.FLASH,
) -> Study:
    """The reader, the first of the jobs, beside the others."""

    def experiment(seed: int) -> Experiment:
        return Experiment(name, jobs, WAYS, drive, seconds, seed, tail=True)

    case = Case(drives.FLASH.title, experiment)
    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(case,),
        claims=lambda runs: decide(case, runs),
        figure=figure.promises,
        table=table.per_job,
        words=words.promises,
    )


def _reads(case: Case, runs: Runs) -> list[Claim]:
    moved = ways.moves(case, runs, 0.95, schedulers.NONE, HTBS)
    return [tail(case, runs, case.first.jobs[0]), moved]


def _writes(case: Case, runs: Runs) -> list[Claim]:
    moved = ways.moves(case, runs, 0.7, schedulers.NONE, HTBS, (WRITER,), "for the writer")
    return [half_of_best(case, runs, case.first.jobs[0]), moved]


READ = study(
    "flash-read",
    "A reader beside deep readers on flash",
    """
A reader of one 4k block at a time has reserved each within 1 ms. Beside it four without a
reservation read 4k blocks, 64 under way each. A second.
""",
    (reader(1_000), *READERS),
    1,
    _reads,
)

WRITE = study(
    "flash-write",
    "A reader beside a deep writer on flash",
    """
The same reader, with 2 ms, beside one without a reservation that writes blocks of 128k at random,
64 under way, on a full drive, so that each write makes it collect garbage. 2 seconds.
""",
    (reader(2_000), WRITER),
    2,
    _writes,
)


TAGS = study(
    "tags",
    "A reader beside a flood with few tags",
    """
The same reader, with 1 ms, beside one who reads 1,024 deep from a queue that has 64 requests to
give (`nr_requests`): does the flood take them all? A second.
""",
    (reader(1_000), FLOOD),
    1,
    _reads,
    replace(drives.FLASH, queue={"nr_requests": 64}),
)

STUDIES = (READ, WRITE, TAGS)
