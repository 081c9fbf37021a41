"""Draw the census, with a dot for each drive; the same numbers give the same bytes."""

import hashlib
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, StrMethodFormatter

from results.census.workloads import WAYS, WORKLOADS
from results.lab.figure import save

# Distinct for colour-blind readers, and by lightness in black and white.
_COLOURS = ("#0072b2", "#d55e00", "#e69f00", "#56b4e9", "#000000")
_PANELS = (
    ("kept", "bandwidth / reserved (at least 1 is good)"),
    ("p99", "p99 / latency (at most 1 is good)"),
)
_LEAST = 0.01

# Characters in a line of a title.
_WIDTH = 24
_GROUP = 0.8


def source(found: Mapping) -> str:
    """Return a hash of what the figure shows."""
    return hashlib.sha256(json.dumps(found["workloads"], sort_keys=True).encode()).hexdigest()


def census(found: Mapping, path: Path) -> None:
    """Draw a panel for each number, with a row of dots for each workload and scheduler."""
    there = [each for each in WORKLOADS if found["workloads"].get(each.name)]
    figure, panels = pyplot.subplots(
        1, len(_PANELS), sharey=True, figsize=(11, 1.5 + 0.75 * len(there)), layout="constrained"
    )
    for panel, (key, title) in zip(panels, _PANELS, strict=True):
        for row, each in enumerate(there):
            _dots(panel, row, found["workloads"][each.name], key)
        _axes(panel, title)
    panels[0].set_yticks(range(len(there)), [_wrapped(each.title) for each in there])
    panels[0].invert_yaxis()
    panels[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save(figure, path, source(found))


def _wrapped(title: str) -> str:
    return "\n".join(textwrap.wrap(title, _WIDTH))


def _dots(panel: Axes, row: int, drives: Mapping[str, Mapping], key: str) -> None:
    step = _GROUP / len(WAYS)
    for number, way in enumerate(WAYS):
        values = [max(_LEAST, ways[way.name][key]) for ways in drives.values()]
        place = row + (number - (len(WAYS) - 1) / 2) * step
        label = None if row else way.title
        panel.plot(
            values, [place] * len(values), "o", ms=4, alpha=0.7, color=_COLOURS[number],
            mew=0, label=label,
        )  # fmt: skip


def _axes(panel: Axes, title: str) -> None:
    panel.set_xscale("log")
    panel.set_xlabel(title)
    panel.axvline(1, color="0.3", lw=0.9, ls="--")
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    panel.grid(color="0.9", lw=0.6, axis="x")
    panel.set_axisbelow(True)
