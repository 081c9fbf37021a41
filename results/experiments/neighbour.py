"""A neighbour that floods the drive, and what operators use against it today.

The applications of 5.1 submit what they have reserved at a constant rate. A neighbour without a
reservation writes 4k blocks at random to the whole drive with 32 requests in flight. Under which
scheduler do the two applications get their bandwidth and latency?
"""

from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.experiments.setting import Setting
from results.lab import figure, table, words
from results.lab.experiment import KIB, Drive, Experiment, Job
from results.lab.study import Case, Claim, Runs, Study


def steady(job: Job) -> Job:
    """Return the job with its reserved bandwidth as a constant offered load (open loop)."""
    rate = {"ioengine": "libaio", "iodepth": 32, "rate": job.reservation.bw}
    return replace(job, options=rate)


def kept(job: Job, latency_us: int) -> Job:
    """Return a steady job with a reservation that a disk can keep beside random writes.

    fio wakes up every 30 ms and submits all that is due by then, so the burst has to cover that. A
    request may also wait for a write that the disk has begun, and for requests with earlier
    deadlines.
    """
    reservation = replace(job.reservation, burst=64 * KIB, latency_us=latency_us)
    return replace(steady(job), reservation=reservation)


def flood(drive: Drive) -> Job:
    """Return the neighbour: random writes with 32 requests in flight."""
    size = drive.size // (4 * KIB) * (4 * KIB)
    deep = {"ioengine": "libaio", "iodepth": 32, "norandommap": 1}
    return Job("flood", "randwrite", 0, size, None, options=deep)


def study(name: str, title: str, asked: str, setting: Setting) -> Study:
    """Make the study for a setting."""

    def experiment(seed: int) -> Experiment:
        jobs = (*setting.jobs, flood(setting.drive))
        return Experiment(
            name, jobs, setting.ways, setting.drive, setting.seconds, seed, apart=setting.apart
        )

    case = Case(setting.drive.title, experiment)
    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(case,),
        claims=lambda runs: claims(case, runs),
        figure=figure.promises,
        table=table.per_job,
        words=words.promises,
    )


def claims(case: Case, runs: Runs) -> list[Claim]:
    """Claim that HTBS keeps both reservations, and that nothing else does."""
    made = []
    for way in case.first.schedulers:
        if way.reserves:
            missed = "; ".join(words.faults(case, runs, way))
            claim = f"{way.title} keeps both reservations"
            rule = way.module == schedulers.HTBS_PAPER.module
            found = missed or "both were kept"
            made.append(Claim(case.name, claim, not missed, found, rule=rule))
    others = [way.title for way in case.first.schedulers if not way.reserves]
    keep = [title for title in words.keepers(case, runs) if title in others]
    missed = "each breaks at least one of them"
    evidence = f"both are kept under {', '.join(keep)}" if keep else missed
    claim = "no configuration that operators use today keeps both reservations"
    return [*made, Claim(case.name, claim, not keep, evidence)]


# What the disk has left beside the two reservations: some twenty random writes per second.
REST = 64 * KIB
RATES = "rbps=62600000 rseqiops=6200 rrandiops=76 wbps=62600000 wseqiops=120 wrandiops=70"

STUDY = study(
    "neighbour",
    "A neighbour that floods the disk",
    """
Are two reservations kept beside a neighbour that floods the disk? The applications of 5.1 offer
exactly the bandwidth that they have reserved. The neighbour has no reservation and writes 4k blocks
at random to the whole disk, with 32 requests in flight. Duration: 30 seconds.

fio submits every 30 ms what is due by then, two blocks of app1 and six of app2, so their burst is
64 KB. A positioning takes 26 ms in the worst case. The latency of app1 is 80 ms, because a write
that the disk has begun and its own two blocks may take three positionings; that of app2 is 110 ms.
The default reservation of HTBS is 64 KB/s. The alternatives that operators use today are
`io.bfq.weight` in the ratio of the reservations, `io.max` on the neighbour, `io.cost` with a model
of the disk and the same weights, and mq-deadline without any control. `io.latency` is not compared,
because Debian's kernels do not have it (`CONFIG_BLK_CGROUP_IOLATENCY` is off).
""",
    Setting(
        drives.PAPER,
        (kept(APP1, 80_000), kept(APP2, 110_000)),
        (
            schedulers.htbs_with_rest(schedulers.HTBS_PAPER, REST),
            schedulers.htbs_with_rest(schedulers.HTBS, REST),
            schedulers.bfq_weights(KIB),
            schedulers.io_max("wiops=20"),
            schedulers.io_cost(RATES, 80_000, KIB),
            schedulers.MQ_DEADLINE,
        ),
        30,
    ),
)
