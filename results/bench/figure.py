"""Draw what each scheduler adds to an I/O; the same numbers give the same bytes."""

import hashlib
import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from results.bench.cases import TITLES, Case, cases
from results.lab.figure import save

# Distinct for colour-blind readers, and by lightness in black and white.
_COLOURS = {"mq-deadline": "#56b4e9", "kyber": "#009e73", "bfq": "#e69f00", "htbs": "#0072b2"}
_READERS = {"alone": "1 reader", "kept": "1, reserved", "crowd": "100 readers"}
_GROUP = 0.8
_HEADROOM = 1.2


def cost(summary: dict, path: Path) -> None:
    """Draw a panel for each load, with a group of bars for each case."""
    loads: dict[str, list[Case]] = {}
    for case in cases():
        loads.setdefault(case.load.name, []).append(case)
    figure, panels = pyplot.subplots(
        1,
        len(loads),
        sharey=True,
        figsize=(12, 4.6),
        width_ratios=[len(each) for each in loads.values()],
        layout="constrained",
    )
    for panel, (load, each) in zip(panels, loads.items(), strict=True):
        _panel(panel, each, summary)
        panel.set_title(_READERS[load], fontweight="bold")
    panels[0].set_ylabel("CPU time added to none, ns per I/O")
    panels[0].set_ylim(top=_top(summary))
    panels[0].legend(frameon=False, ncols=2, loc="upper center")
    save(figure, path, source(summary))


def source(summary: dict) -> str:
    """Return a hash of the numbers that the figure shows."""
    return hashlib.sha256(json.dumps(summary, sort_keys=True).encode()).hexdigest()


def _top(summary: dict) -> float:
    """Return the end of the scale: above all bars except those of cases with an idle disk."""
    return _HEADROOM * max(
        added
        for name in _COLOURS
        for case, added in summary["schedulers"][name]["added_ns"].items()
        if case not in summary["schedulers"][name]["idle"]
    )


def _panel(panel: Axes, wanted: list[Case], summary: dict) -> None:
    """Draw the bars; a bar that is cut off is labelled with its value."""
    width = _GROUP / len(_COLOURS)
    top = _top(summary)
    for index, (scheduler, colour) in enumerate(_COLOURS.items()):
        added = summary["schedulers"][scheduler]["added_ns"]
        label = TITLES[scheduler]
        for group, case in enumerate(wanted):
            if case.name not in added:
                continue
            place = group - _GROUP / 2 + (index + 0.5) * width
            panel.bar(place, added[case.name], width, color=colour, label=label)
            label = None
            if added[case.name] > top:
                text = f"{added[case.name]:,.0f}"
                panel.text(place, top * 0.86, text, rotation=90, ha="center", va="top", fontsize=8)
    panel.set_xticks(range(len(wanted)), [_label(case) for case in wanted], fontsize=8)
    panel.axhline(0, color="black", lw=0.8)
    panel.grid(axis="y", color="0.9", lw=0.6)
    panel.set_axisbelow(True)


def _label(case: Case) -> str:
    pattern = {"randread": "random", "read": "seq."}[case.pattern]
    plural = "" if case.cgroups == 1 else "s"
    return f"{pattern}\ndepth {case.depth}\n{case.cgroups:,}\ncgroup{plural}"
