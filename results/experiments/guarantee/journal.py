"""A store that syncs each write beside a buffered writer on the same ext4.

A part of what the store waits for belongs to the journal, which ext4 writes for all groups.
"""

from collections.abc import Callable
from dataclasses import replace

from results.experiments import drives
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Drive, Experiment, Job, Reservation, Volume
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms

MIB = 1 << 20
_SECONDS = 30
_PER_SECOND = 10
_LATER_MS = 70
SEEDS = (1, 2, 3, 4, 5)

# The drive keeps what is written, because the file system reads it again.
DISK = Drive({"profile": "hd080hj", "backing": 1}, drives.PAPER.title, drives.PAPER.size)
VOLUME = Volume("files", MIB, 4 * GIB)


def _file(name: str, **options: str | int) -> dict[str, str | int]:
    """Return the options of buffered writes to a file of that name."""
    path = f"/volumes/{VOLUME.name}/{name}"
    return {"filename": path, "direct": 0, "fallocate": "none", **options}


# The file grows, so each write needs the journal. O_SYNC does within write(2) what fsync(2) would
# do after it, so the latency of the write includes the sync.
STORE = Job(
    "store",
    "write",
    0,
    64 * MIB,
    Reservation(160 * KIB, 64 * KIB, 100_000),
    4 * KIB,
    _file("store", sync=1, rate_iops=_PER_SECOND),
)
WRITER = Job("writer", "write", 0, 192 * MIB, None, 128 * KIB, _file("writer"))


def experiment(seed: int) -> Experiment:
    """Return both jobs; the store starts later with each seed, because one run is chance."""
    later = {"startdelay": f"{_LATER_MS * (seed - 1)}ms"} if seed > 1 else {}
    jobs = (replace(STORE, options=STORE.options | later), WRITER)
    return Experiment("journal", jobs, ways.ALL, DISK, _SECONDS, seed, volumes=(VOLUME,))


CASE = Case(DISK.title, experiment, lambda _: SEEDS)


def claims(runs: Runs) -> list[Claim]:
    """Return the claims: the store's puts, their rate, and the writer."""
    return [
        _no_longer(runs, "max_us", "longest put"),
        _no_longer(runs, "p50_us", "median put"),
        _rate(runs),
        _writer(runs),
    ]


def _writer(runs: Runs) -> Claim:
    """Claim that the writer gets nearly as much as under mq-deadline."""
    other = ways.schedulers.MQ_DEADLINE
    return ways.moves(CASE, runs, 0.8, other, ways.HTBS, (WRITER,), "for the writer")


def _no_longer(runs: Runs, key: str, what: str) -> Claim:
    """Claim that a latency of the store is no longer than under the best of the peers."""
    found = runs[CASE.name]
    best = ways.best(CASE, runs, STORE, key)
    return Claim(
        CASE.name,
        f"under {ways.HTBS.title} the {what} takes no longer than under the best of {ways.named()}",
        found[ways.HTBS.name][STORE.name][key] <= found[best.name][STORE.name][key],
        f"the best is {best.title}; "
        + ways.beside(ways.latencies(CASE, runs, STORE, key)),
    )


def _rate(runs: Runs) -> Claim:
    """Claim that the store gets its offered load."""
    asks = words.asked(CASE, runs, STORE)
    found = {each.title: runs[CASE.name][each.name][STORE.name]["bw"] for each in ways.ALL}
    return Claim(
        CASE.name,
        f"{ways.HTBS.title} gives the store its offered load of {asks / KIB:.0f} KB/s",
        found[ways.HTBS.title] >= words.ENOUGH * asks,
        ways.beside({title: f"{bw / KIB:.0f} KB/s" for title, bw in found.items()}),
    )


def price(study: Study, runs: Runs) -> str:
    """Compare HTBS with BFQ."""
    own, bfq = (runs[CASE.name][each.name] for each in (ways.HTBS, ways.schedulers.BFQ))
    late, other = (table.late_of([each[STORE.name]]) for each in (own, bfq))
    kept = own[STORE.name]

    def both(job: Job, key: str, form: Callable[[float], str]) -> str:
        return f"{form(own[job.name][key])} under HTBS and {form(bfq[job.name][key])} under BFQ"

    def kbps(bw: float) -> str:
        return f"{bw / KIB:,.0f} KB/s"

    return f"""\
{words.promises(study, runs)}

The median put takes {both(STORE, "p50_us", ms)}. The store gets {both(STORE, "bw", kbps)}. {late}
puts take more than 100 ms under HTBS, and {other} under BFQ. The writer gets
{both(WRITER, "bw", kbps)}. A put consists of several requests and also waits for the journal. Under
HTBS {kept["conforming"]:,} of the store's requests conform, and {kept["missed"]:,} of these are
late, however long the puts take."""


STUDY = Study(
    name="journal",
    title="A store that syncs beside a buffered writer",
    asked="""
How long do synchronous writes take beside a buffered writer on the same ext4? A key-value store
appends 4 KB to its file ten times per second, and waits until each put is on the disk (O_SYNC). It
has reserved 160 KB/s within 100 ms. The writer has no reservation and overwrites its file of 192 MB
sequentially through the page cache, as fast as the kernel allows. Duration: 30 seconds on the
paper's disk, five runs, in each of which the store starts 70 ms later.

A put consists of several requests, one after the other. It counts as late if it takes longer than
the latency of a single request, even if none of its requests is late. Only a part of the I/O that
it waits for is the store's own: the new size of the file is in the journal, which a kernel thread
of ext4 writes for all groups.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.promises,
    table=table.per_job,
    words=price,
)
