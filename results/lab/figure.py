"""Draw the numbers of an experiment; the same numbers give the same bytes."""

import hashlib
import io
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile
from math import floor, log10
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from results.lab import reduce
from results.lab.experiment import KIB, Experiment
from results.lab.run import Outcome
from results.lab.study import Case, Runs, Series, Study
from results.lab.table import random_readers

# Distinct for colour-blind readers, and by lightness in black and white.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
_STEPS = 60
_DPI = 150
_FEW = 64

# Characters in a line of a title, and the number of cases whose titles fit in a line.
_WIDTH = 24
_FEW_CASES = 4

# A scale is logarithmic if the largest bar is so many times as high as the smallest.
_WIDE = 200


@dataclass(frozen=True)
class _Line:
    """The bandwidth of a job over time, in bytes/s."""

    name: str
    reserved: int
    bw: int
    points: list[tuple[float, float]]


def bandwidth(outcome: Outcome, schedulers: tuple[str, ...]) -> Figure:
    """Draw the bandwidth of each job over time, with a panel for each scheduler.

    All panels have one logarithmic scale, because a sequential reader can be twenty times as fast
    as a random one.
    """
    experiment = outcome.experiment
    panels = {}
    for name in schedulers:
        panels[name] = []
        for job in experiment.jobs:
            result = outcome.runs[name][job.name]
            points = reduce.bandwidth(result.requests, experiment.seconds, _STEPS)
            panels[name].append(_Line(job.name, job.reservation.bw, result.numbers.bw, points))
    return _bandwidth(experiment, panels)


def bandwidth_over_time(study: Study, runs: Runs, series: Series) -> Figure:
    """Draw a study with one case like bandwidth(), for the schedulers in drawn."""
    [case] = study.cases
    panels = {
        name: [
            _Line(
                job.name,
                job.reservation.bw,
                runs[case.name][name][job.name]["bw"],
                series[case.name][name][job.name],
            )
            for job in case.first.jobs
        ]
        for name in case.first.drawn
    }
    return _bandwidth(case.first, panels)


def _bandwidth(experiment: Experiment, lines: dict[str, list[_Line]]) -> Figure:
    titles = {scheduler.name: scheduler.title for scheduler in experiment.schedulers}
    figure, panels = pyplot.subplots(
        1, len(lines), sharey=True, figsize=(10, 4.8), layout="constrained", squeeze=False
    )
    values = []
    for panel, name in zip(panels[0], lines, strict=True):
        panel.set_title(_wrapped(titles[name]), fontweight="bold")
        values += _bandwidth_panel(panel, experiment.seconds, lines[name])
    panel.set_yscale("log")
    panel.set_ylim(*_decades(values))
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    panels[0][0].set_ylabel("bandwidth, KB/s (dashed: reserved)")
    return figure


def _decades(values: list[float]) -> tuple[float, float]:
    """Return the powers of ten below and above all positive values."""
    positive = [value for value in values if value > 0]
    return 10 ** floor(log10(min(positive))), 10 ** (floor(log10(max(positive))) + 1)


def _bandwidth_panel(panel: Axes, seconds: int, lines: list[_Line]) -> list[float]:
    """Draw wide lines below narrow ones, so that both are visible if they coincide.

    Returns all values drawn.
    """
    drawn = []
    for index, line in enumerate(lines):
        colour = _COLOURS[index]
        width = 1.3 * (len(lines) - index)
        reserved = line.reserved / KIB
        # The line begins when the job begins.
        points = list(dropwhile(lambda point: point[1] == 0, line.points))
        times = [time for time, _ in points]
        values = [bw / KIB for _, bw in points]
        label = f"{line.name}: {line.bw / KIB:,.0f} KB/s"
        panel.plot(times, values, color=colour, lw=width, label=label)
        panel.axhline(reserved, color=colour, lw=0.9, ls="--")
        drawn += [*values, reserved]
    panel.set_xlim(0, seconds)
    panel.set_xlabel("virtual time, s")
    _grid(panel, "both")
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    return drawn


