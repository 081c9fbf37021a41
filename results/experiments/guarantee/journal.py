"""A store that syncs each write beside a buffered writer on the same ext4.

What the store waits for is in part the journal's, which is written for all groups.
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

# What is written is kept: the file system reads it again.
DISK = Drive({"profile": "hd080hj", "backing": 1}, drives.PAPER.title, drives.PAPER.size)
VOLUME = Volume("files", MIB, 4 * GIB)


def _file(name: str, **options: str | int) -> dict[str, str | int]:
    """Buffered writes to a file of that name."""
    path = f"/volumes/{VOLUME.name}/{name}"
    return {"filename": path, "direct": 0, "fallocate": "none", **options}


# It grows, so the journal has something of each write. O_SYNC does in write(2) what fsync(2) would
# do after it, so that its time is that of the write.
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
    """Both at once; but the store somewhat later, as one run is one chain of chances."""
    later = {"startdelay": f"{_LATER_MS * (seed - 1)}ms"} if seed > 1 else {}
    jobs = (replace(STORE, options=STORE.options | later), WRITER)
    return Experiment("journal", jobs, ways.ALL, DISK, _SECONDS, seed, volumes=(VOLUME,))


CASE = Case(DISK.title, experiment, lambda _: SEEDS)


def claims(runs: Runs) -> list[Claim]:
    """The store's puts, their rate, and what becomes of the writer."""
    return [
        _no_longer(runs, "max_us", "longest put"),
        _no_longer(runs, "p50_us", "median put"),
        _rate(runs),
        ways.moves(CASE, runs, 0.8, ways.schedulers.MQ_DEADLINE, ways.HTBS, (WRITER,), "buffered"),
    ]


def _no_longer(runs: Runs, key: str, what: str) -> Claim:
    """A latency of the store is no longer than with the best of the peers."""
    found = runs[CASE.name]
    best = ways.best(CASE, runs, STORE, key)
    return Claim(
        CASE.name,
        f"with {ways.HTBS.title} the {what} takes no longer than with the best of {ways.named()}",
        found[ways.HTBS.name][STORE.name][key] <= found[best.name][STORE.name][key],
        f"the best of these is {best.title}; "
        + ways.beside(ways.latencies(CASE, runs, STORE, key)),
    )


def _rate(runs: Runs) -> Claim:
    """The store does as many puts as it asks for."""
    asks = words.asked(CASE, runs, STORE)
    found = {each.title: runs[CASE.name][each.name][STORE.name]["bw"] for each in ways.ALL}
    return Claim(
        CASE.name,
        f"with {ways.HTBS.title} the store gets the {asks / KIB:.0f} KB/s that it asks for",
        found[ways.HTBS.title] >= words.ENOUGH * asks,
        ways.beside({title: f"{bw / KIB:.0f} KB/s" for title, bw in found.items()}),
    )


def price(study: Study, runs: Runs) -> str:
    """What the store has beside what it has with BFQ."""
    own, bfq = (runs[CASE.name][each.name] for each in (ways.HTBS, ways.schedulers.BFQ))
    late, other = (table.late_of([each[STORE.name]]) for each in (own, bfq))
    kept = own[STORE.name]

    def both(job: Job, key: str, form: Callable[[float], str]) -> str:
        return f"{form(own[job.name][key])}, with BFQ {form(bfq[job.name][key])}"

    def kbps(bw: float) -> str:
        return f"{bw / KIB:,.0f} KB/s"

    return f"""\
{words.promises(study, runs)}

HTBS beside BFQ: half of the store's puts take more than {both(STORE, "p50_us", ms)}; the store gets
{both(STORE, "bw", kbps)}; {late} of its puts take more than 100 ms, with BFQ {other}; the writer
gets {both(WRITER, "bw", kbps)}. A put is several requests and waits for the journal besides:
{kept["conforming"]:,} of the store's requests conform with HTBS, {kept["missed"]:,} of these are
late, whatever the puts take."""


STUDY = Study(
    name="journal",
    title="A store that syncs beside a buffered writer",
    asked="""
A key-value store appends 4 KB ten times a second to a file of its own on ext4, and waits until each
is on the disk (O_SYNC); it has reserved 160 KB/s within 100 ms. Such a put is several requests, one
after the other; where it took longer than the latency of one it counts as late, though none of them
may have been. The writer, without a reservation,
overwrites its file of 192 MB in sequence through the page cache, as fast as the kernel lets it.
What the store waits for is only in part its own: the file's new size is in the journal, which ext4
writes for all groups from a kernel thread. 30 seconds on the paper's disk, five times: the store
begins 70 ms later each time.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.promises,
    table=table.per_job,
    words=price,
)
