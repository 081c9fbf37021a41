"""summary.json: the numbers of each run, and what the run was measured with.

Tables, claims and figures are made from the summary and the experiments alone. The summary is made
from raw data, which `make lab` produces and which are not in the tree.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from results.lab import transactions
from results.lab.experiment import Experiment, Scheduler
from results.lab.raw import Run, runs
from results.lab.study import Case, Runs, Series, Study
from tests.vm.functional import htbs_stat

# The numbers of a job: bandwidth in bytes/s; latencies in us; how many of its requests were late
# and how many there were, over all seeds; from io.htbs.stat, how many conformed, how many of these
# were late, and by how much at most. Numbers that a run does not have are left out.
COLUMNS = (
    "bw",
    "p50_us",
    "p99_us",
    "max_us",
    "late",
    "requests",
    "mean_us",
    "jitter_us",
    "p999_us",
    "conforming",
    "missed",
    "late_max_us",
)

# Runs by experiment and scheduler, as made by _runs().
Summary = dict[str, dict[str, dict]]


class SummaryError(ValueError):
    """The file has no summary of this form."""


def missing(study: Study, directory: Path) -> list[str]:
    """Return the names of the study's runs that have no raw data."""
    return [run.name for run in runs(study) if run.load(directory) is None]


def reduced(study: Study, directory: Path, made_of: str = "") -> Summary:
    """Return the study's runs from raw data; made_of: the modules' commit from sources.commit()."""
    found = {
        case.kept_as: {
            scheduler.name: _runs(case, scheduler, directory)
            for scheduler in case.first.schedulers
        }
        for case in study.cases
    }
    for experiment in found.values():
        for each in experiment.values():
            each["measured_with"] |= {"sources": made_of} if made_of else {}
    return found


def shows(summary: Summary, study: Study) -> bool:
    """Return true if the summary has all jobs of all runs of a study."""
    return all(
        job.name in summary.get(case.kept_as, {}).get(scheduler.name, {"jobs": {}})["jobs"]
        for case in study.cases
        for scheduler in case.first.schedulers
        for job in case.first.jobs
    )


def numbers(study: Study, summary: Summary) -> Runs:
    """Return the study's numbers by case, scheduler and job."""
    return {
        case.name: {
            scheduler.name: _numbers(summary[case.kept_as][scheduler.name])
            for scheduler in case.first.schedulers
        }
        for case in study.cases
    }


def series(study: Study, summary: Summary) -> Series:
    """Return what the study draws over time, by case, scheduler and job, of the first seed."""
    return {
        case.name: {
            name: summary[case.kept_as][name]["series"]
            for name in case.first.drawn
        }
        for case in study.cases
    }


def kernels(studies: Iterable[Study], summary: Summary) -> list[str]:
    """Return the kernels of the runs: one, unless an experiment ran again with another one."""
    found = (
        each["measured_with"]["kernel"]
        for study in studies
        for case in study.cases
        for each in summary.get(case.kept_as, {}).values()
    )
    return sorted(set(found))


def sources(study: Study, summary: Summary) -> list[str]:
    """Return the commits that the study ran with; an empty one was not recorded."""
    found = (
        each["measured_with"].get("sources", "")
        for case in study.cases
        for each in summary[case.kept_as].values()
    )
    return sorted(set(found))


def read(path: Path) -> Summary:
    """Read a summary, which is empty if there is no file. Raises SummaryError."""
    if not path.exists():
        return {}
    whole = json.loads(path.read_text())
    if whole.get("columns") != list(COLUMNS):
        raise SummaryError(f"{path} is of another form: remove it, then run make lab")
    for experiment in whole["experiments"].values():
        for each in experiment.values():
            for name, values in each["jobs"].items():
                named = zip(COLUMNS, values, strict=True)
                each["jobs"][name] = {key: value for key, value in named if value is not None}
    return whole["experiments"]


def write(studies: Iterable[Study], summary: Summary, path: Path) -> None:
    """Write the runs of these studies and no others, with a line for each job."""
    names = dict.fromkeys(case.kept_as for study in studies for case in study.cases)
    experiments = {
        name: _braces(
            {scheduler: _lines(each) for scheduler, each in summary[name].items()}, depth=2
        )
        for name in names
        if name in summary
    }
    whole = {"columns": json.dumps(COLUMNS), "experiments": _braces(experiments, depth=1)}
    path.write_text(_braces(whole, depth=0) + "\n")