def latency_over_time(study: Study, runs: Runs, series: Series) -> Figure:
    """Draw the latency of each job over time, with a row per job and a column per scheduler."""
    [case] = study.cases
    experiment = case.first
    figure, panels = pyplot.subplots(
        len(experiment.jobs),
        len(experiment.schedulers),
        sharex=True,
        sharey="row",
        figsize=(10, 5.6),
        layout="constrained",
        squeeze=False,
    )
    for column, scheduler in enumerate(experiment.schedulers):
        panels[0][column].set_title(_wrapped(scheduler.title), fontweight="bold")
        panels[-1][column].set_xlabel("virtual time, s")
        for row, job in enumerate(experiment.jobs):
            panel = panels[row][column]
            times, *values = zip(*series[case.name][scheduler.name][job.name], strict=True)
            _latency_panel(panel, times, values, _COLOURS[row])
            bound = job.reservation.latency_us / 1000
            panel.axhline(bound, color="0.3", lw=0.9, ls="--", label="reserved")
            # A row has one scale, so it is at least what the panel on the left needed.
            panel.set_ylim(0, max(1.1 * bound, 1.1 * max(values[-1]), panel.get_ylim()[1]))
            panel.set_xlim(0, experiment.seconds)
            panels[row][0].set_ylabel(f"latency of {job.name}, ms")
    panels[0][0].legend(loc="upper right", frameon=False, ncols=3, bbox_to_anchor=(1, 0.95))
    return figure


def _latency_panel(panel: Axes, times: tuple, values: list[tuple], colour: str) -> None:
    least, middle, most = values
    panel.fill_between(times, least, most, color=colour, alpha=0.3, lw=0, label="min to max")
    panel.plot(times, middle, color=colour, lw=0.9, label="median")
    _grid(panel, "both")


