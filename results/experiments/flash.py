"""The paper's questions on a flash drive.

It moves no heads, so a run of one reader gains nothing. There a writer makes readers late: reads
wait for programs and erasures.
"""

from dataclasses import replace

from results.experiments import bandwidth, drives, latency, neighbour, schedulers, total
from results.experiments.setting import Setting
from results.lab import figure, table, words
from results.lab.experiment import KIB, Experiment, Job, Reservation
from results.lab.study import Case, Claim, Runs, Study

MIB = 1 << 20

APP1 = Job("app1", "randread", 0, 2048 * MIB, Reservation(4 * MIB, 64 * KIB, 5_000))
APP2 = Job("app2", "read", 2048 * MIB, 2048 * MIB, Reservation(8 * MIB, 64 * KIB, 10_000))

# The paper's T_wait is for disks: on flash, HTBS does not wait by default.
WAITING = schedulers.paper("htbs-wait", 20, t_wait_us=10_000)
WAYS = (
    schedulers.PCLOCK,
    schedulers.HTBS_PAPER,
    WAITING,
    schedulers.HTBS,
    schedulers.BFQ,
    schedulers.MQ_DEADLINE,
    schedulers.KYBER,
    schedulers.NONE,
)

BANDWIDTH = bandwidth.study(
    "flash-bandwidth",
    "5.1 on a flash drive",
    """
The applications of 5.1 on a TLC drive of a third of the size and speed of a real one. app1 has
reserved 4 MB/s within 5 ms, app2 8 MB/s within 10 ms. On flash HTBS does not wait (`t_wait_us` is 0
by default), unless `t_wait_us` is set. One second.
""",
    Setting(drives.FLASH, (APP1, APP2), WAYS, 1, 0),
)

LATENCY = latency.study(
    "flash-latency",
    "5.2 on a flash drive",
    "The same applications for a second, under the paper's rule with `b_max` 1 and 20.",
    Setting(drives.FLASH, (APP1, APP2), latency.WAYS, 1, 0),
)


def total_case(randoms: int) -> Case:
    """Seven sequential readers and some random ones on flash."""

    def experiment(seed: int) -> Experiment:
        every = total.jobs(drives.FLASH, randoms, seed)
        jobs = tuple(
            replace(job, size=drives.FLASH.size // 16) if job.rw == "read" else job for job in every
        )
        name = f"flash-total-{total.SEQUENTIAL}+{randoms}"
        return Experiment(name, jobs, WAYS, drives.FLASH, 1, seed)

    return Case(f"{total.SEQUENTIAL} sequential, {randoms} random", experiment)


def total_claims(runs: Runs) -> list[Claim]:
    """Is there anything to gain by waiting, and what does HTBS cost?"""
    case = f"flash-total-{total.SEQUENTIAL}+0"
    found = {way.name: runs[case][way.name]["total_bw"] / KIB for way in WAYS}

    def numbers(*names: str) -> str:
        ways = (way for way in WAYS if way.name in names)
        return ", ".join(f"{way.title}: {found[way.name]:,.0f} KB/s" for way in ways)

    return [
        Claim(
            case,
            "waiting for sequential readers gains nothing on flash",
            found["htbs-wait"] <= found["htbs-paper"],
            numbers("htbs-paper", "htbs-wait"),
            rule=True,
        ),
        Claim(
            case,
            "HTBS moves 90 % or more of what the drive does without a scheduler",
            found["htbs"] >= 0.9 * found["none"],
            numbers("htbs", "none"),
        ),
    ]


TOTAL = Study(
    name="flash-total",
    title="5.3 on a flash drive",
    asked="""
Seven sequential readers, alone and with four random ones, on the same drive. A second, one run.
The emulated CPU, not the drive, bounds the throughput here, so the cost of the scheduler's own work
shows as well.
""",
    cases=(total_case(0), total_case(4)),
    claims=total_claims,
    figure=figure.totals,
    table=table.totals,
    words=words.rankings,
)

REST = 4 * MIB
UNIT = 16 * KIB
RATES = (
    "rbps=1067000000 rseqiops=93000 rrandiops=93000 wbps=200000000 wseqiops=48000 wrandiops=10200"
)

NEIGHBOUR = neighbour.study(
    "flash-neighbour",
    "A neighbour that floods a flash drive",
    """
app1 and app2 ask for what they have reserved, in equal steps; the neighbour writes at random, 32
outstanding at a time, on a full drive, so that every write makes it collect garbage. 3 seconds.
""",
    Setting(
        drives.FLASH,
        (neighbour.steady(APP1), neighbour.steady(APP2)),
        (
            schedulers.htbs_with_rest(schedulers.HTBS_PAPER, REST),
            schedulers.htbs_with_rest(schedulers.HTBS, REST),
            schedulers.bfq_weights(UNIT),
            schedulers.io_max("wiops=2000"),
            schedulers.io_cost(RATES, 2_000, UNIT),
            schedulers.NONE,
        ),
        3,
        0,
    ),
)

STUDIES = (BANDWIDTH, LATENCY, TOTAL, NEIGHBOUR)
