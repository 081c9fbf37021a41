"""The paper's questions on a flash drive.

It has no heads to move, so there is nothing to gain by staying with one reader. What hurts a reader
there is a writer: reads wait for programs and erasures.
"""

from dataclasses import replace

from results.experiments import drives, neighbour, schedulers, total
from results.lab import figure, table
from results.lab.experiment import KIB, Experiment, Job, Reservation
from results.lab.study import Case, Claim, Runs, Study

MIB = 1 << 20

# The paper's T_wait is for disks; HTBS's own choice on flash is not to wait.
WAITING = replace(schedulers.HTBS, name="htbs-wait", title="HTBS, T_wait 10 ms")
HTBS = replace(schedulers.HTBS, tunables={**schedulers.HTBS.tunables, "t_wait_us": 0})
SLACK = replace(schedulers.HTBS_SLACK, tunables={**schedulers.HTBS_SLACK.tunables, "t_wait_us": 0})
WAYS = (HTBS, WAITING, schedulers.BFQ, schedulers.MQ_DEADLINE, schedulers.KYBER, schedulers.NONE)


def total_case(randoms: int) -> Case:
    """Seven sequential readers and some random ones on flash."""

    def experiment(seed: int) -> Experiment:
        every = total.jobs(drives.FLASH, randoms, seed)
        jobs = tuple(
            replace(job, size=drives.FLASH.size // 16) if job.rw == "read" else job for job in every
        )
        return Experiment(
            f"flash-total-{total.SEQUENTIAL}+{randoms}", jobs, WAYS, drives.FLASH, 2, seed
        )

    return Case(f"{total.SEQUENTIAL} sequential, {randoms} random", experiment)


def total_claims(runs: Runs) -> list[Claim]:
    """Is there anything to gain by waiting, and what does HTBS cost?"""
    case = f"flash-total-{total.SEQUENTIAL}+0"
    found = {way.name: runs[case][way.name]["total_bw"] / KIB for way in WAYS}
    numbers = ", ".join(f"{way.title} {found[way.name]:,.0f} KB/s" for way in WAYS)
    return [
        Claim(
            case,
            "waiting for sequential readers gains nothing on flash",
            found["htbs-wait"] <= found["htbs"],
            numbers,
        ),
        Claim(
            case,
            "HTBS moves 90 % or more of what the drive does without a scheduler",
            found["htbs"] >= 0.9 * found["none"],
            numbers,
        ),
    ]


TOTAL = Study(
    name="flash-total",
    title="5.3 on a flash drive",
    asked="""
Seven sequential readers, alone and with four random ones, on a TLC drive of a third of the size and
speed of a real one. 2 seconds, one run. The emulated CPU, not the drive, bounds what can be read
here, so what a scheduler's own work costs is seen as well.
""",
    cases=(total_case(0), total_case(4)),
    claims=total_claims,
    figure=figure.totals,
    table=table.totals,
)

APP1 = Job("app1", "randread", 0, 2048 * MIB, Reservation(4 * MIB, 64 * KIB, 5_000))
APP2 = Job("app2", "read", 2048 * MIB, 2048 * MIB, Reservation(8 * MIB, 64 * KIB, 10_000))
REST = 4 * MIB
UNIT = 16 * KIB
RATES = (
    "rbps=1067000000 rseqiops=93000 rrandiops=93000 wbps=200000000 wseqiops=48000 wrandiops=10200"
)

NEIGHBOUR = neighbour.study(
    "flash-neighbour",
    "A neighbour that floods a flash drive",
    """
app1 reads 4k blocks at random and has reserved 4 MB/s within 5 ms, app2 reads in sequence and has
reserved 8 MB/s within 10 ms; the neighbour writes at random, 32 under way at a time, on a drive
that is full, so that every write makes it collect garbage. 5 seconds.
""",
    neighbour.Setting(
        drives.FLASH,
        (neighbour.steady(APP1), neighbour.steady(APP2)),
        (
            schedulers.htbs_with_rest(HTBS, REST),
            schedulers.htbs_with_rest(SLACK, REST),
            schedulers.bfq_weights(UNIT),
            schedulers.io_max("wiops=2000"),
            schedulers.io_cost(RATES, 2_000, UNIT),
            schedulers.NONE,
        ),
        5,
    ),
)

STUDIES = (TOTAL, NEIGHBOUR)
