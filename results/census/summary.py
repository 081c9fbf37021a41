"""From raw data to what the page shows of a drive, a workload and a scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from results.lab import guest
from results.lab.experiment import Experiment, Job
from tests.vm.functional import htbs_stat

# A scheduler keeps what is promised if it gives each group so much of its bandwidth, and of none
# more than so many of the requests are late; one late request is no more than any group may have.
KEPT = 0.95
LATE = 0.01

# What HTBS promises: no more are late of a group's conforming requests, but beside writes on flash,
# where its default promises LATE.
FEW = 0.001
BESIDE_WRITES = ("flash-write",)


def reduced(its: Experiment, found: Mapping[str, Mapping[str, dict]]) -> dict[str, dict]:
    """The numbers of an experiment by scheduler; found: of raw data, by scheduler and job."""
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
    """Requests of a group with a reservation.

    late, of: conforming requests, all where the scheduler has no reservations; early_late,
    early_of: the same early in the run, if that is known; beyond, requests: all requests, and those
    that took longer than the latency.
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
    """The part of its bandwidth, or of what it asked for, that a group got.

    What it asked for within its last latency need not be done yet. A group that asks at random
    times asked for as much as the best scheduler gave it.
    """
    got = found[way][job.name]["numbers"]["bw"]
    asked = float(job.options.get("rate", job.reservation.bw))
    if "rate_iops" in job.options:
        most = max(jobs[job.name]["numbers"]["bw"] for jobs in found.values())
        asked = min(job.options["rate_iops"] * job.block, most)
    done = 1 - job.reservation.latency_us / 1e6 / (its.seconds - guest.late(its, job))
    return got / (done * min(asked, job.reservation.bw))


def summed(numbers: Mapping, late: str = "late", of: str = "of") -> tuple[int, int]:
    """Late requests of all groups together, and of how many."""
    groups = numbers["groups"].values()
    return sum(each.get(late, 0) for each in groups), sum(each.get(of, 0) for each in groups)


def afterwards(numbers: Mapping) -> dict:
    """The same after the first seconds; no requests of a run that is no longer."""
    groups = {name: _after(each) for name, each in numbers["groups"].items()}
    return {**numbers, "groups": groups}


def _after(group: Mapping) -> dict[str, int]:
    if "early_of" not in group:
        return {"late": 0, "of": 0}
    return {name: group[name] - group[f"early_{name}"] for name in ("late", "of")}


def part_late(numbers: Mapping) -> float:
    """Late requests per conforming one, of the group for which that is largest."""
    groups = numbers["groups"].values()
    return max(each["late"] / each["of"] if each["of"] else 0 for each in groups)


def in_time(numbers: Mapping, part: float, late: str = "late", of: str = "of") -> bool:
    """Are no more than such a part of each group's requests late, or one?"""
    return all(each[late] <= max(1, part * each[of]) for each in numbers["groups"].values())


def keeps(numbers: Mapping) -> bool:
    """Does it keep what was promised?"""
    return numbers["kept"] >= KEPT and in_time(numbers, LATE)


def keeps_all(numbers: Mapping) -> bool:
    """Would it keep that of all requests, also of those beyond the reservation?"""
    return numbers["kept"] >= KEPT and in_time(numbers, LATE, "beyond", "requests")


def keeps_its_word(numbers: Mapping, workload: str) -> bool:
    """Does HTBS keep what it promises by default?"""
    part = LATE if workload in BESIDE_WRITES else FEW
    return numbers["kept"] >= KEPT and in_time(numbers, part)


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
