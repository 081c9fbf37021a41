"""The paper's 5.3, aggregate bandwidth.

Seven applications read sequentially in different places of the disk: alone, with two, and with four
others that read at random, which the benchmark limits to 40 KB/s each. 30 seconds, mean of three
runs. Each has reserved unlimited bandwidth (the random ones their 40 KB/s) within 100 ms. B_max is
20, for BFQ as well. How much do they read in total?
"""

from collections.abc import Iterable, Mapping
from random import Random

from results.experiments import drives, schedulers
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Drive, Experiment, Job, Reservation, Scheduler
from results.lab.study import Case, Claim, Runs, Study

SEQUENTIAL = 7
RANDOM = (0, 2, 4)
SEEDS = (1, 2, 3)
PAPER = schedulers.HTBS_PAPER.title
_SEGMENTS = (
    f", assuming {drives.PAPER_SEGMENTS} segments in the disk's buffer, on which"
    " [the gain depends](#53-and-the-disks-buffer)"
)

# Unlimited for this drive.
UNLIMITED = Reservation(GIB, GIB, 100_000)
LIMITED = Reservation(40 * KIB, 8 * KIB, 100_000)


def jobs(drive: Drive, randoms: int, seed: int) -> tuple[Job, ...]:
    """Return the readers; the seed places each sequential one within its seventh of the disk."""
    part = drive.size // SEQUENTIAL // (4 * KIB) * (4 * KIB)
    places = Random(seed)
    sequential = [
        Job(
            f"seq{number + 1}",
            "read",
            number * part + places.randrange(part // 2 // (4 * KIB)) * 4 * KIB,
            2 * GIB,
            UNLIMITED,
        )
        for number in range(SEQUENTIAL)
    ]
    size = part * SEQUENTIAL
    slow = {"rate": "40k", "norandommap": 1}
    rand = [
        Job(f"rand{number + 1}", "randread", 0, size, LIMITED, options=slow)
        for number in range(randoms)
    ]
    return (*sequential, *rand)


def seeds(scheduler: Scheduler) -> tuple[int, ...]:
    """Return three seeds for a scheduler that the paper compares, one for the others."""
    return SEEDS if scheduler in schedulers.PAPER else SEEDS[:1]


def cases(name: str, drive: Drive, seconds: int, repeat=seeds) -> tuple[Case, ...]:
    """Make the cases for a drive."""

    def case(randoms: int) -> Case:
        def experiment(seed: int) -> Experiment:
            return Experiment(
                f"{name}-{SEQUENTIAL}+{randoms}",
                jobs(drive, randoms, seed),
                schedulers.ALL,
                drive,
                seconds,
                seed,
            )

        return Case(f"{SEQUENTIAL} sequential, {randoms} random", experiment, repeat)

    return tuple(case(randoms) for randoms in RANDOM)


def claims(name: str, runs: Runs, paper: bool) -> list[Claim]:
    """Return the claims of the paper's figure 6, and others."""
    alone, two, four = (f"{name}-{SEQUENTIAL}+{randoms}" for randoms in RANDOM)

    def total(case: str, scheduler: str) -> float:
        return runs[case][scheduler]["total_bw"] / KIB

    def all_of(case: str) -> str:
        return ", ".join(
            f"{each.title}: {total(case, each.name):,.0f} KB/s" for each in schedulers.PAPER
        )

    def gain(case: str) -> float:
        return total(case, "htbs-paper") / total(case, "pclock") - 1

    def near(other: Scheduler) -> tuple[bool, str]:
        shares = [
            total(case, "htbs-paper") / total(case, other.name) for case in (alone, two, four)
        ]
        mean = sum(shares) / len(shares)
        each = ", ".join(f"{share:.0%}" for share in shares)
        found = f"{PAPER} moves {each} as much as {other.title}, on average {mean:.0%}"
        return mean >= 0.8, found

    return [
        Claim(
            alone,
            f"seven sequential readers get at least 25 % more under {PAPER} than under pClock",
            gain(alone) >= 0.25,
            f"{gain(alone):+.0%}{_SEGMENTS if paper else ''}: {all_of(alone)}",
            paper,
            rule=True,
        ),
        Claim(
            two,
            f"with two random readers, {PAPER} and BFQ with the paper's budget beat pClock",
            min(total(two, "htbs-paper"), total(two, "bfq-20")) > total(two, "pclock"),
            all_of(two),
            rule=True,
        ),
        Claim(
            four,
            f"with four random readers, the gain of {PAPER} over pClock is smaller than with none",
            gain(four) < gain(alone),
            f"{gain(four):+.0%}: {all_of(four)}",
            rule=True,
        ),
        Claim(
            four,
            f"{PAPER} moves at least 80 % as much as BFQ with the paper's budget, on average",
            *near(schedulers.BFQ_20),
            paper,
            rule=True,
        ),
        Claim(
            four,
            f"{PAPER} moves at least 80 % as much as BFQ with its default settings, on average",
            *near(schedulers.BFQ),
            rule=True,
        ),
        Claim(
            four,
            f"{PAPER} completes no request of a random reader late",
            *in_time(runs, (two, four)),
            rule=True,
        ),
        Claim(
            four,
            "HTBS completes no request of a random reader late",
            *longest(runs, (two, four)),
        ),
        Claim(
            four,
            "HTBS gives each random reader at least its share of what it has reserved",
            *least(runs, {two: 2, four: 4}),
        ),
    ]


def _random(runs: Runs, names: Iterable[str], way: Scheduler) -> list[dict]:
    """Return the numbers of the random readers."""
    return [
        job
        for name in names
        for key, job in runs[name][way.name].items()
        if key.startswith("rand")
    ]


def in_time(runs: Runs, names: Iterable[str]) -> tuple[bool, str]:
    """Say if no request of a random reader was late under the paper's rule, and how many were."""
    ways = (schedulers.HTBS_PAPER, schedulers.BFQ_20, schedulers.BFQ)
    found = {each.title: _random(runs, names, each) for each in ways}
    evidence = ", ".join(f"{title}: {table.late_of(jobs)}" for title, jobs in found.items())
    holds = not any(job["late"] for job in found[PAPER])
    return holds, f"late requests of random readers: {evidence}"


def longest(runs: Runs, names: Iterable[str]) -> tuple[bool, str]:
    """Say if no request of a random reader was late under HTBS, and give the largest latencies."""
    ways = (schedulers.HTBS, schedulers.HTBS_PAPER, schedulers.BFQ, schedulers.MQ_DEADLINE)
    found = {each.title: _random(runs, names, each) for each in ways}
    evidence = ", ".join(
        f"{title}: {table.late_of(jobs)} late, largest latency"
        f" {max(job['max_us'] for job in jobs) / 1000:,.0f} ms"
        for title, jobs in found.items()
    )
    return not any(job["late"] for job in found[schedulers.HTBS.title]), evidence


def study(
    name: str, title: str, asked: str, its_cases: tuple[Case, ...], paper: bool = False
) -> Study:
    """Make the study with these cases."""
    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=its_cases,
        claims=lambda runs: claims(name, runs, paper),
        figure=figure.totals,
        table=table.totals,
        words=words.rankings,
    )


