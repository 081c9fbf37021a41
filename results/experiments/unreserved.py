"""What groups without a reservation get, under HTBS with its default settings."""

from collections.abc import Callable

from results.experiments import drives, schedulers
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import KIB, Drive, Experiment, Job
from results.lab.study import Case, Claim, Runs, Study

PEERS = ways.PEERS
WAYS = (schedulers.HTBS, *PEERS)
# The names of the jobs.
ONE, BACKUP, WRITER = "one", "backup", "writer"


def jobs(drive: Drive) -> tuple[Job, ...]:
    """Return a reader with one request in flight, a backup, and a writer with many requests."""
    size = drive.size // (512 * KIB) * 512 * KIB
    one = {"ioengine": "psync", "norandommap": 1}
    deep = {"ioengine": "libaio", "iodepth": 32, "norandommap": 1}
    return (
        Job(ONE, "randread", 0, size, None, options=one),
        Job(BACKUP, "read", size // 4, size // 4, None, 128 * KIB, {"ioengine": "psync"}),
        Job(WRITER, "randwrite", 0, size, None, options=deep),
    )


def study(name: str, title: str, asked: str, drive: Drive) -> Study:
    """Make the study for a drive."""

    def experiment(seed: int) -> Experiment:
        return Experiment(name, jobs(drive), WAYS, drive, 30, seed)

    case = Case(drive.title, experiment)
    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(case,),
        claims=lambda runs: claims(case, runs),
        figure=figure.promises,
        table=table.per_job,
        words=words.rankings,
    )


def claims(case: Case, runs: Runs) -> list[Claim]:
    """Claim that no group starves or waits for long, and that throughput is high."""
    found = runs[case.name]
    one = {each.name: found[each.name][ONE]["bw"] / KIB for each in WAYS}
    total = {each.name: found[each.name]["total_bw"] / KIB for each in WAYS}
    wait = {
        each.name: max(found[each.name][job.name]["max_us"] for job in case.first.jobs)
        for each in WAYS
    }
    own, bfq = schedulers.HTBS.name, schedulers.BFQ.name
    shortest = min(PEERS, key=lambda each: wait[each.name])

    def beside(numbers: dict[str, float], form: Callable[[float], str]) -> str:
        return ways.beside({each.title: form(numbers[each.name]) for each in WAYS})

    return [
        Claim(
            case.name,
            "HTBS gives the reader with one request in flight at least half of what it gets under"
            f" the best of {ways.named(PEERS)}",
            one[own] >= max(one[each.name] for each in PEERS) / 2,
            beside(one, _kbps),
        ),
        Claim(
            case.name,
            "under HTBS no request takes longer than the longest under BFQ",
            wait[own] <= wait[bfq],
            f"HTBS: {words.ms(wait[own])}, BFQ: {words.ms(wait[bfq])}",
        ),
        Claim(
            case.name,
            f"under HTBS no request takes longer than under the best of {ways.named(PEERS)}",
            wait[own] <= wait[shortest.name],
            f"the best is {shortest.title}; {beside(wait, words.ms)}",
        ),
        Claim(
            case.name,
            f"HTBS moves more in total than any of {ways.named(PEERS)}",
            total[own] > max(total[each.name] for each in PEERS),
            beside(total, _kbps),
        ),
    ]


def _kbps(number: float) -> str:
    return f"{number:,.0f} KB/s"


ASKED = """
What do groups get if none has a reservation, as right after `echo htbs`? The group *one* reads 4k
blocks at random with one request in flight. The backup reads 128k blocks sequentially. The writer
writes 4k blocks at random to the whole disk with 32 requests in flight. Each should get its share
of the device's time. Duration: 30 seconds.
"""

STUDIES = (
    study("unreserved", "Nothing reserved", ASKED, drives.PAPER),
    study(
        "nearline-unreserved",
        "Nothing reserved, on a nearline disk",
        "The same question on the nearline disk. Duration: 30 seconds.",
        drives.NEARLINE,
    ),
)
