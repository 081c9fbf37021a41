"""The paper's 5.3 with reservations that the disk can keep.

Seven applications read in sequence, each with 200 KB/s reserved within a second; four read at
random, 40 KB/s each, within 200 ms. A random read takes up to 26 ms there, so four of them and
seven turns of the others fit. 15 seconds.
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
    """All eleven at once."""
    return Experiment("mixed-disk", _jobs(seed), ways.ALL, drives.PAPER, 15, seed)


CASE = Case("7 sequential, 4 random", experiment)


def claims(runs: Runs) -> list[Claim]:
    """No conforming request is late, and throughput is above the paper's rule and BFQ."""
    return [
        ways.none_late(CASE, runs),
        ways.moves(CASE, runs, 1, ways.PAPER),
        ways.moves(CASE, runs, 1, schedulers.BFQ),
    ]


STUDY = Study(
    name="mixed-disk",
    title="Many readers with reservations that can be kept",
    asked="""
Seven groups read 4k blocks in sequence and have reserved 200 KB/s within a second each; four read
at random, 40 KB/s, and have reserved that within 200 ms. 15 seconds.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.totals,
    table=table.per_job,
    words=words.rankings,
)
