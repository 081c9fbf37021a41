"""A neighbour that floods the drive, and what operators use against it today.

The applications of 5.1, which ask for what they reserved in equal steps, and one without a
reservation: it writes 4k blocks at random all over the drive, 32 outstanding at a time. With which
scheduler do the two get their bandwidth and latency?
"""

from dataclasses import replace

from results.experiments import drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.experiments.setting import Setting
from results.lab import figure, table, words
from results.lab.experiment import KIB, Drive, Experiment, Job
from results.lab.study import Case, Claim, Runs, Study


def steady(job: Job) -> Job:
    """The job, asking for what it has reserved in equal steps, whether or not it gets it."""
    rate = {"ioengine": "libaio", "iodepth": 32, "rate": job.reservation.bw}
    return replace(job, options=rate)


def kept(job: Job, latency_us: int) -> Job:
    """A steady job with a reservation that a disk can keep beside writes all over it.

    fio wakes up every 30 ms and asks for what is due by then: the burst has to cover that. And a
    request may wait for a write that the disk has begun, and for what is due before it.
    """
    reservation = replace(job.reservation, burst=64 * KIB, latency_us=latency_us)
    return replace(steady(job), reservation=reservation)


def flood(drive: Drive) -> Job:
    """Write at random, deep."""
    size = drive.size // (4 * KIB) * (4 * KIB)
    deep = {"ioengine": "libaio", "iodepth": 32, "norandommap": 1}
    return Job("flood", "randwrite", 0, size, None, options=deep)


def study(name: str, title: str, asked: str, setting: Setting) -> Study:
    """Ask in a setting, of each way."""

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
    """Are both kept with HTBS, and with HTBS only?"""
    made = []
    for way in case.first.schedulers:
        if way.reserves:
            missed = "; ".join(words.faults(case, runs, way))
            claim = f"{way.title} keeps bandwidth and latency of both"
            rule = way.module == schedulers.HTBS_PAPER.module
            found = missed or "nothing was missed"
            made.append(Claim(case.name, claim, not missed, found, rule=rule))
    others = [way.title for way in case.first.schedulers if not way.reserves]
    keep = [title for title in words.keepers(case, runs) if title in others]
    missed = "each missed a bandwidth or a latency"
    evidence = f"both kept with: {', '.join(keep)}" if keep else missed
    claim = "none of what operators use today keeps bandwidth and latency of both"
    return [*made, Claim(case.name, claim, not keep, evidence)]


# What the disk has left when the two have theirs: some twenty random writes a second.
REST = 64 * KIB
RATES = "rbps=62600000 rseqiops=6200 rrandiops=76 wbps=62600000 wseqiops=120 wrandiops=70"

STUDY = study(
    "neighbour",
    "A neighbour that floods the disk",
    """
The applications of 5.1 with their bandwidths, each now asking for just what it has reserved; and a
third without a reservation: it writes 4k blocks at random all over the disk, 32 outstanding at a
time. fio asks every 30 ms for what is due by then, two blocks of app1 and six of app2, so their
burst is 64 KiB. A positioning takes 26 ms at worst: the latency of app1 is 80 ms, as a write that
the disk has begun and both of its blocks may take three of them, and that of app2 is 110 ms. HTBS
has 64 KB/s for all groups without a reservation (`default_bw`). Beside it, what operators use
today: `io.bfq.weight` in the ratio of the reservations, `io.max` on the neighbour, `io.cost` with a
model of the disk and the same weights; and nothing. `io.latency` is not in Debian's kernels
(`CONFIG_BLK_CGROUP_IOLATENCY` is off), so it is not compared. 30 seconds.
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
