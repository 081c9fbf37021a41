"""A reader of one block at a time, on a flash drive, beside groups that keep the drive busy.

Three kinds of neighbours: four groups that read at depth 64 each; a group that writes blocks of
128k, 64 outstanding, on a drive that collects garbage; and, with 64 tags in all, a group that reads
1,024 deep.
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

# Of the drive (tests/simdisk/flash.c): its dies, the pages of a block, their time for a read, for
# an erasure, and for the longest program of a page, one that collects it from four others.
DIES = 8
BLOCK_PAGES = 256
READ_US = 75
ERASE_US = 3_800
COLLECT_US = 4 * READ_US + 41 + 650
# From the host's side: an idle drive's read of 4k.
ALONE_US = 85


def _mean_us(deep: int) -> float:
    """How long a read takes, with so many outstanding at random places."""
    return (deep + DIES - 1) * READ_US / DIES


# As many as keep the dies busy for 95 % of the time.
_DEEP = 19 * (DIES - 1)

# More than a reader of one block at a time can read, so that each of its requests conforms.
_ALL_IT_CAN = 64 * MIB


def reader(latency_us: int) -> Job:
    """One block at a time; it has the CPU first, as only the drive's time is examined."""
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
    """A cap on the writer, which holds on an idle drive, too."""

    def control(job: Job) -> dict[str, str]:
        return {"io.htbs": f"$dev bw={MIB} max={bw}"} if job is WRITER else io_htbs(job)

    capped = schedulers.htbs(f"htbs-capped-{share}", f"writer max={bw // MIB}M")
    return replace(capped, control=control)


# The bar's part of what the writer has without a scheduler, and a part that the reader can bear.
BAR = 0.7
AT_BAR = _capped(31 * MIB, "bar")
LOW = _capped(11 * MIB, "low")
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


def tail(case: Case, runs: Runs, job: Job, way: Scheduler = HTBS) -> Claim:
    """All but one of a thousand are in time."""
    got, bound = runs[case.name][way.name][job.name], job.reservation.latency_us
    return Claim(
        case.name,
        f"{way.title}: all but one in a thousand of the reader's requests are done within"
        f" {ms(bound)}",
        got["p999_us"] <= bound,
        ways.beside(ways.latencies(case, runs, job, "p999_us")),
    )


def half_of_best(case: Case, runs: Runs, job: Job) -> Claim:
    """Within the latency, or within half of what the best of the peers needs."""
    found = runs[case.name]
    best = ways.best(case, runs, job, "p999_us")
    bound = max(job.reservation.latency_us, found[best.name][job.name]["p999_us"] / 2)
    return Claim(
        case.name,
        f"{HTBS.title}: all but one in a thousand of the reader's requests are done within"
        f" {ms(job.reservation.latency_us)}, or within half of what the best of {ways.named()}"
        " needs",
        found[HTBS.name][job.name]["p999_us"] <= bound,
        f"the best of these is {best.title}; "
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
    """Make a study of the reader, the first of the jobs, beside the others."""

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
    """What the scheduler costs, and why the two bars can't both be met."""
    [case] = study.cases
    free, none = (ways.total(runs, case, way) for way in (PAPER, schedulers.NONE))
    return f"""\
{words.promises(study, runs)}

What is possible: {PAPER.title} throttles nothing on flash, and the drive does {free / none:.0%} of
what it does with {schedulers.NONE.title}: the rest is the price of the scheduler on the guest's
CPU. {HTBS.title} moves less than that, because it throttles the others so that the reader's next
request finds the dies free enough. There the drive sets a limit: {DIES} dies that take {READ_US} us
for a read do, with N reads outstanding at random places, N / (N + {DIES - 1}) of what they can do
at most (a closed network of equal servers). For 95 % N is {_DEEP}, and each read then takes
{_mean_us(_DEEP) / 1000:.1f} ms on average, more than the reader has.

[design.md](../docs/design.md#limits-of-surplus) draws what each fixed number of reads outstanding
does. No number has 85 % of the drive and a p99.9 within 1 ms (`tests/sim/test_frontier.py`)."""


def erasures() -> float:
    """How many blocks the drive erases in a second, at least, while no die is ever idle."""
    return DIES * 1_000_000 / (ERASE_US + BLOCK_PAGES * COLLECT_US)


def late_at_least(latency_us: int) -> tuple[float, float, float]:
    """What erasures do to a reader, one block at a time, that waits for nothing else.

    Returns: until when in an erasure a read that comes to that die will be late, us; how probable
    it is that one comes until then; and so, what part of all reads is late at least, while no die
    is idle. A reader that is slower sends fewer, and the part is larger.
    """
    until = ERASE_US + ALONE_US - latency_us
    comes = 1 - (1 - 1 / DIES) ** (until / ALONE_US)
    return until, comes, erasures() * comes * ALONE_US / 1_000_000


def limits_of_writes(study: Study, runs: Runs) -> str:
    """What makes the reader late, and how much each scheduler throttles the writer."""
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

Of what it writes with {schedulers.NONE.title}, the writer writes: {ways.beside(written)}.

What is possible: the drive takes {ERASE_US / 1000} ms to erase a block and does not stop for a
read. A read that comes to that die in the first {until / 1000:.1f} ms of it is late with any
scheduler.
While no die is idle, as with {schedulers.NONE.title}, {erasures():.0f} blocks a second are erased
at least: a die takes {COLLECT_US / 1000:.2f} ms for each of a block's {BLOCK_PAGES} pages at the
most, and then erases one. If the reader waited for nothing else it would do a read in {ALONE_US}
us, and come to the die in time to be late in {comes:.0%} of all erasures. So with {BAR:g} of the
writes, {1000 * BAR * late:.1f} in 1,000 of its reads are late at least, and to have 1 the writer
may have {0.001 / late:.2f} at the most. As it waits for programs, too, it is less than that. To
meet both bars, a scheduler would have to know when which die erases. What is left is a cap on the
writer (`max`)."""


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
A reader of one 4k block at a time has reserved each within 1 ms. Beside it four groups without a
reservation read 4k blocks, 64 outstanding each, from the start. The guest has one CPU, which the
reader has before the others, under each scheduler: the question is how long the drive takes. Two
seconds.
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
The same reader, with 2 ms, beside a group without a reservation that writes blocks of 128k at
random, 64 outstanding, on a full drive, so that each write makes it collect garbage; and with caps
on the writer. 10 seconds: at first there are blocks that cost little to collect.
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
The same reader, with 1 ms, beside a group that reads 1,024 deep from a queue of 64 requests
(`nr_requests`): does the flood take all tags? A second.
""",
    (reader(1_000), FLOOD),
    1,
    _reads,
    limits_of_reads,
    replace(drives.FLASH, queue={"nr_requests": 64}),
)

STUDIES = (READ, WRITE, TAGS)
