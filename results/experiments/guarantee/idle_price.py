"""What HTBS costs a group that is alone on a drive, for each drive."""

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Drive, Experiment, Job, Scheduler
from results.lab.study import Case, Claim, Runs, Study

_SHARE = 0.98


def _case(name: str, drive: Drive, job: Job, seconds: int, every: tuple[Scheduler, ...]) -> Case:
    def experiment(seed: int) -> Experiment:
        return Experiment(name, (job,), every, drive, seconds, seed)

    return Case(f"{drive.title}, {job.name}", experiment)


def _reads_on(block: int) -> Job:
    return Job("read", "read", 0, 4 * GIB, None, block, {"ioengine": "libaio", "iodepth": 8})


def _at_random(size: int, block: int) -> Job:
    options = {
        "ioengine": "libaio",
        "iodepth": 32,
        "iodepth_batch_submit": 8,
        "iodepth_batch_complete_max": 8,
        "norandommap": 1,
    }
    return Job("randread", "randread", 0, size, None, block, options)


def _cases(
    name: str, drive: Drive, every: tuple[Scheduler, ...], seconds: tuple[int, int]
) -> tuple[Case, ...]:
    on, random = _reads_on(128 * KIB), _at_random(drive.size // (4 * KIB) * (4 * KIB), 4 * KIB)
    return (
        _case(f"idle-price-{name}-read", drive, on, seconds[0], every),
        _case(f"idle-price-{name}-randread", drive, random, seconds[1], every),
    )


CASES = (
    *_cases("disk", drives.PAPER, ways.ALL, (5, 15)),
    *_cases("nearline", drives.NEARLINE, ways.ALL, (3, 15)),
    *_cases("flash", drives.FLASH, ways.ALL, (1, 1)),
)


def claims(runs: Runs) -> list[Claim]:
    """Claim that HTBS moves nearly as much as no scheduler."""
    return [
        ways.moves(case, runs, _SHARE, schedulers.NONE, part=f"({case.title})") for case in CASES
    ]


def price_of_cpu(study: Study, runs: Runs) -> str:
    """Compare the throughput and, on flash, the CPU time of the schedulers."""
    case = study.cases[-1]
    [job] = case.first.jobs
    every = {
        each.title: 1_000_000_000 * job.block / runs[case.name][each.name][job.name]["bw"]
        for each in case.first.schedulers
    }
    none = every.pop(schedulers.NONE.title)
    others = {title: f"{ns - none:,.0f} ns" for title, ns in every.items()}
    return f"""\
{words.rankings(study, runs)}

On flash, under {schedulers.NONE.title}, a random read completes every {none / 1000:.1f} us. The
other schedulers add to that: {ways.beside(others)}. The claim ({_SHARE:.0%}) allows
{none / _SHARE - none:,.0f} ns."""


STUDY = Study(
    name="idle-price",
    title="One group alone",
    asked="""
Does HTBS cost throughput if nothing has to be scheduled? One group without a reservation is alone
on the drive. It reads 128k blocks sequentially with 8 in flight, or 4k blocks at random with 32 in
flight. Duration: 5 seconds on the paper's disk, 3 on the nearline disk, one on flash. The random
reads of a disk run for 15 seconds, because the throughput of a few hundred reads varies by more
than 2 %.
""",
    cases=CASES,
    claims=claims,
    figure=figure.totals,
    table=table.totals,
    words=price_of_cpu,
)
