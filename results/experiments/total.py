"""The paper's 5.3, aggregate bandwidth.

Seven applications read in sequence in different places of the disk: alone, with two, and with four
others that read at random, limited to 40 KB/s each by the benchmark. 30 seconds, the mean of three
runs. Each has reserved unlimited bandwidth (the random ones their 40 KB/s) within 100 ms. B_max is
20, of BFQ too. How much do they read in all?
"""

from random import Random

from results.experiments import drives, schedulers
from results.lab import figure, table
from results.lab.experiment import GIB, KIB, Drive, Experiment, Job, Reservation, Scheduler
from results.lab.study import Case, Claim, Runs, Study

SEQUENTIAL = 7
RANDOM = (0, 2, 4)
SEEDS = (1, 2, 3)

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
    rand = [
        Job(f"rand{number + 1}", "randread", 0, size, LIMITED, options={"rate": "40k"})
        for number in range(randoms)
    ]
    return (*sequential, *rand)


def seeds(scheduler: Scheduler) -> tuple[int, ...]:
    """Three for those that the paper compares."""
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


def claims(name: str, runs: Runs) -> list[Claim]:
    """What the paper says of its figure 6."""
    alone, two, four = (f"{name}-{SEQUENTIAL}+{randoms}" for randoms in RANDOM)

    def total(case: str, scheduler: str) -> float:
        return runs[case][scheduler]["total_bw"] / KIB

    def all_of(case: str) -> str:
        return ", ".join(
            f"{each.title} {total(case, each.name):,.0f} KB/s" for each in schedulers.PAPER
        )

    def gain(case: str) -> float:
        return total(case, "htbs") / total(case, "pclock") - 1

    to_bfq = [total(case, "htbs") / total(case, "bfq") for case in (alone, two, four)]
    mean = sum(to_bfq) / len(to_bfq)
    return [
        Claim(
            alone,
            "seven sequential readers get about 25 % more in all from HTBS than from pClock",
            gain(alone) >= 0.2,
            f"{gain(alone):+.0%}: {all_of(alone)}",
        ),
        Claim(
            two,
            "HTBS and BFQ are ahead of pClock with two random readers besides",
            min(total(two, "htbs"), total(two, "bfq")) > total(two, "pclock"),
            all_of(two),
        ),
        Claim(
            four,
            "with four random readers the gain of HTBS over pClock is smaller than with none",
            gain(four) < gain(alone),
            f"{gain(four):+.0%}: {all_of(four)}",
        ),
        Claim(
            four,
            "HTBS is close to BFQ in the mean of the three cases: 80 % of it or more",
            mean >= 0.8,
            "HTBS has "
            + ", ".join(f"{share:.0%}" for share in to_bfq)
            + f", in the mean {mean:.0%}",
        ),
    ]


STUDY = Study(
    name="total",
    title="5.3 Bandwidth of all",
    asked="""
The paper's experiment 5.3 and figure 6: seven applications read in sequence in different places of
the disk, alone, with two and with four that read at random and are limited to 40 KB/s by fio. Each
has reserved as much bandwidth as there is (the random ones 40 KB/s), within 100 ms. 30 seconds; the
mean of three runs in different places, one run for those that the paper does not compare.
""",
    cases=cases("total", drives.PAPER, 30),
    claims=lambda runs: claims("total", runs),
    figure=figure.totals,
    table=table.totals,
)
