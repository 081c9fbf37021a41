"""The paper's 5.3 with reservations that the disk can keep.

Seven applications read sequentially and have reserved 200 KB/s within a second each. Four read at
random and have reserved 40 KB/s within 200 ms each. A random read takes up to 26 ms, so four of
them and seven turns of the others fit. 15 seconds.
"""

from dataclasses import replace

from results.experiments import drives, schedulers, total
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import KIB, Experiment, Job, Reservation
from results.lab.study import Case, Claim, Runs, Study

PROMISES = {
    "read": Reservation(200 * KIB, 8 * KIB, 1_000_000),
    "randread": Reservation(40 * KIB, 8 * KIB, 200_000),
}


def _jobs(seed: int) -> tuple[Job, ...]:
    every = total.jobs(drives.PAPER, 4, seed)
    return tuple(replace(job, reservation=PROMISES[job.rw]) for job in every)


def experiment(seed: int) -> Experiment:
    """Return all eleven readers at once."""
    return Experiment("mixed-disk", _jobs(seed), ways.ALL, drives.PAPER, 15, seed)


CASE = Case("7 sequential, 4 random", experiment)


def claims(runs: Runs) -> list[Claim]:
    """Claim that no conforming request is late, and that the throughput is high."""
    return [
        ways.none_late(CASE, runs),
        ways.moves(CASE, runs, 1, ways.PAPER),
        ways.moves(CASE, runs, 1, schedulers.BFQ),
    ]


def _kept(_: Study, runs: Runs) -> str:
    """Say under which schedulers all reservations are kept, and how many the others break."""
    broken = [
        f" {way.title} breaks {len(missed)} of {len(CASE.first.jobs)}."
        for way in CASE.first.schedulers
        if (missed := words.faults(CASE, runs, way))
    ]
    kept = ", ".join(words.keepers(CASE, runs)) or "no scheduler"
    return f"All reservations are kept under {kept}.{''.join(broken)}"


STUDY = Study(
    name="mixed-disk",
    title="Many readers with reservations that can be kept",
    asked="""
The question of [5.3](#53-total-bandwidth-of-many-readers) with reservations that the disk can keep:
seven groups read 4k blocks sequentially and have reserved 200 KB/s within a second each. Four
groups read at random, limited to 40 KB/s, and have reserved 40 KB/s within 200 ms each. Duration:
15 seconds.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.totals,
    table=table.totals,
    words=_kept,
)
