"""A disk that reorders: a reader with a reservation beside two groups that keep the disk busy.

The reader's requests do not wait for the ones before: they are a Poisson process of 20 a second.
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

# For throughput: each of the two has a small reservation, which the disk can keep beside the
# reader's, and the stream has a hundred times the weight of the writer.
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
    """All three at once."""
    return Experiment("ncq-disk", (READER, *GREEDY), WAYS, drives.NEARLINE, _SECONDS, seed)


CASE = Case(drives.NEARLINE.title, experiment)


def in_time(runs: Runs, way: Scheduler) -> Claim:
    """Late 1 of 1,000 at most, and none by more than the latency."""
    found = {each.title: runs[CASE.name][each.name][READER.name] for each in WAYS}
    got, bound = found[way.title], READER.reservation.latency_us
    every, late, excess = got["conforming"], got["missed"], got["late_max_us"]
    return Claim(
        CASE.name,
        f"{way.title}: one of the reader's conforming requests in a thousand is late at most, none"
        " takes more than twice the latency",
        late <= every / 1000 and excess <= bound,
        f"{every:,} of {got['requests']:,} conformed, {late} of these were late, by up to"
        f" {ms(excess)}; more than {ms(bound)}, whether or not they conformed, took "
        + ways.beside({title: table.late_of([each]) for title, each in found.items()}),
    )


def served(runs: Runs, way: Scheduler) -> Claim:
    """The reader gets what it asks for, up to the chance of a Poisson process."""
    asks = _PER_SECOND * READER.block
    found = {each.title: runs[CASE.name][each.name][READER.name]["bw"] for each in WAYS}
    return Claim(
        CASE.name,
        f"{way.title}: the reader gets 0.95 of the {asks // KIB} KB/s that it asks for, or more",
        found[way.title] >= 0.95 * asks,
        ways.beside({title: f"{bw / KIB:.0f} KB/s" for title, bw in found.items()}),
    )


def claims(runs: Runs) -> list[Claim]:
    """What the reader gets, its latency, and the bandwidth of the two, with and without weights."""
    part = "for the writer and the stream"
    found = []
    for way in (WEIGHED, ways.HTBS):
        moved = ways.moves(CASE, runs, 0.8, schedulers.MQ_DEADLINE, way, GREEDY, part)
        found += [served(runs, way), in_time(runs, way), moved]
    return found


def words_of(study: Study, runs: Runs) -> str:
    """What the two get of the disk, and what the reader's late requests are."""

    def got(way: Scheduler) -> str:
        found = (ways.total(runs, CASE, way, (job,)) / KIB for job in GREEDY)
        writer, stream = (f"{each:,.0f}" for each in found)
        return f"{writer} and {stream} KB/s with {way.title}"

    every = ", ".join(got(way) for way in (WEIGHED, ways.HTBS, schedulers.MQ_DEADLINE))
    return f"""\
{words.promises(study, runs)}

The writer and the stream get {every}. Without reservations of their own the two share one, but each
has its share of the device's time, in which a write counts three times. Requests of the reader that
do not conform are owed later. In the table they count as late, too."""


STUDY = Study(
    name="ncq-disk",
    title="A reader on time on a disk that reorders",
    asked="""
Requests of a reader of 4k blocks come at random times, 20 a second; it has reserved 160 KB/s within
60 ms, on the nearline disk with command queueing. Beside it the writer writes 64k blocks at random,
32 outstanding at a time, and the stream reads in sequence in blocks of 1 MB, 8 outstanding. These
two have no reservation, and so share the default one; except with weights: there the writer has
reserved 512 KB/s with weight 10, and the stream 8 MB/s with weight 1000, both within a second. A
minute, for more than a thousand requests of the reader: the first may find the drive full, as no
request with a deadline was there before.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.promises,
    table=table.per_job,
    words=words_of,
)
