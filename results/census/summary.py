"""Reduce raw data to what the page shows of a drive, a workload and a scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from results.lab import guest
from results.lab.experiment import Experiment, Job
from tests.vm.functional import htbs_stat

# A scheduler keeps a set of reservations if each group gets this part of its bandwidth, and at most
# this part of its requests is late. One late request is allowed to each group.
KEPT = 0.95
LATE = 0.01

# HTBS promises that at most this part of a group's conforming requests is late, except beside
# writes on flash, where its default is LATE.
FEW = 0.001
BESIDE_WRITES = ("flash-write",)


def reduced(its: Experiment, found: Mapping[str, Mapping[str, dict]]) -> dict[str, dict]:
    """Return the numbers of an experiment by scheduler; found: raw data by scheduler and job."""
    return {way: _numbers(its, way, found) for way in found}


def _numbers(its: Experiment, way: str, found: Mapping[str, Mapping[str, dict]]) -> dict:
    jobs = found[way]
    promised = [job for job in its.jobs if job.reservation]
    groups = {job.name: _group(jobs[job.name]) for job in promised}
    return {
        "kept": round(min(_kept(its, job, way, found) for job in promised), 4),
        "groups": groups,
        "p99": round(
            max(
                jobs[job.name]["numbers"]["p99_us"] / job.reservation.latency_us
                for job in promised
            ),
            4,
        ),
        "total": sum(each["numbers"]["bw"] for each in jobs.values()),
    }


def _group(job: dict) -> dict[str, int]:
    """Count the requests of a group with a reservation.

    late, of: the late ones and all of the conforming requests, or of all requests if the scheduler
    has no reservations; early_late, early_of: the same early in the run, if that is known; beyond,
    requests: the late ones and all of all requests.
    """
    numbers = job["numbers"]
    every = {"beyond": numbers["late"], "requests": numbers["requests"]}
    if "stat" not in job:
        return {"late": every["beyond"], "of": every["requests"], **every}
    found = {**_counted(job["stat"]), **every}
    if "early" in job:
        found |= {f"early_{name}": value for name, value in _counted(job["early"]).items()}
    return found


def _counted(stat: str) -> dict[str, int]:
    found = htbs_stat(stat)
    return {"late": found["missed"], "of": found["conforming"]}


def _kept(
    its: Experiment, job: Job, way: str, found: Mapping[str, Mapping[str, dict]]
) -> float:
    """Return the bandwidth of a group over its reserved one, or its offered load if that is less.

    What it submitted within the last latency of the run need not have completed. The load of a
    Poisson process is at most what the group got under the best scheduler.
    """
    got = found[way][job.name]["numbers"]["bw"]
    asked = float(job.options.get("rate", job.reservation.bw))
    if "rate_iops" in job.options:
        most = max(jobs[job.name]["numbers"]["bw"] for jobs in found.values())
        asked = min(job.options["rate_iops"] * job.block, most)
    done = 1 - job.reservation.latency_us / 1e6 / (its.seconds - guest.late(its, job))
    return got / (done * min(asked, job.reservation.bw))


def summed(numbers: Mapping, late: str = "late", of: str = "of") -> tuple[int, int]:
    """Return the late requests of all groups together, and of how many."""
    groups = numbers["groups"].values()
    return sum(each.get(late, 0) for each in groups), sum(each.get(of, 0) for each in groups)


def afterwards(numbers: Mapping) -> dict:
    """Return the numbers after the first seconds; zero requests if the run is no longer."""
    groups = {name: _after(each) for name, each in numbers["groups"].items()}
    return {**numbers, "groups": groups}


def _after(group: Mapping) -> dict[str, int]:
    if "early_of" not in group:
        return {"late": 0, "of": 0}
    return {name: group[name] - group[f"early_{name}"] for name in ("late", "of")}


def part_late(numbers: Mapping) -> float:
    """Return the part of late requests of the group for which it is largest."""
    groups = numbers["groups"].values()
    return max(each["late"] / each["of"] if each["of"] else 0 for each in groups)


def in_time(numbers: Mapping, part: float, late: str = "late", of: str = "of") -> bool:
    """Return true if at most this part of each group's requests is late, or one request."""
    return all(each[late] <= max(1, part * each[of]) for each in numbers["groups"].values())


def keeps(numbers: Mapping) -> bool:
    """Return true if the scheduler keeps the set."""
    return numbers["kept"] >= KEPT and in_time(numbers, LATE)


def keeps_all(numbers: Mapping) -> bool:
    """Return true if it would keep the set even if all requests conformed."""
    return numbers["kept"] >= KEPT and in_time(numbers, LATE, "beyond", "requests")


def keeps_its_word(numbers: Mapping, workload: str) -> bool:
    """Return true if HTBS keeps what it promises by default."""
    part = LATE if workload in BESIDE_WRITES else FEW
    return numbers["kept"] >= KEPT and in_time(numbers, part)


def over_best(ways: Mapping[str, Mapping], way: str) -> float | None:
    """Return a scheduler's total over that of the best other one that keeps the set."""
    rivals = [each["total"] for name, each in ways.items() if name != way and keeps(each)]
    return ways[way]["total"] / max(rivals) if rivals else None


@dataclass(frozen=True)
class Column:
    """A column of the tables: a number of a drive's run; `most`: the worst is the largest."""

    title: str
    value: object
    most: bool
    form: str


COLUMNS = (
    Column("bandwidth / reserved", lambda ways, way: ways[way]["kept"], False, "{:.2f}"),
    Column("late", lambda ways, way: part_late(ways[way]), True, "{:.2%}"),
    Column("total / best other", over_best, False, "{:.2f}"),
    Column("p99 / latency", lambda ways, way: ways[way]["p99"], True, "{:.2f}"),
)


def middle_and_worst(
    drives: Mapping[str, Mapping[str, Mapping]], way: str, column: Column
) -> tuple[float, float, str] | None:
    """Return the median, the worst and its drive; None if there is no number."""
    every = {name: column.value(ways, way) for name, ways in drives.items()}
    found = {name: value for name, value in every.items() if value is not None}
    if not found:
        return None
    worst = (max if column.most else min)(found, key=lambda name: found[name])
    return median(found.values()), found[worst], worst
