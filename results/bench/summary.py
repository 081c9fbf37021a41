"""Reduce the raw data of the benchmark to numbers by name."""

from results.bench import memory, scaling, snapshot
from results.bench.cases import BASE, SCHEDULERS


def summarise(raw: dict[str, dict], rounds: list[dict]) -> dict:
    """Reduce the raw data: of the virtual clock by scheduler, and of scaling by round.

    none_ns: the CPU time of an I/O without a scheduler, by case; added_ns: what a scheduler adds to
    it; idle: the part of the time in which the scheduler left CPU and disk idle, by case, if it
    did; scaling_2cpu: the IOPS of two CPUs over those of one; iops_2cpu_of_none: the IOPS of two
    CPUs over those under none; memory_per_cgroup: bytes that a scheduler allocates per cgroup and
    disk, by name, while the cgroup is idle and after an I/O. Under htbs the cgroup has a
    reservation.
    """
    costs = {
        scheduler: {case: snapshot.cost(passed) for case, passed in each["cases"].items()}
        for scheduler, each in raw.items()
    }
    none = costs[BASE]
    schedulers = {}
    for name in SCHEDULERS:
        added = {case: round(cost - none[case], 1) for case, cost in costs[name].items()}
        schedulers[name] = {
            "added_ns": added,
            "idle": _idle(raw[name]["cases"]),
            "scaling_2cpu": round(scaling.scaling(rounds, name), 2),
            "iops_2cpu_of_none": round(scaling.of_none(rounds, name), 2),
        }
    held = {
        name: {when: memory.per_cgroup(each["slabs"][when]) for when in memory.WHEN}
        for name, each in raw.items()
        if "slabs" in each
    }
    return {
        "none_ns": {case: round(cost, 1) for case, cost in none.items()},
        "schedulers": schedulers,
        "memory_per_cgroup": held,
    }


def _idle(cases: dict[str, dict]) -> dict[str, float]:
    shares = {case: round(snapshot.idle(passed), 2) for case, passed in cases.items()}
    return {case: share for case, share in shares.items() if share}