def least(runs: Runs, names: Mapping[str, int]) -> tuple[bool, str]:
    """Say if each random reader got its reservation over the number of readers, under HTBS."""
    got = {
        name: min(
            job["bw"] / KIB
            for key, job in runs[name][schedulers.HTBS.name].items()
            if key.startswith("rand")
        )
        for name in names
    }
    part = {name: LIMITED.bw / KIB / (SEQUENTIAL + randoms) for name, randoms in names.items()}
    evidence = ", ".join(
        f"{name}: at least {got[name]:.1f} KB/s, where the share is {part[name]:.1f}"
        for name in names
    )
    return all(got[name] >= part[name] for name in names), evidence


STUDY = study(
    "total",
    "5.3 Total bandwidth of many readers",
    """
How much do many readers move in total? This is the paper's experiment 5.3 and figure 6. Seven
applications read sequentially in different places of the disk: alone, with two, and with four
others that read at random, which fio limits to 40 KB/s. Each has reserved unlimited bandwidth (the
random ones 40 KB/s) within 100 ms. Duration: 30 seconds; mean of three runs in different places, or
one run of a scheduler that the paper does not compare.

No drive can keep these reservations: it would have to move 7 GB/s, and to seek for each of eleven
groups within 100 ms. With four random readers the disk is overloaded, and HTBS gives each group the
same part of its reservation. A reservation counts for no more than the whole drive then, so each of
the eleven groups gets an eleventh of the time, or at least an eleventh of the 40 KB/s that it has
reserved. Still, a reservation for more than the drive has takes bandwidth from the others. If
`capacity_bw` is set, HTBS refuses such a reservation ([limits](../docs/operating.md#limits)).
""",
    cases("total", drives.PAPER, 30),
    paper=True,
)
