"""The paper's 5.3, aggregate bandwidth.

Seven applications read in sequence in different places of the disk: alone, with two, and with four
others that read at random, limited to 40 KB/s each by the benchmark. 30 seconds, the mean of three
runs. Each has reserved unlimited bandwidth (the random ones their 40 KB/s) within 100 ms. B_max is
20, of BFQ too. How much do they read in all?
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
    f" with {drives.PAPER_SEGMENTS} segments in the disk's buffer, which its data sheet does not"
    " give; [with others](#53-and-the-disks-buffer) the gain is another"
)

# As good as unlimited, for this drive.
UNLIMITED = Reservation(GIB, GIB, 100_000)
LIMITED = Reservation(40 * KIB, 8 * KIB, 100_000)


def jobs(drive: Drive, randoms: int, seed: int) -> tuple[Job, ...]:
    """The readers; the seed moves the sequential ones, each in its seventh of the disk."""
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
    """Three for a scheduler that the paper compares."""
    return SEEDS if scheduler in schedulers.PAPER else SEEDS[:1]


def cases(name: str, drive: Drive, seconds: int, repeat=seeds) -> tuple[Case, ...]:
    """Ask on a drive."""

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
    """The claims of the paper's figure 6, and others."""
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
        found = f"{PAPER} moves {each} of what {other.title} moves, on average {mean:.0%}"
        return mean >= 0.8, found

    return [
        Claim(
            alone,
            f"seven sequential readers get 25 % more from {PAPER} than from pClock, or better",
            gain(alone) >= 0.25,
            f"{gain(alone):+.0%}{_SEGMENTS if paper else ''}: {all_of(alone)}",
            paper,
            rule=True,
        ),
        Claim(
            two,
            f"{PAPER} and BFQ are ahead of pClock with two random readers besides",
            min(total(two, "htbs-paper"), total(two, "bfq-20")) > total(two, "pclock"),
            all_of(two),
            rule=True,
        ),
        Claim(
            four,
            f"with four random readers the gain of {PAPER} over pClock is smaller than with none",
            gain(four) < gain(alone),
            f"{gain(four):+.0%}: {all_of(four)}",
            rule=True,
        ),
        Claim(
            four,
            f"{PAPER} is close to BFQ with the paper's budget: 80 % of it or more, on average",
            *near(schedulers.BFQ_20),
            paper,
            rule=True,
        ),
        Claim(four, f"{PAPER} is close to BFQ as it is loaded", *near(schedulers.BFQ), rule=True),
        Claim(
            four,
            f"{PAPER} keeps every random reader's latency",
            *in_time(runs, (two, four)),
            rule=True,
        ),
        Claim(four, "HTBS keeps every random reader's latency", *longest(runs, (two, four))),
        Claim(
            four,
            "with HTBS every random reader gets its part of what it reserved, or more",
            *least(runs, {two: 2, four: 4}),
        ),
    ]


def _random(runs: Runs, names: Iterable[str], way: Scheduler) -> list[dict]:
    """The numbers of the random readers."""
    return [
        job
        for name in names
        for key, job in runs[name][way.name].items()
        if key.startswith("rand")
    ]


def in_time(runs: Runs, names: Iterable[str]) -> tuple[bool, str]:
    """Was no request of a random reader late with the paper's rule? And with BFQ?"""
    ways = (schedulers.HTBS_PAPER, schedulers.BFQ_20, schedulers.BFQ)
    found = {each.title: _random(runs, names, each) for each in ways}
    evidence = ", ".join(f"{title}: {table.late_of(jobs)}" for title, jobs in found.items())
    holds = not any(job["late"] for job in found[PAPER])
    return holds, f"requests of random readers that were late: {evidence}"


def longest(runs: Runs, names: Iterable[str]) -> tuple[bool, str]:
    """Was no request of a random reader late with HTBS? And how long did the longest take?"""
    ways = (schedulers.HTBS, schedulers.HTBS_PAPER, schedulers.BFQ, schedulers.MQ_DEADLINE)
    found = {each.title: _random(runs, names, each) for each in ways}
    evidence = ", ".join(
        f"{title}: {table.late_of(jobs)} late, the longest took"
        f" {max(job['max_us'] for job in jobs) / 1000:,.0f} ms"
        for title, jobs in found.items()
    )
    return not any(job["late"] for job in found[schedulers.HTBS.title]), evidence


def study(
    name: str, title: str, asked: str, its_cases: tuple[Case, ...], paper: bool = False
) -> Study:
    """Ask in these cases."""
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
    """Did each random reader get what it reserved over the number of all readers, with HTBS?"""
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
        f"{name}: {got[name]:.1f} KB/s at least, where its part is {part[name]:.1f}"
        for name in names
    )
    return all(got[name] >= part[name] for name in names), evidence


STUDY = study(
    "total",
    "5.3 Bandwidth of all",
    """
The paper's experiment 5.3 and figure 6: seven applications read in sequence in different places of
the disk: alone, and with two and four others that read at random, limited to 40 KB/s by fio. Each
has reserved as much bandwidth as there is (the random ones 40 KB/s), within 100 ms. 30 seconds; the
mean of three runs in different places, one run for a scheduler that the paper does not compare.

No drive can keep these promises: that would take 7 GB/s, and a seek for each of eleven within
100 ms. With four random readers the disk is overloaded, and HTBS gives each group its part of what
all have reserved. There a reservation counts for no more than the whole drive, so that each of
eleven groups gets an eleventh of the time, or at least of the 40 KB/s it reserved, beside 7 GB/s.
But a reservation for more than the drive has takes bandwidth from the others. With `capacity_bw`
set, HTBS refuses such a reservation
([limits](../docs/operating.md#limits)).
""",
    cases("total", drives.PAPER, 30),
    paper=True,
)
