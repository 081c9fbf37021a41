"""A reader with one request in flight on a flash drive, beside groups that keep the drive busy.

The neighbours are four groups that read with a queue depth of 64 each; a group that writes 128k
blocks with a queue depth of 64 on a drive that collects garbage; and, with 64 tags in total, a
group that reads with a queue depth of 1,024.
"""

from collections.abc import Callable
from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import KIB, Drive, Experiment, Job, Reservation, Scheduler, io_htbs
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms

MIB = 1 << 20
HTBS, PAPER = ways.HTBS, ways.PAPER

# The drive (tests/simdisk/flash.c): its dies, the pages of a block, the time of a read, of an
# erasure, and of the longest program of a page, which collects the page from four others.
DIES = 8
BLOCK_PAGES = 256
READ_US = 75
ERASE_US = 3_800
COLLECT_US = 4 * READ_US + 41 + 650
# The latency of a 4k read of an idle drive, measured by the host.
ALONE_US = 85


def _mean_us(deep: int) -> float:
    """Return the mean time of a read with this number of random reads in flight."""
    return (deep + DIES - 1) * READ_US / DIES


# As many reads in flight as keep the dies busy for 95 % of the time.
_DEEP = 19 * (DIES - 1)

# More than a reader with one request in flight can read, so that each of its requests conforms.
_ALL_IT_CAN = 64 * MIB


def reader(latency_us: int) -> Job:
    """Return the reader; it gets the CPU first, because only the time of the drive matters here."""
    promise = Reservation(_ALL_IT_CAN, 4 * KIB, latency_us)
    return Job("reader", "randread", 0, 1024 * MIB, promise, ahead=True, all_it_can=True)


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


def _capped(bw: int, share: str) -> Scheduler:
    """Return HTBS with a cap on the writer, which holds even if the drive is idle."""

    def control(job: Job) -> dict[str, str]:
        return {"io.htbs": f"$dev bw={MIB} max={bw}"} if job is WRITER else io_htbs(job)

    capped = schedulers.htbs(f"htbs-capped-{share}", f"writer max={bw // MIB}M")
    return replace(capped, control=control)


# The writer's part of its throughput under none: that of the claim, and one that the reader can
# bear.
BAR = 0.7
AT_BAR = _capped(31 * MIB, "bar")
LOW = _capped(11 * MIB, "low")
# fio of Debian 12 aborts with an iodepth of 1,024 in one process.
_FOUR = {"numjobs": 4, "group_reporting": 1}
FLOOD = Job(
    "flood",
    "randread",
    2048 * MIB,
    4096 * MIB,
    None,
    options={**_FOUR, "ioengine": "libaio", "iodepth": 256, "norandommap": 1},
)


def tail(case: Case, runs: Runs, job: Job, way: Scheduler = HTBS) -> Claim:
    """Claim that the p99.9 of a job is within its latency."""
    got, bound = runs[case.name][way.name][job.name], job.reservation.latency_us
    return Claim(
        case.name,
        f"{way.title}: the p99.9 of the reader is at most {ms(bound)}",
        got["p999_us"] <= bound,
        ways.beside(ways.latencies(case, runs, job, "p999_us")),
    )


def half_of_best(case: Case, runs: Runs, job: Job) -> Claim:
    """Claim that the p99.9 is within the latency, or half of that of the best of the peers."""
    found = runs[case.name]
    best = ways.best(case, runs, job, "p999_us")
    bound = max(job.reservation.latency_us, found[best.name][job.name]["p999_us"] / 2)
    return Claim(
        case.name,
        f"{HTBS.title}: the p99.9 of the reader is at most {ms(job.reservation.latency_us)}, or"
        f" half of that under the best of {ways.named()}",
        found[HTBS.name][job.name]["p999_us"] <= bound,
        f"the best is {best.title}; "
        + ways.beside(ways.latencies(case, runs, job, "p999_us")),
    )


def study(  # noqa: PLR0913, PLR0917
    name: str,
    title: str,
    asked: str,
    jobs: tuple[Job, ...],
    seconds: int,
    decide: Callable[[Case, Runs], list[Claim]],
    limits: Callable[[Study, Runs], str],
    drive: Drive = drives.FLASH,
    besides: tuple[Scheduler, ...] = (),
) -> Study:
    """Make a study of the reader, which is the first of the jobs, beside the others."""

    def experiment(seed: int) -> Experiment:
        every = (HTBS, PAPER, *besides, *ways.PEERS)
        return Experiment(name, jobs, every, drive, seconds, seed, tail=True)

    case = Case(drives.FLASH.title, experiment)
    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(case,),
        claims=lambda runs: decide(case, runs),
        figure=figure.promises,
        table=table.per_job,
        words=limits,
    )


def limits_of_reads(study: Study, runs: Runs) -> str:
    """Say what the scheduler costs, and why both claims cannot hold at once."""
    return f"""\
{words.promises(study, runs)}

What is possible: {_unthrottled(study, runs)} {HTBS.title} moves less, because it limits the other
readers so that the reader's next request finds the dies free enough. The drive sets the limit here.
{DIES} dies, which take {READ_US} us per read, do N / (N + {DIES - 1}) of their maximum with N
random reads in flight (a closed network of equal servers). For 95 % of the maximum, N is {_DEEP}.
Each read then takes {_mean_us(_DEEP) / 1000:.1f} ms on average, which is more than the reader's
latency.

[design.md](../docs/design.md#limits-of-surplus) has a figure of each fixed number of reads in
flight. None of them reaches 85 % of the drive's throughput with a p99.9 of at most 1 ms
(`tests/sim/test_frontier.py`)."""


