"""Sentences about the numbers. A KB is 1024 bytes."""

from results.lab.experiment import GIB, KIB, Experiment, Job, Scheduler
from results.lab.study import Case, Runs, Study

# Requests outstanding when a run ends are missing from its bandwidth.
ENOUGH = 0.98


def asked(case: Case, runs: Runs, job: Job) -> float:
    """What a job asked for, bytes/s; without a rate as much as it reserved.

    One that asks at random times asked for no more than the best scheduler gave it.
    """
    if "rate_iops" in job.options:
        rate = job.options["rate_iops"] * job.block
        if "rate_process" in job.options:
            rate = min(rate, max(run[job.name]["bw"] for run in runs[case.name].values()))
        return rate
    rate = str(job.options.get("rate", job.reservation.bw))
    return KIB * int(rate[:-1]) if rate.endswith("k") else int(rate)


def fault(case: Case, runs: Runs, job: Job, scheduler: Scheduler) -> str:
    """Which of a job's promises was broken; empty if none was."""
    got = runs[case.name][scheduler.name][job.name]
    every = (_slow(case, got, job, asked(case, runs, job)), _late(got, job, scheduler))
    faults = " and ".join(each for each in every if each)
    return f"{job.name} {faults}" if faults else ""


def _slow(case: Case, got: dict, job: Job, wanted: float) -> str:
    """Did it get less than it wanted, of what it reserved?

    What it asked for within its last latency need not be done yet.
    """
    owed = min(wanted, job.reservation.bw)
    done = 1 - job.reservation.latency_us / 1e6 / case.first.seconds_of(job)
    if job.all_it_can or got["bw"] >= ENOUGH * done * owed:
        return ""
    found = f"got {got['bw'] / KIB:,.0f} of"
    if owed < job.reservation.bw:
        return f"{found} the {owed / KIB:,.0f} KB/s that it asked for"
    return f"{found} {owed / KIB:,.0f} KB/s"


def _late(got: dict, job: Job, scheduler: Scheduler) -> str:
    """Were requests late? A scheduler with reservations tells which ones conformed."""
    late, of, longest = got["late"], got.get("requests"), got["max_us"]
    if scheduler.reserves:
        late, of = got["missed"], got["conforming"]
        longest = job.reservation.latency_us + got["late_max_us"]
    of_all = f" of {of:,}" if of else ""
    conforming = " conforming" if scheduler.reserves else ""
    return f"had {late:,}{of_all}{conforming} late, up to {ms(longest)}" if late else ""


def promised(experiment: Experiment) -> list[Job]:
    """The jobs with a reservation that a drive could keep; unlimited bandwidth is none."""
    return [job for job in experiment.jobs if job.reservation and job.reservation.bw < GIB]


def faults(case: Case, runs: Runs, scheduler: Scheduler) -> list[str]:
    """The promises of a case that a scheduler broke."""
    every = (fault(case, runs, job, scheduler) for job in promised(case.first))
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
