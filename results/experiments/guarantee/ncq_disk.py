"""A disk that reorders: a reader with a reservation beside two groups that keep the disk busy.

The reader is an open loop: its requests are a Poisson process of 20 per second.
"""

from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Experiment, Job, Reservation, Scheduler, io_htbs
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms

MIB = 1 << 20
_SECONDS = 60
_PER_SECOND = 20

_POISSON = {
    "ioengine": "libaio",
    "iodepth": 32,
    "rate_iops": _PER_SECOND,
    "rate_process": "poisson",
    "norandommap": 1,
}
READER = Job(
    "reader", "randread", 0, 2 * GIB, Reservation(160 * KIB, 4 * KIB, 60_000), options=_POISSON
)
WRITER = Job(
    "writer",
    "randwrite",
    6 * GIB,
    2 * GIB,
    None,
    64 * KIB,
    {"ioengine": "libaio", "iodepth": 32, "norandommap": 1},
)
STREAM = Job("stream", "read", 20 * GIB, 20 * GIB, None, MIB, {"ioengine": "libaio", "iodepth": 8})
GREEDY = (WRITER, STREAM)

# For throughput, each of the two has a small reservation, which the disk can keep beside that of
# the reader, and the stream has a hundred times the weight of the writer.
_OWN = {
    "writer": (Reservation(512 * KIB, MIB, 1_000_000), 10),
    "stream": (Reservation(8 * MIB, MIB, 1_000_000), 1000),
}


def _weighed(job: Job) -> dict[str, str]:
    if job.name not in _OWN:
        return io_htbs(job)
    promise, weight = _OWN[job.name]
    return {"io.htbs": f"$dev {promise} weight={weight}"}


_WEIGHTS = (f"{name} weight={weight}" for name, (_, weight) in _OWN.items())
WEIGHED: Scheduler = replace(schedulers.htbs("htbs-weights", *_WEIGHTS), control=_weighed)
WAYS = (WEIGHED, *ways.ALL)


def experiment(seed: int) -> Experiment:
    """Return all three jobs at once."""
    return Experiment("ncq-disk", (READER, *GREEDY), WAYS, drives.NEARLINE, _SECONDS, seed)


CASE = Case(drives.NEARLINE.title, experiment)


def in_time(runs: Runs, way: Scheduler) -> Claim:
    """Claim that at most 1 in 1,000 is late, and none by more than the latency."""
    got, bound = runs[CASE.name][way.name][READER.name], READER.reservation.latency_us
    every, late, excess = got["conforming"], got["missed"], got["late_max_us"]
    return Claim(
        CASE.name,
        f"{way.title}: at most 1 in 1,000 of the reader's conforming requests is late, and none"
        " takes more than twice the latency",
        late <= every / 1000 and excess <= bound,
        f"{every:,} of {got['requests']:,} conform, {late} of these were late"
        + (f", by up to {ms(excess)}" if late else ""),
    )


def served(runs: Runs, way: Scheduler) -> Claim:
    """Claim that the reader gets its offered load, except for the chance of a Poisson process."""
    asks = _PER_SECOND * READER.block
    found = {each.title: runs[CASE.name][each.name][READER.name]["bw"] for each in WAYS}
    return Claim(
        CASE.name,
        f"{way.title}: the reader gets at least 0.95 of its offered load of {asks // KIB} KB/s",
        found[way.title] >= 0.95 * asks,
        f"{found[way.title] / KIB:.0f} KB/s",
    )


def claims(runs: Runs) -> list[Claim]:
    """Return the claims: the reader's bandwidth and latency, and the bandwidth of the others."""
    part = "for the writer and the stream"
    found = []
    for way in (WEIGHED, ways.HTBS):
        moved = ways.moves(CASE, runs, 0.8, schedulers.MQ_DEADLINE, way, GREEDY, part)
        found += [served(runs, way), in_time(runs, way), moved]
    return found


def words_of(study: Study, runs: Runs) -> str:
    """Say what the two get, and which requests of the reader are late."""

    def got(way: Scheduler) -> str:
        found = (ways.total(runs, CASE, way, (job,)) / KIB for job in GREEDY)
        writer, stream = (f"{each:,.0f}" for each in found)
        return f"{writer} and {stream} KB/s under {way.title}"

    every = ", ".join(got(way) for way in (WEIGHED, ways.HTBS, schedulers.MQ_DEADLINE))
    return f"""\
{words.promises(study, runs)}

The writer and the stream get {every}. Requests of the reader that do not conform
are owed later; they count as late in the table, too."""


STUDY = Study(
    name="ncq-disk",
    title="A reader on time on a disk that reorders",
    asked="""
Is a reader in time on the nearline disk, which reorders, beside groups that keep the disk busy? The
reader reads 4k blocks as a Poisson process of 20 requests per second, and has reserved 160 KB/s
within 60 ms. The writer writes 64k blocks at random with 32 in flight. The stream reads blocks of 1
MB sequentially with 8 in flight. These two have no reservation, except in the form of HTBS with
weights: there the writer has reserved 512 KB/s with weight 10, and the stream 8 MB/s with weight
1000, both within a second. Duration: one minute, so that the reader submits more than a thousand
requests, because the first one may find the drive full, before any request with a deadline has
arrived.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.promises,
    table=table.per_job,
    words=words_of,
)
