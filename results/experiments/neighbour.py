"""A neighbour that floods the drive, and what operators use against it today.

The applications of 5.1, which ask for what they reserved in equal steps, and one that nothing is
promised to: it writes 4k blocks at random all over the drive, 32 under way at a time. Who keeps
the two's bandwidth and latency?
"""

from dataclasses import dataclass, replace

from results.experiments import drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.lab import figure, table
from results.lab.experiment import KIB, Drive, Experiment, Job, Scheduler
from results.lab.study import Case, Claim, Runs, Study

# What may be under way when a run ends is no fault.
ENOUGH = 0.98


def steady(job: Job) -> Job:
    """The job, asking for what it has reserved in equal steps, whether or not it gets it."""
    rate = {"ioengine": "libaio", "iodepth": 32, "rate": job.reservation.bw}
    return replace(job, options=rate)


def flood(drive: Drive) -> Job:
    """Write at random, deep."""
    size = drive.size // (4 * KIB) * (4 * KIB)
    deep = {"ioengine": "libaio", "iodepth": 32}
    return Job("flood", "randwrite", 0, size, None, options=deep)


@dataclass(frozen=True)
class Setting:
    """A drive, two jobs with reservations on it, and ways to protect them."""

    drive: Drive
    jobs: tuple[Job, Job]
    ways: tuple[Scheduler, ...]
    seconds: int


def study(name: str, title: str, asked: str, setting: Setting) -> Study:
    """Ask in a setting, of each way."""

    def experiment(seed: int) -> Experiment:
        jobs = (*setting.jobs, flood(setting.drive))
        return Experiment(name, jobs, setting.ways, setting.drive, setting.seconds, seed)

    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(Case(setting.drive.title, experiment),),
        claims=lambda runs: claims(name, runs, setting),
        figure=figure.promises,
        table=table.per_job,
    )


def claims(case: str, runs: Runs, setting: Setting) -> list[Claim]:
    """The same of each."""
    made = []
    for way in setting.ways:
        got = runs[case][way.name]
        kept = all(
            got[job.name]["bw"] >= ENOUGH * job.reservation.bw and got[job.name]["late"] == 0
            for job in setting.jobs
        )
        evidence = "; ".join(
            f"{job.name} got {got[job.name]['bw'] / KIB:,.0f} of {job.reservation.bw / KIB:,.0f}"
            f" KB/s, {got[job.name]['late']} late, the largest latency is"
            f" {got[job.name]['max_us'] / 1000:,.1f} ms"
            for job in setting.jobs
        )
        made.append(Claim(case, f"{way.title} keeps bandwidth and latency of both", kept, evidence))
    return made


# What the disk has left when the two have theirs: some twenty random writes a second.
REST = 64 * KIB
RATES = "rbps=62600000 rseqiops=6200 rrandiops=76 wbps=62600000 wseqiops=120 wrandiops=70"

STUDY = study(
    "neighbour",
    "A neighbour that floods the disk",
    """
The applications of 5.1 with their reservations, each now asking for just what it has reserved, in
equal steps; and a third that nothing is promised to: it writes 4k blocks at random all over the
disk, 32 under way at a time. Beside HTBS (with 64 KB/s for all that have no reservation) what
operators use today: weights under bfq in the ratio of the reservations, `io.max` on the neighbour,
`io.cost` with a model of the disk and the same weights; and nothing. `io.latency` is not in
Debian's kernels.
""",
    Setting(
        drives.PAPER,
        (steady(APP1), steady(APP2)),
        (
            schedulers.htbs_with_rest(schedulers.HTBS, REST),
            schedulers.htbs_with_rest(schedulers.HTBS_SLACK, REST),
            schedulers.bfq_weights(KIB),
            schedulers.io_max("wiops=20"),
            schedulers.io_cost(RATES, APP1.reservation.latency_us, KIB),
            schedulers.MQ_DEADLINE,
        ),
        30,
    ),
)
