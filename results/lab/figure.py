"""The numbers of an experiment drawn; the same bytes for the same numbers."""

from math import ceil, floor, log10
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from results.lab import reduce
from results.lab.experiment import KIB
from results.lab.run import Outcome

# Told apart by those who see few colours, and in black and white by their lightness.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STEPS = 60
_DPI = 150


def bandwidth(outcome: Outcome, schedulers: tuple[str, ...], path: Path) -> None:
    """Bandwidth of each job over time, one panel for each of the schedulers, on one scale.

    The scale is logarithmic: a sequential reader can be twenty times as fast as a random one.
    """
    titles = {scheduler.name: scheduler.title for scheduler in outcome.experiment.schedulers}
    figure, panels = pyplot.subplots(
        1, len(schedulers), sharey=True, figsize=(10, 4.8), layout="constrained", squeeze=False
    )
    values = []
    for panel, name in zip(panels[0], schedulers, strict=True):
        panel.set_title(titles[name], fontweight="bold")
        values += _bandwidth_panel(panel, outcome, name)
    panel.set_yscale("log")
    panel.set_ylim(*_decades(values))
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    panels[0][0].set_ylabel("bandwidth, KB/s")
    _save(figure, path)


def _decades(values: list[float]) -> tuple[float, float]:
    """The powers of ten around all positive values."""
    positive = [value for value in values if value > 0]
    return 10 ** floor(log10(min(positive))), 10 ** ceil(log10(max(positive)))


def _bandwidth_panel(panel: Axes, outcome: Outcome, scheduler: str) -> list[float]:
    """Draw wide lines below narrow ones, so that two that coincide are both seen.

    Returns all values drawn.
    """
    drawn = []
    experiment = outcome.experiment
    step = max(1, experiment.seconds // _STEPS)
    for index, job in enumerate(experiment.jobs):
        colour = _COLOURS[index]
        width = 1.3 * (len(experiment.jobs) - index)
        reserved = job.reservation.bw / KIB
        result = outcome.runs[scheduler][job.name]
        points = reduce.bandwidth(result.requests, experiment.seconds, step)
        times = [time for time, _ in points]
        values = [bw / KIB for _, bw in points]
        label = (
            f"{job.name} got {result.numbers.bw / KIB:,.0f} KB/s, reserved {reserved:,.0f} (dashed)"
        )
        panel.plot(times, values, color=colour, lw=width, label=label)
        panel.axhline(reserved, color=colour, lw=0.9, ls="--")
        drawn += [*values, reserved]
    panel.set_xlim(0, experiment.seconds)
    panel.set_xlabel("virtual time, s")
    panel.grid(color="0.9", lw=0.6)
    panel.set_axisbelow(True)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    return drawn


def _save(figure: Figure, path: Path) -> None:
    """Without the date and the version that would make the file differ."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    pyplot.close(figure)
