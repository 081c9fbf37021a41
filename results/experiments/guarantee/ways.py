"""The schedulers of the experiments of the guarantee, and the claims that they share."""

from collections.abc import Iterable, Mapping

from results.experiments import schedulers
from results.lab.experiment import KIB, Job, Scheduler
from results.lab.study import Case, Claim, Runs
from results.lab.words import ms

HTBS = schedulers.HTBS
PAPER = schedulers.HTBS_PAPER
PEERS = (schedulers.BFQ, schedulers.MQ_DEADLINE, schedulers.KYBER, schedulers.NONE)
ALL = (HTBS, PAPER, *PEERS)


def total(runs: Runs, case: Case, way: Scheduler, jobs: Iterable[Job] = ()) -> float:
    """The bandwidth of all jobs, or of some, bytes/s."""
    found = runs[case.name][way.name]
    return sum(found[job.name]["bw"] for job in jobs) if jobs else found["total_bw"]


def conforming(runs: Runs, case: Case, way: Scheduler) -> tuple[int, int]:
    """How many requests conformed, and how many of these were late."""
    jobs = [runs[case.name][way.name][job.name] for job in case.first.jobs if job.reservation]
    return sum(job["conforming"] for job in jobs), sum(job["missed"] for job in jobs)


def none_late(case: Case, runs: Runs, way: Scheduler = HTBS) -> Claim:
    """No conforming request is late."""
    all_of_them, late = conforming(runs, case, way)
    claim = f"{way.title} completes no conforming request late"
    return Claim(case.name, claim, late == 0, f"{late:,} of {all_of_them:,} conforming were late")


def moves(  # noqa: PLR0913, PLR0917
    case: Case,
    runs: Runs,
    share: float,
    other: Scheduler,
    way: Scheduler = HTBS,
    jobs: Iterable[Job] = (),
    part: str = "in all",
) -> Claim:
    """A scheduler moves a share or more of what another does, in all or for some jobs."""
    own, others = (total(runs, case, each, jobs) for each in (way, other))
    factor = f"{share:g} times what" if share != 1 else "what"
    return Claim(
        case.name,
        f"{way.title} moves {factor} {other.title} moves, or more, {part}",
        own >= share * others,
        f"{own / others:.2f} times: {own / KIB:,.0f} and {others / KIB:,.0f} KB/s",
    )


def latencies(case: Case, runs: Runs, job: Job, key: str) -> Mapping[str, str]:
    """A job's latency under each scheduler."""
    return {
        each.title: ms(runs[case.name][each.name][job.name][key]) for each in case.first.schedulers
    }


def named(every: Iterable[Scheduler] = PEERS) -> str:
    """Their titles."""
    *first, last = (each.title for each in every)
    return f"{', '.join(first)} and {last}"


def best(case: Case, runs: Runs, job: Job, key: str) -> Scheduler:
    """The peer with which a number of a job is least."""
    return min(PEERS, key=lambda each: runs[case.name][each.name][job.name][key])


def beside(found: Mapping[str, str]) -> str:
    """As evidence."""
    return ", ".join(f"{title}: {text}" for title, text in found.items())
