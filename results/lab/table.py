"""Format the numbers of experiments as tables. A KB is 1024 bytes."""

from collections.abc import Callable, Iterable

from results.lab.experiment import KIB, Experiment, Job
from results.lab.study import Case, Runs, Study

_HEAD = ("scheduler", "job", "reserved KB/s", "got KB/s", "p50 ms", "p99 ms", "largest ms", "late")
_LEFT_COLUMNS = 2


def table(experiment: Experiment, summary: dict) -> str:
    """Return plain text with a line for each scheduler and job."""
    rows = _rows(experiment, summary["runs"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def per_job(study: Study, runs: Runs) -> str:
    """Return a table for each case in Markdown, with a line for each scheduler and job."""
    tables = []
    for case in study.cases:
        title = [f"{case.title}:"] if len(study.cases) > 1 else []
        rows = _rows(case.first, runs[case.name])
        tables.append("\n\n".join([*title, markdown(rows, _LEFT_COLUMNS)]))
    return "\n\n".join(tables)


def totals(study: Study, runs: Runs) -> str:
    """Return tables of the total bandwidth and of the largest latency of the random readers."""
    head = "total KB/s (min to max of the runs)" if _repeated(study, runs) else "total KB/s"
    tables = [_by_case(study, runs, head, study.cases, _total)]
    if mixed := [case for case in study.cases if random_readers(case.first)]:
        head = "random readers: largest latency, ms (late)"
        tables.append(_by_case(study, runs, head, mixed, _random))
    return "\n\n".join(tables)


def _repeated(study: Study, runs: Runs) -> bool:
    """Return true if a scheduler ran several times."""
    every = (found for case in study.cases for found in runs[case.name].values())
    return any("total_bw_min" in found for found in every)


def random_readers(experiment: Experiment) -> list[str]:
    """Return the names of the random readers that have a reservation."""
    return [job.name for job in experiment.jobs if job.rw == "randread" and job.reservation]


def reserved(case: Case) -> list[Job]:
    """Return the jobs with a reservation."""
    return [job for job in case.first.jobs if job.reservation]


def kept(study: Study, runs: Runs) -> str:
    """Return a table of the requests with a reservation that were late, by case and scheduler.

    A late request breaks a reservation only if it conforms.
    """
    rows = [
        (
            *("scheduler", "sets", "requests", "late", "late, part of all"),
            *("conforming", "conforming, late", "total KB/s"),
        )
    ]
    for case in study.cases:
        for way in case.first.schedulers:
            found = runs[case.name][way.name]
            jobs = [found[job.name] for job in reserved(case)]
            every, late = (sum(job[key] for job in jobs) for key in ("requests", "late"))
            promised = ["-", "-"]
            if way.reserves:
                keys = ("conforming", "missed")
                promised = [f"{sum(job[key] for job in jobs):,}" for key in keys]
            counts = (f"{every:,}", f"{late:,}", f"{late / every:.1%}", *promised)
            rows.append((way.title, case.title, *counts, f"{found['total_bw'] / KIB:,.0f}"))
    return markdown(rows, _LEFT_COLUMNS)


def _by_case(
    study: Study,
    runs: Runs,
    head: str,
    cases: Iterable[Case],
    cell: Callable[[Experiment, dict], str],
) -> str:
    """Return a table with a line for each scheduler and a column for each case."""
    rows = [(head, *(case.title for case in cases))]
    for scheduler in study.schedulers:
        found = [(case.first, runs[case.name].get(scheduler.name)) for case in cases]
        cells = (cell(experiment, each) if each else "" for experiment, each in found)
        rows.append((scheduler.title, *cells))
    return markdown(rows, 1)


def _rows(experiment: Experiment, runs: dict) -> list[tuple[str, ...]]:
    rows = [_HEAD]
    for scheduler in experiment.schedulers:
        title = scheduler.title
        for job in experiment.jobs:
            rows.append((title, job.name, *_cells(job, runs[scheduler.name][job.name])))
            title = ""
    return rows


def _cells(job: Job, got: dict) -> tuple[str, ...]:
    reserved = f"{job.reservation.bw / KIB:.0f}" if job.reservation else "-"
    late = late_of([got]) if job.reservation else "-"
    times = (_ms(got[key]) for key in ("p50_us", "p99_us", "max_us"))
    return (reserved, f"{got['bw'] / KIB:.0f}", *times, late)


def late_of(jobs: list[dict]) -> str:
    """Say how many requests of some jobs were late, and of how many if that is known."""
    late = f"{sum(job['late'] for job in jobs):,}"
    if not all("requests" in job for job in jobs):
        return late
    return f"{late} of {sum(job['requests'] for job in jobs):,}"


def _total(_: Experiment, result: dict) -> str:
    text = f"{result['total_bw'] / KIB:,.0f}"
    if "total_bw_min" in result:
        text += f" ({result['total_bw_min'] / KIB:,.0f} to {result['total_bw_max'] / KIB:,.0f})"
    return text


def _random(experiment: Experiment, result: dict) -> str:
    jobs = [result[name] for name in random_readers(experiment)]
    return f"{_ms(max(job['max_us'] for job in jobs))} ({late_of(jobs)})"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [
        cell.ljust(width) if column < _LEFT_COLUMNS else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def markdown(rows: list[tuple[str, ...]], left_columns: int) -> str:
    """Return a Markdown table; the first row is its head, the first columns are left-aligned."""
    columns = len(rows[0])
    rule = ["---" if column < left_columns else "---:" for column in range(columns)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def _ms(us: float) -> str:
    return f"{us / 1000:.1f}"