def totals(study: Study, runs: Runs, series: Series) -> Figure:
    """Draw the total bandwidth as bars by case and scheduler, with min and max of the runs.

    Below it is the largest latency of the random readers, if there are any.
    """
    mixed = any(random_readers(case.first) for case in study.cases)
    figure, panels = pyplot.subplots(
        2 if mixed else 1,
        sharex=True,
        figsize=(10, 6.4 if mixed else 4.2),
        layout="constrained",
        squeeze=False,
    )
    upper, lower = panels[0][0], panels[-1][0]
    _bars(upper, study, lambda case, name: _total(runs[case.name].get(name)))
    upper.set_ylabel("total bandwidth, KB/s")
    heights = [bar.get_height() for bar in upper.patches]
    if max(heights) > _WIDE * min(heights):
        upper.set_yscale("log")
        upper.set_ylim(*_decades(heights))
    upper.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if mixed:
        _bars(lower, study, lambda case, name: _longest(case, runs[case.name].get(name)))
        lower.set_ylabel("largest latency of\nrandom readers, ms")
        jobs = study.cases[-1].first.jobs
        bound = min(job.reservation.latency_us for job in jobs if job.reservation)
        lower.axhline(bound / 1000, color="0.3", lw=0.9, ls="--", label="reserved latency")
        lower.set_yscale("log")
        lower.set_ylim(*_decades([bound / 1000, *(bar.get_height() for bar in lower.patches)]))
        lower.yaxis.set_minor_locator(NullLocator())
        lower.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    titles = [case.title for case in study.cases]
    if len(titles) > _FEW_CASES:
        titles = [_wrapped(title, _WIDTH * _FEW_CASES // len(titles)) for title in titles]
    lower.set_xticks(range(len(titles)), titles)
    below = -0.04 - 0.06 * max(title.count("\n") + 1 for title in titles)
    lower.legend(loc="upper center", bbox_to_anchor=(0.5, below), frameon=False, ncols=6)
    return figure


def _bars(
    panel: Axes, study: Study, value: Callable[[Case, str], tuple[float, float, float] | None]
) -> None:
    """Draw bars by case and scheduler; value: middle, min and max, or None for no bar."""
    width = 0.86 / len(study.schedulers)
    for index, scheduler in enumerate(study.schedulers):
        values = [(group, value(case, scheduler.name)) for group, case in enumerate(study.cases)]
        there = [(group, found) for group, found in values if found]
        places = [group + (index - (len(study.schedulers) - 1) / 2) * width for group, _ in there]
        middles = [middle for _, (middle, _, _) in there]
        label = _wrapped(scheduler.title)
        panel.bar(places, middles, width * 0.92, color=_COLOURS[index], label=label)
        below = [middle - least for _, (middle, least, _) in there]
        above = [most - middle for _, (middle, _, most) in there]
        if any(below) or any(above):
            panel.errorbar(
                places, middles, [below, above], fmt="none", ecolor="0", capsize=2, lw=0.8
            )
    _grid(panel, "y")


def _total(result: dict | None) -> tuple[float, float, float] | None:
    """Return the total bandwidth in KB/s."""
    if not result:
        return None
    total = result["total_bw"]
    every = (total, result.get("total_bw_min", total), result.get("total_bw_max", total))
    return tuple(bw / KIB for bw in every)


def _longest(case: Case, result: dict | None) -> tuple[float, float, float] | None:
    """Return the largest latency of the random readers in ms."""
    names = random_readers(case.first)
    if not result or not names:
        return None
    longest = max(result[name]["max_us"] for name in names) / 1000
    return longest, longest, longest


def promises(study: Study, runs: Runs, series: Series) -> Figure:
    """Draw bandwidth and largest latency of each job and its reservation, bars by scheduler."""
    [case] = study.cases
    experiment = case.first
    figure, (left, right) = pyplot.subplots(
        1,
        2,
        sharey=True,
        figsize=(10, 1.6 + 0.5 * len(experiment.schedulers)),
        layout="constrained",
    )
    height = 0.86 / len(experiment.jobs)
    for index, job in enumerate(experiment.jobs):
        results = [runs[case.name][each.name][job.name] for each in experiment.schedulers]
        places = [
            row + (index - (len(experiment.jobs) - 1) / 2) * height for row in range(len(results))
        ]
        style = {"height": height * 0.92, "color": _COLOURS[index], "label": job.name}
        left.barh(places, [result["bw"] / KIB for result in results], **style)
        right.barh(places, [result["max_us"] / 1000 for result in results], **style)
        right.plot(
            [result["p99_us"] / 1000 for result in results],
            places,
            "|",
            color="0",
            ms=7,
            label=None if index else "p99",
        )
        if job.reservation:
            line = {"color": _COLOURS[index], "lw": 1.0, "ls": "--"}
            left.axvline(job.reservation.bw / KIB, **line)
            right.axvline(job.reservation.latency_us / 1000, **line)
    titles = [_wrapped(each.title) for each in experiment.schedulers]
    left.set_yticks(range(len(results)), titles)
    left.invert_yaxis()
    dashed = " (dashed: reserved)" if any(job.reservation for job in experiment.jobs) else ""
    left.set_xlabel(f"bandwidth, KB/s{dashed}")
    right.set_xlabel(f"largest latency, ms{dashed}")
    for panel in (left, right):
        panel.set_xscale("log")
        marks = [at for line in panel.lines for at in line.get_xdata()]
        panel.set_xlim(*_decades([*marks, *(bar.get_width() for bar in panel.patches)]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        _grid(panel, "x")
    right.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


# The latencies in the figure of a database, and how each is marked.
_MARKS = {"p50": "o", "p99": "s", "p999": "D", "max": "|"}


def database(study: Study, runs: Runs, series: Series) -> Figure:
    """Draw transactions, the latencies of transactions and syncs, and bandwidths, by scheduler.

    Only the first case is drawn; the others are in the table.
    """
    case = study.cases[0]
    ways, job = case.first.schedulers, case.first.database
    figure, panels = pyplot.subplots(
        1,
        3,
        sharey=True,
        figsize=(12, 2 + 0.6 * len(ways)),
        layout="constrained",
        width_ratios=(2, 3, 3),
    )
    found = [runs[case.name][each.name] for each in ways]
    places = range(len(ways))
    panels[0].barh(places, [each[job.name]["tps"] for each in found], 0.6, color=_COLOURS[0])
    panels[0].set_xlabel("transactions/s")
    _tails(panels[1], [each[job.name] for each in found])
    panels[1].axvline(job.reservation.latency_us / 1000, color="0.3", lw=0.9, ls="--")
    panels[1].set_xlabel("latency, ms (dashed: reserved per request)")
    _moved(panels[2], case, found)
    panels[2].set_xlim(*_decades([bar.get_width() for bar in panels[2].patches]))
    panels[2].set_xlabel("bandwidth, KB/s (dashed: reserved)")
    panels[0].set_yticks(places, [_wrapped(each.title) for each in ways])
    panels[0].invert_yaxis()
    for panel in panels:
        _grid(panel, "x")
    for panel in panels[1:]:
        panel.set_xscale("log")
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        panel.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, ncols=2, fontsize=8
        )
    return figure


def _tails(panel: Axes, found: list[dict]) -> None:
    """Draw a line from the median to the max of transactions and, below it, of syncs."""
    for index, (key, name) in enumerate((("tx", "transaction"), ("sync", "sync"))):
        places = [row + (index - 0.5) * 0.36 for row in range(len(found))]
        colour = _COLOURS[index]
        ends = ([each[f"{key}_{end}_us"] / 1000 for each in found] for end in ("p50", "max"))
        panel.hlines(places, *ends, color=colour, lw=1.2)
        for share, mark in _MARKS.items():
            values = [each[f"{key}_{share}_us"] / 1000 for each in found]
            label = f"{name} {share.replace('p999', 'p99.9')}"
            panel.plot(values, places, mark, color=colour, ms=8 if mark == "|" else 4, label=label)


def _moved(panel: Axes, case: Case, found: list[dict]) -> None:
    """Draw what the drive moved for each job, with the reserved bandwidth."""
    jobs = case.first.jobs
    height = 0.86 / len(jobs)
    for index, job in enumerate(jobs):
        places = [row + (index - (len(jobs) - 1) / 2) * height for row in range(len(found))]
        values = [each[job.name]["bw"] / KIB for each in found]
        panel.barh(places, values, height * 0.92, color=_COLOURS[index], label=job.name)
        if job.reservation:
            panel.axvline(job.reservation.bw / KIB, color=_COLOURS[index], lw=1, ls="--")


def margins(study: Study, runs: Runs, series: Series) -> Figure:
    """Draw the largest over the reserved latency of each job of the first case, sorted.

    There is a line for each scheduler.
    """
    case = study.cases[0]
    jobs = [job for job in case.first.jobs if job.reservation]
    figure, panel = pyplot.subplots(figsize=(10, 4.2), layout="constrained")
    for index, each in enumerate(case.first.schedulers):
        found = runs[case.name][each.name]
        shares = sorted(found[job.name]["max_us"] / job.reservation.latency_us for job in jobs)
        label = _wrapped(each.title)
        panel.plot(range(1, len(jobs) + 1), shares, ".-", color=_COLOURS[index], label=label)
    panel.axhline(1, color="0.3", lw=0.9, ls="--", label="reserved")
    panel.set_yscale("log")
    panel.set_xlabel("reservations, sorted by this ratio for each scheduler")
    panel.set_ylabel("largest latency of all requests / reserved")
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    panel.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    _grid(panel, "both")
    return figure


def _wrapped(title: str, width: int = _WIDTH) -> str:
    return "\n".join(textwrap.wrap(title, width, break_on_hyphens=False))


def _grid(panel: Axes, axis: str) -> None:
    panel.grid(color="0.9", lw=0.6, axis=axis)
    panel.set_axisbelow(True)


def source(study: Study, runs: Runs, series: Series) -> str:
    """Return a hash of what a study's figure shows: names, reservations, numbers."""
    names = [
        (case.title, [(job.name, str(job.reservation)) for job in case.first.jobs])
        for case in study.cases
    ]
    titles = [(each.name, each.title) for each in study.schedulers]
    shown = json.dumps([names, titles, runs, series], sort_keys=True)
    return hashlib.sha256(shown.encode()).hexdigest()


def save(figure: Figure, path: Path, shown: str = "") -> None:
    """Write a PNG with few colours and source() as its comment, but no date and no version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=_DPI)
    pyplot.close(figure)
    comment = PngInfo()
    comment.add_text("Comment", shown)
    few = Image.open(drawn).convert("RGB").quantize(_FEW, dither=Image.Dither.NONE)
    few.save(path, "PNG", optimize=True, pnginfo=comment)


def shown_by(path: Path) -> str:
    """Return the source() of a PNG that save() wrote."""
    return Image.open(path).text["Comment"]
