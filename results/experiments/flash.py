"""The paper's questions on a flash drive.

A flash drive has no heads to move, so runs of one reader gain nothing. On flash a writer makes
readers late, because reads wait for programs and erasures.
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

# The paper's T_wait is meant for disks. On flash, HTBS does not wait by default.
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
The question of [5.1](#51-bandwidth-of-two-applications) on the flash drive. app1 has reserved 4
MB/s within 5 ms and app2 8 MB/s within 10 ms. On flash, `t_wait_us` is 0 by default, so HTBS does
not idle the device for the next request unless the title has `t_wait_us`. Duration: one second.
""",
    Setting(drives.FLASH, (APP1, APP2), WAYS, 1, 0),
)

LATENCY = latency.study(
    "flash-latency",
    "5.2 on a flash drive",
    """
The question of [5.2](#52-latency-and-b_max) with the applications of 5.1 on the flash drive.
Duration: one second.
""",
    Setting(drives.FLASH, (APP1, APP2), latency.WAYS, 1, 0),
)


def total_case(randoms: int) -> Case:
    """Make a case of seven sequential readers and some random ones on flash."""

    def experiment(seed: int) -> Experiment:
        every = total.jobs(drives.FLASH, randoms, seed)
        jobs = tuple(
            replace(job, size=drives.FLASH.size // 16) if job.rw == "read" else job for job in every
        )
        name = f"flash-total-{total.SEQUENTIAL}+{randoms}"
        return Experiment(name, jobs, WAYS, drives.FLASH, 1, seed)

    return Case(f"{total.SEQUENTIAL} sequential, {randoms} random", experiment)


def total_claims(runs: Runs) -> list[Claim]:
    """Say if waiting gains anything, and what HTBS costs."""
    case = f"flash-total-{total.SEQUENTIAL}+0"
    found = {way.name: runs[case][way.name]["total_bw"] / KIB for way in WAYS}

    def numbers(*names: str) -> str:
        ways = (way for way in WAYS if way.name in names)
        return ", ".join(f"{way.title}: {found[way.name]:,.0f} KB/s" for way in ways)

    return [
        Claim(
            case,
            "waiting for sequential readers does not raise the throughput on flash",
            found["htbs-wait"] <= found["htbs-paper"],
            numbers("htbs-paper", "htbs-wait"),
            rule=True,
        ),
        Claim(
            case,
            "HTBS moves at least 90 % of what the drive moves without a scheduler",
            found["htbs"] >= 0.9 * found["none"],
            numbers("htbs", "none"),
        ),
    ]


TOTAL = Study(
    name="flash-total",
    title="5.3 on a flash drive",
    asked="""
The question of [5.3](#53-total-bandwidth-of-many-readers) on the flash drive: seven sequential
readers, alone and with four random ones. Here the emulated CPU limits the throughput, not the
drive, so the CPU cost of a scheduler shows as well. Duration: one second, one run.
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
The question of [the neighbour](#a-neighbour-that-floods-the-disk) on the flash drive. app1 and app2
read at the bandwidth that they have reserved in 5.1 on flash. The neighbour writes at random with
32 requests in flight. The drive is full, so each write makes it collect garbage. Duration: 3
seconds.
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
