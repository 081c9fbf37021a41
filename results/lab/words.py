"""Sentences about the numbers. A KB is 1024 bytes."""

from results.lab.experiment import GIB, KIB, Experiment, Job, Scheduler
from results.lab.study import Case, Runs, Study

# Requests outstanding when a run ends are missing from its bandwidth.
ENOUGH = 0.98


def fault(job: Job, got: dict, scheduler: Scheduler) -> str:
    """Which of a job's promises was broken; empty if none was.

    A scheduler that has reservations tells which requests conformed, and only those can be late.
    """
    faults = []
    if got["bw"] < ENOUGH * job.reservation.bw:
        faults.append(f"got {got['bw'] / KIB:,.0f} of {job.reservation.bw / KIB:,.0f} KB/s")
    if late := got["missed" if scheduler.reserves else "late"]:
        faults.append(f"had {late:,} late, up to {ms(got['max_us'])}")
    return f"{job.name} {' and '.join(faults)}" if faults else ""


def promised(experiment: Experiment) -> list[Job]:
    """The jobs with a reservation that a drive could keep; unlimited bandwidth is none."""
    return [job for job in experiment.jobs if job.reservation and job.reservation.bw < GIB]


def faults(case: Case, runs: Runs, scheduler: Scheduler) -> list[str]:
    """The promises of a case that a scheduler broke."""
    found = runs[case.name][scheduler.name]
    every = (fault(job, found[job.name], scheduler) for job in promised(case.first))
    return [each for each in every if each]


def keepers(case: Case, runs: Runs) -> list[str]:
    """The titles of the schedulers with which all promises were kept."""
    return [each.title for each in case.first.schedulers if not faults(case, runs, each)]


def promises(study: Study, runs: Runs) -> str:
    """Which schedulers kept the promises of the only case, which broke them, and the throughput."""
    [case] = study.cases
    lines = [f"- Every promise is kept with: {', '.join(keepers(case, runs)) or 'no scheduler'}."]
    broken = [(each.title, faults(case, runs, each)) for each in case.first.schedulers]
    lines += [f"- Not with {title}: {'; '.join(missed)}." for title, missed in broken if missed]
    return "\n".join(
        ["Promises kept and broken, and throughput:", "", *lines, ranking(case, runs)]
    )


def rankings(study: Study, runs: Runs) -> str:
    """The throughput of the schedulers, in each case."""
    lines = (ranking(case, runs) for case in study.cases)
    return "\n".join(["Throughput:", "", *lines])


def ranking(case: Case, runs: Runs) -> str:
    """The schedulers of a case in the order of their throughput."""
    (first, most), *rest = by_total(case, runs)
    shares = ", ".join(f"{title}: {total / most:.0%}" for title, total in rest)
    return f"- {case.title}: {first} moves most, {most / KIB:,.0f} KB/s. Of that, {shares}."


def by_total(case: Case, runs: Runs) -> list[tuple[str, float]]:
    """The titles of the schedulers and their throughput, the largest first."""
    totals = {each.title: runs[case.name][each.name]["total_bw"] for each in case.first.schedulers}
    return sorted(totals.items(), key=lambda item: -item[1])


def ms(us: float) -> str:
    """A latency in milliseconds; so that one just beyond a bound does not read as the bound."""
    return f"{us / 1000:,.{2 if us < 10_000 else 1}f} ms"


def time(us: float) -> str:
    """A time in milliseconds, or in microseconds if it is shorter than one."""
    return ms(us) if us >= 1000 else f"{us:.1f} us"