def _unthrottled(study: Study, runs: Runs) -> str:
    """Say what a scheduler costs that throttles nothing."""
    [case] = study.cases
    free, none = (ways.total(runs, case, way) for way in (PAPER, schedulers.NONE))
    return (
        f"{PAPER.title} throttles nothing on flash, and moves {free / none:.0%} as much as"
        f" {schedulers.NONE.title}. The difference is the CPU time of the scheduler."
    )


def same_limits(study: Study, runs: Runs) -> str:
    """Refer to limits_of_reads()."""
    return f"""\
{words.promises(study, runs)}

{_unthrottled(study, runs)} The drive sets the same limit as
[above](#a-reader-beside-deep-readers-on-flash)."""


def erasures() -> float:
    """Return the least number of blocks that the drive erases per second if no die is ever idle."""
    return DIES * 1_000_000 / (ERASE_US + BLOCK_PAGES * COLLECT_US)


def late_at_least(latency_us: int) -> tuple[float, float, float]:
    """Return what erasures do to a reader with one request in flight that waits for nothing else.

    Returns three numbers. A read that comes to a die before this time of an erasure, in us, is
    late. The probability that a read comes before it. The least part of all reads that is late
    while no die is idle. A slower reader submits fewer reads, so a larger part of them is late.
    """
    until = ERASE_US + ALONE_US - latency_us
    comes = 1 - (1 - 1 / DIES) ** (until / ALONE_US)
    return until, comes, erasures() * comes * ALONE_US / 1_000_000


def limits_of_writes(study: Study, runs: Runs) -> str:
    """Say what makes the reader late, and how much each scheduler throttles the writer."""
    [case] = study.cases
    reader = case.first.jobs[0]
    none = ways.total(runs, case, schedulers.NONE, (WRITER,))
    written = {
        way.title: f"{ways.total(runs, case, way, (WRITER,)) / none:.0%}"
        for way in case.first.schedulers
    }
    until, comes, late = late_at_least(reader.reservation.latency_us)
    return f"""\
{words.promises(study, runs)}

The writer's throughput relative to {schedulers.NONE.title}: {ways.beside(written)}.

What is possible: the drive takes {ERASE_US / 1000} ms to erase a block and does not suspend the
erasure for a read. A read that comes to the die within the first {until / 1000:.1f} ms of an
erasure is late under any scheduler. If no die is idle, as under {schedulers.NONE.title}, at least
{erasures():.0f} blocks are erased per second, because a die takes at most {COLLECT_US / 1000:.2f}
ms for each of the {BLOCK_PAGES} pages of a block and then erases one. A reader that waited for
nothing else would take {ALONE_US} us per read, and {comes:.0%} of all erasures would make one of
its reads late. So with {BAR:g} of the writes, at least {1000 * BAR * late:.1f} in 1,000 of its
reads are late. For 1 in 1,000 the writer may have at most {0.001 / late:.2f} of its throughput, and
less in practice, because reads wait for programs as well. To meet both claims, a scheduler would
have to know when each die erases. What remains is a cap on the writer (`max`)."""


def _reads(case: Case, runs: Runs) -> list[Claim]:
    moved = ways.moves(case, runs, 0.95, schedulers.NONE, HTBS)
    return [tail(case, runs, case.first.jobs[0]), moved]


def _writes(case: Case, runs: Runs) -> list[Claim]:
    reader = case.first.jobs[0]
    moved = ways.moves(case, runs, BAR, schedulers.NONE, HTBS, (WRITER,), "for the writer")
    return [half_of_best(case, runs, reader), moved, tail(case, runs, reader, LOW)]


READ = study(
    "flash-read",
    "A reader beside deep readers on flash",
    """
How much throughput does a short latency cost on flash? The reader reads 4k blocks with one request
in flight, each within a reserved 1 ms. Four groups without a reservation read 4k blocks with a
queue depth of 64 each. Only the time of the drive matters here, so the reader has the guest's CPU
before the others under each scheduler. Its reservation exceeds what it can read, so all of its
requests conform, and only its latency counts. Duration: two seconds.
""",
    (reader(1_000), *READERS),
    2,
    _reads,
    limits_of_reads,
)

WRITE = study(
    "flash-write",
    "A reader beside a deep writer on flash",
    """
What does a deep writer do to the reader of the previous study, with a reserved latency of 2 ms? A
group without a reservation writes 128k blocks at random with a queue depth of 64. The drive is
full, so each write makes it collect garbage. Two forms of HTBS also cap the writer. Duration: 10
seconds, because at first the drive has blocks that cost little to collect.
""",
    (reader(2_000), WRITER),
    10,
    _writes,
    limits_of_writes,
    besides=(AT_BAR, LOW),
)


TAGS = study(
    "tags",
    "A reader beside a flood with few tags",
    """
Does a flood take all tags from the reader, again with a reserved latency of 1 ms? The flood reads
with a queue depth of 1,024, and the queue has 64 requests (`nr_requests`). Duration: one second.
""",
    (reader(1_000), FLOOD),
    1,
    _reads,
    same_limits,
    replace(drives.FLASH, queue={"nr_requests": 64}),
)

STUDIES = (READ, WRITE, TAGS)
