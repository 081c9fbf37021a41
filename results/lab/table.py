"""The numbers of an experiment for a person's eyes."""

from results.lab.experiment import KIB, Experiment

_HEAD = ("scheduler", "job", "reserved KB/s", "got KB/s", "p50 ms", "p99 ms", "largest ms", "late")
_LEFT_COLUMNS = 2


def table(experiment: Experiment, summary: dict) -> str:
    """A line for each scheduler and job; a KB is 1024 bytes."""
    rows = [_HEAD]
    for scheduler in experiment.schedulers:
        title = scheduler.title
        for job in experiment.jobs:
            got = summary["runs"][scheduler.name][job.name]
            reserved = f"{job.reservation.bw / KIB:.0f}"
            times = (_ms(got["p50_us"]), _ms(got["p99_us"]), _ms(got["max_us"]))
            rows.append(
                (title, job.name, reserved, f"{got['bw'] / KIB:.0f}", *times, str(got["late"]))
            )
            title = ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [
        cell.ljust(width) if column < _LEFT_COLUMNS else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _ms(us: float) -> str:
    return f"{us / 1000:.1f}"
