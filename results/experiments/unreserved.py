"""What groups get that have reserved nothing: HTBS as it is loaded, and nothing else set."""

from results.experiments import drives, schedulers
from results.lab import figure, table, words
from results.lab.experiment import KIB, Drive, Experiment, Job
from results.lab.study import Case, Claim, Runs, Study

WAYS = (
    schedulers.HTBS,
    schedulers.BFQ,
    schedulers.MQ_DEADLINE,
    schedulers.KYBER,
    schedulers.NONE,
)
# The names of the jobs.
ONE, BACKUP, WRITER = "one", "backup", "writer"


def jobs(drive: Drive) -> tuple[Job, ...]:
    """A reader with one request at a time, a backup, and a writer with many requests."""
    size = drive.size // (512 * KIB) * 512 * KIB
    one = {"ioengine": "psync", "norandommap": 1}
    deep = {"ioengine": "libaio", "iodepth": 32, "norandommap": 1}
    return (
        Job(ONE, "randread", 0, size, None, options=one),
        Job(BACKUP, "read", size // 4, size // 4, None, 128 * KIB, {"ioengine": "psync"}),
        Job(WRITER, "randwrite", 0, size, None, options=deep),
    )


def study(name: str, title: str, asked: str, drive: Drive) -> Study:
    """Ask on a drive."""

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
        bars=True,
    )


def claims(case: Case, runs: Runs) -> list[Claim]:
    """Does each group get on, without a long wait, and is the drive's time used?"""
    found = runs[case.name]
    htbs, bfq = (found[way.name] for way in (schedulers.HTBS, schedulers.BFQ))
    bw = [each[ONE]["bw"] / KIB for each in (htbs, bfq)]
    wait = [max(each[job.name]["max_us"] for job in case.first.jobs) for each in (htbs, bfq)]
    total = [each["total_bw"] / KIB for each in (htbs, bfq)]
    return [
        Claim(
            case.name,
            "the reader with one request at a time has at least half of what BFQ gives it",
            bw[0] >= bw[1] / 2,
            f"{bw[0]:,.0f} KB/s, with BFQ {bw[1]:,.0f}",
        ),
        Claim(
            case.name,
            "no request takes longer than with BFQ",
            wait[0] <= wait[1],
            f"{words.ms(wait[0])}, with BFQ {words.ms(wait[1])}",
        ),
        Claim(
            case.name,
            "more is moved than with BFQ",
            total[0] > total[1],
            f"{total[0]:,.0f} KB/s, with BFQ {total[1]:,.0f}",
        ),
    ]


ASKED = """
No group has a reservation, as in the first minute after `echo htbs`: one reads 4k blocks at random,
one request at a time; a backup reads 128k in sequence; the third writes 4k blocks at random all
over the disk, 32 at a time. Each is to have its part of the device's time. 30 seconds.
"""

STUDIES = (
    study("unreserved", "Nothing reserved", ASKED, drives.PAPER),
    study(
        "nearline-unreserved",
        "Nothing reserved, on a nearline disk",
        "The same on the nearline disk, which takes 32 requests. 30 seconds.",
        drives.NEARLINE,
    ),
)
