"""What came out in plain words, from the numbers alone. A KB is 1024 bytes."""

from results.lab.experiment import GIB, KIB, Experiment, Job, Scheduler
from results.lab.study import Case, Runs, Study

# What may be under way when a run ends is no fault.
ENOUGH = 0.98


def fault(job: Job, got: dict) -> str:
    """What a job missed; nothing if all was kept."""
    faults = []
    if got["bw"] < ENOUGH * job.reservation.bw:
        faults.append(f"got {got['bw'] / KIB:,.0f} of {job.reservation.bw / KIB:,.0f} KB/s")
    if got["late"]:
        faults.append(f"had {got['late']:,} late, up to {ms(got['max_us'])}")
    return f"{job.name} {' and '.join(faults)}" if faults else ""


def promised(experiment: Experiment) -> list[Job]:
    """The jobs with a reservation that a drive could keep: no end of bandwidth is no promise."""
    return [job for job in experiment.jobs if job.reservation and job.reservation.bw < GIB]


def faults(case: Case, runs: Runs, scheduler: Scheduler) -> list[str]:
    """What a scheduler missed of all that was promised in a case."""
    found = runs[case.name][scheduler.name]
    every = (fault(job, found[job.name]) for job in promised(case.first))
    return [each for each in every if each]


def keepers(case: Case, runs: Runs) -> list[str]:
    """Who kept all that was promised."""
    return [each.title for each in case.first.schedulers if not faults(case, runs, each)]


def promises(study: Study, runs: Runs) -> str:
    """Who kept what was reserved, who did not, and who moved most in all; of the only case."""
    [case] = study.cases
    lines = [f"- Every promise is kept by: {', '.join(keepers(case, runs)) or 'none of them'}."]
    broken = [(each.title, faults(case, runs, each)) for each in case.first.schedulers]
    lines += [f"- Not by {title}: {'; '.join(missed)}." for title, missed in broken if missed]
    return "\n".join(
        ["What became of the promises, and who moved most:", "", *lines, ranking(case, runs)]
    )


def rankings(study: Study, runs: Runs) -> str:
    """Who moved most in all, in each case."""
    lines = (ranking(case, runs) for case in study.cases)
    return "\n".join(["Who moved most:", "", *lines])


def ranking(case: Case, runs: Runs) -> str:
    """Order the schedulers of a case by what they moved in all."""
    (first, most), *rest = by_total(case, runs)
    shares = ", ".join(f"{title} {total / most:.0%}" for title, total in rest)
    return f"- {case.title}: {first} moves most, {most / KIB:,.0f} KB/s in all. Of that, {shares}."


def by_total(case: Case, runs: Runs) -> list[tuple[str, float]]:
    """The schedulers' titles and what they moved in all, the most first."""
    totals = {each.title: runs[case.name][each.name]["total_bw"] for each in case.first.schedulers}
    return sorted(totals.items(), key=lambda item: -item[1])


def ms(us: float) -> str:
    """A latency for people."""
    return f"{us / 1000:,.1f} ms"


def time(us: float) -> str:
    """A time in milliseconds, or in microseconds if it is shorter than one."""
    return ms(us) if us >= 1000 else f"{us:.1f} us"
