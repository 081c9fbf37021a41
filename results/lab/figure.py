"""The numbers of an experiment drawn; the same bytes for the same numbers."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from results.lab import reduce
from results.lab.experiment import KIB
from results.lab.run import Outcome

# Told apart by those who see few colours, and in black and white by their lightness.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STEPS = 60
_DPI = 150


def bandwidth(outcome: Outcome, schedulers: tuple[str, ...], path: Path) -> None:
    """Bandwidth of each job over time, one panel for each of the schedulers, on one scale."""
    experiment = outcome.experiment
    titles = {scheduler.name: scheduler.title for scheduler in experiment.schedulers}
    figure, panels = pyplot.subplots(
        1, len(schedulers), sharey=True, figsize=(10, 4.2), layout="constrained", squeeze=False
    )
    for panel, name in zip(panels[0], schedulers, strict=True):
        panel.set_title(titles[name])
        _bandwidth_panel(panel, outcome, name)
    panels[0][0].set_ylabel("bandwidth, KB/s")
    _save(figure, path)


def _bandwidth_panel(panel: Axes, outcome: Outcome, scheduler: str) -> None:
    experiment = outcome.experiment
    step = max(1, experiment.seconds // _STEPS)
    for job, colour in zip(experiment.jobs, _COLOURS, strict=False):
        result = outcome.runs[scheduler][job.name]
        points = reduce.bandwidth(result.requests, experiment.seconds, step)
        times, values = zip(*points, strict=True)
        values = [value / KIB for value in values]
        panel.plot(times, values, color=colour, linewidth=1.6, label=job.name)
        reserved = job.reservation.bw / KIB
        panel.axhline(reserved, color=colour, linewidth=0.8, linestyle="--")
    panel.set_xlim(0, experiment.seconds)
    panel.set_ylim(0)
    panel.set_xlabel("virtual time, s")
    panel.grid(color="0.9", linewidth=0.6)
    panel.set_axisbelow(True)


def _save(figure: Figure, path: Path) -> None:
    """Without the date and the version that would make the file differ."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    pyplot.close(figure)