def _lines(each: dict) -> str:
    """Return a run as JSON, with a line for each job and each series."""
    parts = {name: json.dumps(value) for name, value in each.items()}
    rows = {name: [job.get(key) for key in COLUMNS] for name, job in each["jobs"].items()}
    parts["jobs"] = _braces({name: _line(row) for name, row in rows.items()}, depth=4)
    if "series" in each:
        drawn = {name: _line(points) for name, points in each["series"].items()}
        parts["series"] = _braces(drawn, depth=4)
    return _braces(parts, depth=3)


def _line(values: list) -> str:
    return json.dumps(values, separators=(",", ":"))


def _braces(members: dict[str, str], depth: int) -> str:
    """Return a JSON object with a line for each member; the members are JSON already."""
    indent = "\n" + " " * depth
    lines = ",".join(f"{indent} {json.dumps(name)}: {text}" for name, text in members.items())
    return f"{{{lines}{indent}}}"


def _runs(case: Case, scheduler: Scheduler, directory: Path) -> dict:
    """Return the numbers of all seeds of a scheduler, and what they were measured with."""
    repeats = {
        seed: Run(case.experiment(seed), scheduler).load(directory)
        for seed in case.seeds(scheduler)
    }
    first, *_ = repeats.values()
    jobs = [{job["name"]: job for job in run["jobs"]} for run in repeats.values()]
    totals = [_total(case.first, each) for each in jobs]
    found = {
        "measured_with": {
            **{key: first[key] for key in ("tunables", "kernel", "versions")},
            "inputs": {str(seed): run["inputs"] for seed, run in repeats.items()},
        },
        "total_bw": round(fmean(totals)),
    }
    if len(totals) > 1:
        found |= {"total_bw_min": min(totals), "total_bw_max": max(totals)}
    found["jobs"] = {name: _job([each[name] for each in jobs]) for name in jobs[0]}
    if database := case.first.database:
        more = [each[database.name]["more"] for each in jobs]
        found["more"] = {database.name: transactions.numbers(more)}
    if scheduler.name in case.first.drawn:
        found["series"] = {name: job["series"] for name, job in jobs[0].items()}
    return found


def _total(experiment: Experiment, jobs: dict[str, dict]) -> int:
    """Return the total bandwidth over the whole time, bytes/s; stages run one after the other."""
    moved, stages = 0, {}
    for job in experiment.jobs:
        stages[job.stage] = max(stages.get(job.stage, 0), experiment.seconds_of(job))
        moved += jobs[job.name]["numbers"]["bw"] * experiment.seconds_of(job)
    return round(moved / sum(stages.values()))


def _numbers(each: dict) -> dict:
    """Return the jobs of a run, a database with its own numbers, and the total bandwidth."""
    totals = {key: value for key, value in each.items() if key.startswith("total_bw")}
    more = each.get("more", {})
    jobs = {name: {**job, **more.get(name, {})} for name, job in each["jobs"].items()}
    return {**jobs, **totals}


def _job(repeats: list[dict]) -> dict[str, float]:
    """Return means over the seeds, the max of the largest latency, and sums of request counts."""
    every = [job["numbers"] for job in repeats]
    lat = [job["fio"]["lat_ns"] for job in repeats]
    return {
        "bw": round(fmean(each["bw"] for each in every)),
        **{key: round(fmean(each[key] for each in every), 3) for key in ("p50_us", "p99_us")},
        "max_us": max(each["max_us"] for each in every),
        "late": sum(each["late"] for each in every),
        **_requests(repeats),
        "mean_us": round(fmean(each["mean"] for each in lat) / 1000, 3),
        "jitter_us": round(fmean(each["stddev"] for each in lat) / 1000, 3),
        **_tail(every),
        **_promised(repeats),
    }


def _requests(repeats: list[dict]) -> dict[str, int]:
    """Return how many requests completed, if it was kept."""
    every = [job["fio"].get("total_ios") for job in repeats]
    return {} if None in every else {"requests": sum(every)}


def _tail(every: list[dict]) -> dict[str, float]:
    """Return the largest p99.9 of the seeds, if it was kept."""
    tails = [each["p999_us"] for each in every if "p999_us" in each]
    return {"p999_us": max(tails)} if tails else {}


def _promised(repeats: list[dict]) -> dict[str, int]:
    """Return the numbers of io.htbs.stat, under htbs."""
    stats = [htbs_stat(job["stat"]) for job in repeats if job.get("stat")]
    if not stats:
        return {}
    return {
        **{key: sum(stat[key] for stat in stats) for key in ("conforming", "missed")},
        "late_max_us": max(stat["late_max_us"] for stat in stats),
    }
