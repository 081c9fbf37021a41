"""From raw data to what the page shows of a drive, a workload and a scheduler."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from results.lab.experiment import Experiment, Job
from tests.vm.functional import htbs_stat

# A scheduler keeps what is promised if it gives each group so much of its bandwidth, and not more
# than so many of the requests are late.
KEPT = 0.95
LATE = 0.01

# Where a larger part of the conforming requests is late with HTBS, the page says so.
FEW = 0.001


def reduced(its: Experiment, found: Mapping[str, Mapping[str, dict]]) -> dict[str, dict]:
    """The numbers of an experiment by scheduler; found: of raw data, by scheduler and job."""
    return {way: _numbers(its, way, found) for way in found}


def _numbers(its: Experiment, way: str, found: Mapping[str, Mapping[str, dict]]) -> dict:
    jobs = found[way]
    promised = [job for job in its.jobs if job.reservation]
    late, of = _late(jobs[job.name] for job in promised)
    early = _early(jobs[job.name] for job in promised)
    return {
        "kept": round(min(_kept(its, job, way, found) for job in promised), 4),
        "late": late,
        "of": of,
        "p99": round(
            max(
                jobs[job.name]["numbers"]["p99_us"] / job.reservation.latency_us
                for job in promised
            ),
            4,
        ),
        "total": sum(each["numbers"]["bw"] for each in jobs.values()),
        **({"early_late": early[0], "early_of": early[1]} if early else {}),
    }


def _kept(
    its: Experiment, job: Job, way: str, found: Mapping[str, Mapping[str, dict]]
) -> float:
    """The part of its bandwidth, or of what it asked for, that a group got.

    What it asked for within its last latency need not be done yet. A group that asks at random
    times asked for as much as the best scheduler gave it.
    """
    got = found[way][job.name]["numbers"]["bw"]
    asked = float(job.options.get("rate", job.reservation.bw))
    if "rate_iops" in job.options:
        most = max(jobs[job.name]["numbers"]["bw"] for jobs in found.values())
        asked = min(job.options["rate_iops"] * job.block, most)
    done = 1 - job.reservation.latency_us / 1e6 / its.seconds
    return got / (done * min(asked, job.reservation.bw))


def _late(jobs: Iterable[dict]) -> tuple[int, int]:
    """Late of conforming requests; without reservations all are taken to conform."""
    late = of = 0
    for job in jobs:
        if "stat" in job:
            stat = htbs_stat(job["stat"])
            late, of = late + stat["missed"], of + stat["conforming"]
        else:
            late, of = late + job["numbers"]["late"], of + job["numbers"]["requests"]
    return late, of


def _early(jobs: Iterable[dict]) -> tuple[int, int] | None:
    """The same early in the run, if that is known."""
    stats = [htbs_stat(job["early"]) for job in jobs if "early" in job]
    if not stats:
        return None
    return sum(each["missed"] for each in stats), sum(each["conforming"] for each in stats)


def afterwards(numbers: Mapping) -> tuple[int, int]:
    """Late and conforming requests after the first seconds; none of a run that is no longer."""
    if "early_of" not in numbers:
        return 0, 0
    return numbers["late"] - numbers["early_late"], numbers["of"] - numbers["early_of"]


def part_late(numbers: Mapping) -> float:
    """Late requests per conforming one."""
    return numbers["late"] / numbers["of"] if numbers["of"] else 0


def keeps(numbers: Mapping) -> bool:
    """Does it keep what was promised?"""
    return numbers["kept"] >= KEPT and part_late(numbers) <= LATE


def over_best(ways: Mapping[str, Mapping], way: str) -> float | None:
    """A scheduler's total over that of the best other one that keeps what was promised."""
    rivals = [each["total"] for name, each in ways.items() if name != way and keeps(each)]
    return ways[way]["total"] / max(rivals) if rivals else None


@dataclass(frozen=True)
class Column:
    """What a table shows: a number of a drive's run; `most`: the worst is the largest."""

    title: str
    value: object
    most: bool
    form: str


COLUMNS = (
    Column("bandwidth kept", lambda ways, way: ways[way]["kept"], False, "{:.2f}"),
    Column("late per conforming", lambda ways, way: part_late(ways[way]), True, "{:.2%}"),
    Column("total over the best that keeps", over_best, False, "{:.2f}"),
    Column("p99 over the latency", lambda ways, way: ways[way]["p99"], True, "{:.2f}"),
)


def middle_and_worst(
    drives: Mapping[str, Mapping[str, Mapping]], way: str, column: Column
) -> tuple[float, float, str] | None:
    """The median over the drives, the worst of them and its name; None if there is no number."""
    every = {name: column.value(ways, way) for name, ways in drives.items()}
    found = {name: value for name, value in every.items() if value is not None}
    if not found:
        return None
    worst = (max if column.most else min)(found, key=lambda name: found[name])
    return median(found.values()), found[worst], worst
