"""From raw results to the numbers of summary.json."""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from results.lab.raw import Run, runs
from results.lab.study import Case, Runs, Series, Study
from tests.vm.functional import htbs_stat


def missing(study: Study, directory: Path) -> list[str]:
    """The names of the study's runs that have no results."""
    return [run.name for run in runs(study) if run.load(directory) is None]


def numbers(study: Study, directory: Path) -> Runs:
    """The study's numbers by case, scheduler and job."""
    return {case.name: _case(case, directory) for case in study.cases}


def series(study: Study, directory: Path) -> Series:
    """What the study kept over time, by case, scheduler and job; of the first seed."""
    found: dict = {}
    for case in study.cases:
        for scheduler in case.first.schedulers:
            jobs = _jobs(Run(case.first, scheduler), directory)
            found.setdefault(case.name, {})[scheduler.name] = {
                name: job["series"] for name, job in jobs.items() if "series" in job
            }
    return found


def write(studies: Iterable[Study], numbers: dict[str, Runs], bench: dict, path: Path) -> None:
    """Write summary.json: all experiments by name, and the bench, empty if it was not run."""
    experiments = {}
    for study in studies:
        claims = study.claims(numbers[study.name])
        for case, found in numbers[study.name].items():
            experiments[case] = {
                "runs": found,
                "claims": [claim.as_dict() for claim in claims if claim.case == case],
            }
    whole = {"experiments": experiments, "bench": bench}
    path.write_text(json.dumps(whole, indent=1) + "\n")


def _case(case: Case, directory: Path) -> dict[str, dict]:
    found = {}
    for scheduler in case.first.schedulers:
        repeats = [
            _jobs(Run(case.experiment(seed), scheduler), directory)
            for seed in case.seeds(scheduler)
        ]
        totals = [sum(job["numbers"]["bw"] for job in jobs.values()) for jobs in repeats]
        found[scheduler.name] = {
            **{name: _job([jobs[name] for jobs in repeats]) for name in repeats[0]},
            "total_bw": round(fmean(totals)),
        }
        if len(totals) > 1:
            found[scheduler.name] |= {"total_bw_min": min(totals), "total_bw_max": max(totals)}
    return found


def _jobs(run: Run, directory: Path) -> dict[str, dict]:
    """The results of a run by job."""
    return {job["name"]: job for job in run.load(directory)["jobs"]}


def _job(repeats: list[dict]) -> dict[str, float]:
    """Means over the seeds; of the largest latency the largest, of late requests all."""
    every = [job["numbers"] for job in repeats]
    lat = [job["fio"]["lat_ns"] for job in repeats]
    return {
        "bw": round(fmean(each["bw"] for each in every)),
        **{
            key: round(fmean(each[key] for each in every), 3)
            for key in ("iops", "p50_us", "p99_us")
        },
        "max_us": max(each["max_us"] for each in every),
        "late": sum(each["late"] for each in every),
        "mean_us": round(fmean(each["mean"] for each in lat) / 1000, 3),
        "jitter_us": round(fmean(each["stddev"] for each in lat) / 1000, 3),
        **_tail(every),
        **_promised(repeats),
    }


def _tail(every: list[dict]) -> dict[str, float]:
    """Of what one of a thousand exceeds the largest, where it was kept."""
    tails = [each["p999_us"] for each in every if "p999_us" in each]
    return {"p999_us": max(tails)} if tails else {}


def _promised(repeats: list[dict]) -> dict[str, int]:
    """From io.htbs.stat: how many requests conformed, how many of these were late, and how much."""
    stats = [htbs_stat(job["stat"]) for job in repeats if job.get("stat")]
    if not stats:
        return {}
    return {
        **{key: sum(stat[key] for stat in stats) for key in ("conforming", "missed")},
        "late_max_us": max(stat["late_max_us"] for stat in stats),
    }
