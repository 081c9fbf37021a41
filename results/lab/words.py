"""Put the numbers into sentences. A KB is 1024 bytes."""

from results.lab.experiment import GIB, KIB, Experiment, Job, Scheduler
from results.lab.study import Case, Runs, Study

# Requests in flight when a run ends are missing from its bandwidth.
ENOUGH = 0.98


def asked(case: Case, runs: Runs, job: Job) -> float:
    """Return the offered load of a job in bytes/s, or what it has reserved if it has no rate.

    The load of a Poisson process is random. It is at most what the job got under the best
    scheduler.
    """
    if "rate_iops" in job.options:
        rate = job.options["rate_iops"] * job.block
        if "rate_process" in job.options:
            rate = min(rate, max(run[job.name]["bw"] for run in runs[case.name].values()))
        return rate
    rate = str(job.options.get("rate", job.reservation.bw))
    return KIB * int(rate[:-1]) if rate.endswith("k") else int(rate)


def fault(case: Case, runs: Runs, job: Job, scheduler: Scheduler) -> str:
    """Say how a job's reservation was broken; empty if it was kept."""
    got = runs[case.name][scheduler.name][job.name]
    every = (_slow(case, got, job, asked(case, runs, job)), _late(got, job, scheduler))
    faults = " and ".join(each for each in every if each)
    return f"{job.name} {faults}" if faults else ""


def _slow(case: Case, got: dict, job: Job, wanted: float) -> str:
    """Say if the job got less than its reservation and its offered load.

    What it submitted within the last latency of the run need not have completed.
    """
    owed = min(wanted, job.reservation.bw)
    done = 1 - job.reservation.latency_us / 1e6 / case.first.seconds_of(job)
    if job.all_it_can or got["bw"] >= ENOUGH * done * owed:
        return ""
    found = f"got {got['bw'] / KIB:,.0f} of"
    if owed < job.reservation.bw:
        return f"{found} {owed / KIB:,.0f} KB/s offered"
    return f"{found} {owed / KIB:,.0f} KB/s"


def _late(got: dict, job: Job, scheduler: Scheduler) -> str:
    """Say how many requests were late: conforming ones, if the scheduler has reservations."""
    late, of, longest = got["late"], got.get("requests"), got["max_us"]
    if scheduler.reserves:
        late, of = got["missed"], got["conforming"]
        longest = job.reservation.latency_us + got["late_max_us"]
    of_all = f" of {of:,}" if of else ""
    conforming = " conforming" if scheduler.reserves else ""
    found = f"had {late:,}{of_all}{conforming} requests late, taking up to {ms(longest)}"
    return found if late else ""


def promised(experiment: Experiment) -> list[Job]:
    """Return the jobs with a reservation, except those for unlimited bandwidth."""
    return [job for job in experiment.jobs if job.reservation and job.reservation.bw < GIB]


def faults(case: Case, runs: Runs, scheduler: Scheduler) -> list[str]:
    """Return the reservations of a case that a scheduler broke, with how it broke them."""
    every = (fault(case, runs, job, scheduler) for job in promised(case.first))
    return [each for each in every if each]


def keepers(case: Case, runs: Runs) -> list[str]:
    """Return the titles of the schedulers that kept all reservations."""
    return [each.title for each in case.first.schedulers if not faults(case, runs, each)]


def promises(study: Study, runs: Runs) -> str:
    """Say which schedulers kept the reservations of the only case, and compare their throughput.

    The table of jobs has the numbers of schedulers without reservations.
    """
    [case] = study.cases
    kept = ", ".join(keepers(case, runs))
    lines = [f"- All reservations are kept under {kept or 'no scheduler'}."]
    broken = [(way, faults(case, runs, way)) for way in case.first.schedulers]
    lines += [
        f"- Not under {way.title}: {'; '.join(missed)}."
        for way, missed in broken
        if missed and way.reserves
    ]
    others = ", ".join(way.title for way, missed in broken if missed and not way.reserves)
    lines += [f"- Nor under {others}, as the table shows."] if others else []
    total = ranking(case, runs, "Total throughput")
    return "\n".join(["Reservations and throughput:", "", *lines, total])


def rankings(study: Study, runs: Runs) -> str:
    """Compare the throughput of the schedulers, in each case."""
    if len(study.cases) == 1:
        return ranking(study.cases[0], runs, "Total throughput")
    lines = (ranking(case, runs) for case in study.cases)
    return "\n".join(["Total throughput:", "", *lines])


def ranking(case: Case, runs: Runs, title: str = "") -> str:
    """List the schedulers of a case in the order of their throughput."""
    (first, most), *rest = by_total(case, runs)
    percents = _grouped({title: f"{total / most:.0%}" for title, total in rest})
    shares = "; ".join(f"{titles}: {percent}" for titles, percent in percents)
    highest = f"highest under {first}, {most / KIB:,.0f} KB/s"
    return f"- {title or case.title}: {highest}. Relative to it, {shares}."


def _grouped(texts: dict[str, str]) -> list[tuple[str, str]]:
    """Join the titles that have the same text, in the order of the first of them."""
    titles: dict[str, list[str]] = {}
    for title, text in texts.items():
        titles.setdefault(text, []).append(title)
    return [(", ".join(names), text) for text, names in titles.items()]


def by_total(case: Case, runs: Runs) -> list[tuple[str, float]]:
    """Return the titles of the schedulers with their throughput, the highest first."""
    totals = {each.title: runs[case.name][each.name]["total_bw"] for each in case.first.schedulers}
    return sorted(totals.items(), key=lambda item: -item[1])


def ms(us: float) -> str:
    """Format a latency in ms, with enough digits to tell a late one from its bound."""
    return f"{us / 1000:,.{2 if us < 10_000 else 1}f} ms"


def time(us: float) -> str:
    """Format a time in ms, or in us if it is below 1 ms."""
    return ms(us) if us >= 1000 else f"{us:.1f} us"
