"""The schedulers of the studies of the guarantee, and the claims that they share."""

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
    """Return the bandwidth of all jobs, or of some of them, in bytes/s."""
    found = runs[case.name][way.name]
    return sum(found[job.name]["bw"] for job in jobs) if jobs else found["total_bw"]


def conforming(runs: Runs, case: Case, way: Scheduler) -> tuple[int, int]:
    """Return how many requests conform, and how many of these were late."""
    jobs = [runs[case.name][way.name][job.name] for job in case.first.jobs if job.reservation]
    return sum(job["conforming"] for job in jobs), sum(job["missed"] for job in jobs)


def none_late(case: Case, runs: Runs, way: Scheduler = HTBS) -> Claim:
    """Claim that no conforming request is late."""
    all_of_them, late = conforming(runs, case, way)
    claim = f"{way.title} completes no conforming request late"
    return Claim(case.name, claim, late == 0, f"{late:,} of {all_of_them:,} were late")


def moves(  # noqa: PLR0913, PLR0917
    case: Case,
    runs: Runs,
    share: float,
    other: Scheduler,
    way: Scheduler = HTBS,
    jobs: Iterable[Job] = (),
    part: str = "in total",
) -> Claim:
    """Claim that a scheduler moves at least a share of what another one does."""
    own, others = (total(runs, case, each, jobs) for each in (way, other))
    factor = f"{share:g} times as much" if share != 1 else "as much"
    return Claim(
        case.name,
        f"{way.title} moves at least {factor} {part} as {_peer(other)}",
        own >= share * others,
        f"{own / others:.2f} times: {own / KIB:,.0f} KB/s, {other.title} {others / KIB:,.0f} KB/s",
    )


def _peer(other: Scheduler) -> str:
    """Return the title of a scheduler that HTBS is compared with."""
    return "no scheduler" if other is schedulers.NONE else other.title


def latencies(case: Case, runs: Runs, job: Job, key: str) -> Mapping[str, str]:
    """Return a latency of a job under each scheduler."""
    return {
        each.title: ms(runs[case.name][each.name][job.name][key]) for each in case.first.schedulers
    }


def named(every: Iterable[Scheduler] = PEERS) -> str:
    """Return the titles as an enumeration."""
    *first, last = (each.title for each in every)
    return f"{', '.join(first)} and {last}"


def best(case: Case, runs: Runs, job: Job, key: str) -> Scheduler:
    """Return the peer under which a number of a job is smallest."""
    return min(PEERS, key=lambda each: runs[case.name][each.name][job.name][key])


def beside(found: Mapping[str, str]) -> str:
    """Return numbers by title as evidence."""
    return ", ".join(f"{title}: {text}" for title, text in found.items())
