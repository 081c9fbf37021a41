"""Make the page results/census.md from the summary alone."""

import json
from collections.abc import Callable, Mapping

from results.census.again import DRAWN, LONGER, many_late
from results.census.before import BEFORE
from results.census.summary import (
    COLUMNS,
    FEW,
    KEPT,
    LATE,
    afterwards,
    in_time,
    keeps,
    keeps_all,
    keeps_its_word,
    middle_and_worst,
    summed,
)
from results.census.workloads import EARLY, WAYS, WORKLOADS, Workload
from results.lab.page import filled
from results.lab.run import SPEED

_HEAD = """\
# HTBS on drives that it was not tuned for

    make census GUEST=1 SEED={seed} DRIVES={drives}

generates this page. It runs eight workloads of [the laboratory](README.md) on {drives} drives that
the seed {seed} draws at random (`tests/sim/drives.py`). Every third drive is a flash drive with 1
to 32 dies. The others are disks of 5400 to 15000 rpm with or without command queueing (depth 4 to
256). Some disks prefer commands that have waited for longer (*ageing*), have a volatile write
cache, or are shingled. One drive in four is behind virtio-blk, without a budget and with jitter.

Each scheduler runs each workload in a guest with Debian's kernel {kernel} in virtual time ({speed}
instructions per nanosecond). A run takes between half a second and 8 seconds, or 20 seconds for 5.1
on disks. Such a short run includes the time in which HTBS learns the drive, and in which BFQ raises
the weight of processes that have just started. If a drive cannot keep the reservations of a
workload, the workload does not run on it.

**Feasible reservations.** A set of reservations is *feasible* on a drive if it could be kept with
one request in flight. By the data sheet of the drive, the set takes at most nine tenths of the
drive's time on average. The latency of each group covers the worst case: one request of this group
and of each group with a shorter latency, behind the longest request of all other groups. Cleaning,
erasures and the tail of a hypervisor (five time slices) count. A write cache does not count: if the
other groups are limited to their part, each write is on the medium in time.

The reservations are those of the laboratory, scaled by the mean time of a random read, and then
scaled further until they are feasible (`results/census/promises.py`). The reservations of 5.3 are
those of *mixed-disk* ([README.md](README.md#many-readers-with-reservations-that-can-be-kept)). HTBS
and the paper's rule are given the reservations; the other schedulers have no such setting. Groups
without a reservation share a tenth of the drive; `default_bw` is set to that from the data sheet.

**Kept.** A scheduler *keeps* a set of reservations if each group gets at least {kept:.0%} of its
bandwidth, and at most 1 in {late:.0f} of its requests is late, or a single one. Under HTBS and the
paper's rule only conforming requests count, under the other schedulers all requests. A request is
late if it takes longer than the reserved latency.

The columns of the tables:

- *kept on*: the number of drives on which the scheduler keeps the set.
- *bandwidth / reserved*: the bandwidth of a group over its reserved one, or over its offered load
  if that is less. What it submitted within the last latency of the run need not have completed.
- *late*: the part of a group's conforming requests that was late.
- *total / best other*: the throughput of all groups over that of the best other scheduler that
  keeps the set. A drive does not count if no other scheduler does.
- *p99 / latency*: the p99 of a group over its reserved latency.

Each cell has the median and the worst of all drives. The number of a drive is that of its worst
group.

![Bandwidth and p99 against the reservation on each drive](census/census.png)
"""

_BEFORE = """\
    python -m results.census.before

lists the censuses in the history of this page. The scheduler changed between them, and so did the
definition of *kept*: until seed 2477, the late requests of all groups of a set counted together. If
a seed is listed more than once, it ran again with a later scheduler.
"""


_DRIVES = """\
A disk has its speed, size, transfer rate of the outer tracks, seek times (track to track and mean),
buffer with the number of its segments, and queue depth. *Ageing* is the positioning time in seconds
that a command gains per second of waiting. A *write cache for* N ms writes back after the disk has
been idle for that long; without a time it writes back immediately and in order. A shingled disk
*cleans* for the given time after that many scattered writes.

A flash drive has its dies and pages, the times of a read, a program and an erasure, the rate of its
link, its write buffer, and its spare area. N *reads in a row* are served by a die before a waiting
program. A drive that *suspends* stops an erasure for a read within the given time.

*Behind virtio-blk*, a command takes up to the first time longer. One command in the given number
also has a tail of one or more time slices of the second time, two on average.
"""


def text(found: Mapping) -> str:
    """Return the page in Markdown."""
    head = _HEAD.format(
        seed=found["seed"],
        drives=len(found["drives"]),
        kernel=found["measured_with"]["kernel"],
        speed=SPEED,
        kept=KEPT,
        late=1 / LATE,
    )
    parts = [filled(head), _all(found), late(found), *_workloads(found)]
    parts += ["## Seeds drawn before", filled(_BEFORE), _before()]
    parts += ["## The drives", filled(_DRIVES), _drives(found)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _all(found: Mapping) -> str:
    """Say how many sets of reservations each scheduler keeps, of all drives and workloads."""
    every = [
        (name, ways) for name, drives in found["workloads"].items() for ways in drives.values()
    ]
    sets = [ways for _, ways in every]
    word = sum(keeps_its_word(ways[WAYS[0].name], name) for name, ways in every)
    return (
        f"**In total.** Of {len(sets)} sets of reservations each scheduler keeps:"
        f" {_by_way(sets, keeps)}.\n{WAYS[0].title} keeps its own promise in {word} of them: at"
        f" most 1 in {1 / FEW:.0f} of each group is late, or a single one, and 1 in"
        f" {1 / LATE:.0f} beside the deep writer on flash."
        "\n\n**All requests.** Requests beyond a reservation do not conform and have no guaranteed"
        " latency.\nIf they counted as well, each scheduler would keep:"
        f" {_by_way(sets, keeps_all)}."
    )


def _by_way(sets: list[Mapping], kept: Callable[[Mapping], bool]) -> str:
    return ", ".join(f"{way.title} {sum(kept(ways[way.name]) for ways in sets)}" for way in WAYS)


def late(found: Mapping) -> str:
    """Say how many requests are late under HTBS, and where more than one in 1000 are."""
    sets = [
        (each, drive, ways)
        for each in WORKLOADS
        for drive, ways in found["workloads"].get(each.name, {}).items()
    ]
    every = [ways[WAYS[0].name] for _, _, ways in sets]
    after = [afterwards(numbers) for numbers in every]
    beyond = sum(not in_time(numbers, FEW) for numbers in after)
    text = (
        f"**Late under {WAYS[0].title}:** {_together(every)} conforming requests. After the first"
        f" {EARLY} seconds of all jobs, in which HTBS learns the drive, {_together(after)} are"
        f" late. More than 1 in {1 / FEW:.0f} of a group, and more than a single one, are late then"
        f" in {beyond} of {len(sets)} sets."
    )
    return "\n".join([filled(text), *_again(sets, found["again"])])


def _again(sets: list[tuple[Workload, str, Mapping]], again: Mapping) -> list[str]:
    """Say what longer runs show of the sets with many late requests, and of some others."""
    runs = [
        (each, drive, ways, again[each.name][drive])
        for each, drive, ways in sets
        if drive in again.get(each.name, {})
    ]
    many = [its for _, _, ways, its in runs if many_late(ways)]
    drawn = [its for _, _, ways, its in runs if not many_late(ways)]
    text = (
        f"Each set with more than 1 in {1 / FEW:.0f} requests of a group late ran again, {LONGER}"
        " times as long, so that HTBS also learns what the drive does only every few seconds."
        f" {_then(many)} {DRAWN} of the other sets, drawn at random, ran again as well."
        f" {_then(drawn)} On flash beside writes, HTBS by default allows 1 in {1 / LATE:.0f} to be"
        f" late; in these runs `late_one_in_writes` was {1 / FEW:.0f}."
    )
    heads = (
        f"| workload | drive | first run: late | after {EARLY} s | long run under |"
        " late in the time of the first run | after that time |"
    )
    rule = "| --- | ---: | ---: | ---: | --- | ---: | ---: |"
    return ["", filled(text), "", heads, rule, *_rows(runs)]


def _then(its: list[Mapping]) -> str:
    """Say how many are late after the time of the first run."""
    after = [afterwards(each) for each in its]
    beyond = sum(not in_time(each, FEW) for each in after)
    if not its:
        return "There is no such set."
    return (
        f"After the time of the first run, {_together(after)} are late, and in {beyond} of"
        f" {len(its)} sets more than 1 in {1 / FEW:.0f} of a group, and more than a single one."
    )


def _rows(runs: list[tuple[Workload, str, Mapping, Mapping]]) -> list[str]:
    """Return the rows, first those of sets with many late requests."""
    return [
        f"| {each.title} | {drive} | {_together([ways[WAYS[0].name]])} |"
        f" {_together([afterwards(ways[WAYS[0].name])])} | {its['title']} |"
        f" {_one_in(*summed(its, 'early_late', 'early_of'))} | {_together([afterwards(its)])} |"
        for each, drive, ways, its in sorted(runs, key=lambda run: not many_late(run[2]))
    ]


def _together(every: list[Mapping]) -> str:
    """Count the late requests of all groups of some runs."""
    counts = [summed(each) for each in every]
    return _one_in(sum(late for late, _ in counts), sum(of for _, of in counts))


def _one_in(late: int, of: int) -> str:
    """Format late requests of conforming ones."""
    return f"{late:,} of {of:,}" if of else "-"


def _workloads(found: Mapping) -> list[str]:
    parts = []
    for each in WORKLOADS:
        drives = found["workloads"].get(each.name)
        if drives:
            parts += [f"## {each.title}", f"{_count(len(drives))}.", _table(drives)]
            parts += [_worst(found, drives)]
    return parts


def _count(number: int) -> str:
    return "One drive" if number == 1 else f"{number} drives"


def _table(drives: Mapping[str, Mapping[str, Mapping]]) -> str:
    heads = ["scheduler", "kept on", *(column.title for column in COLUMNS)]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for way in WAYS:
        kept = sum(keeps(ways[way.name]) for ways in drives.values())
        rows.append([way.title, f"{kept} of {len(drives)}", *_cells(drives, way.name)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(drives: Mapping[str, Mapping[str, Mapping]], way: str) -> list[str]:
    cells = []
    for column in COLUMNS:
        numbers = middle_and_worst(drives, way, column)
        shown = ["-"] if numbers is None else [column.form.format(each) for each in numbers[:2]]
        cells.append(", ".join(shown))
    return cells


def _worst(found: Mapping, drives: Mapping[str, Mapping[str, Mapping]]) -> str:
    """List the drives on which HTBS does not keep the set."""
    lines = []
    for name, ways in drives.items():
        numbers = ways[WAYS[0].name]
        if not keeps(numbers):
            others = [way.title for way in WAYS[1:] if keeps(ways[way.name])]
            late = ", ".join(
                f"{each['late']:,} of {each['of']:,} of {group}"
                for group, each in numbers["groups"].items()
            )
            lines.append(
                f"- drive {name}: bandwidth / reserved {numbers['kept']:.2f}; late {late}; kept"
                f" under {', '.join(others) or 'no other'}"
            )
    if not lines:
        return f"{WAYS[0].title} keeps the set on each drive."
    return "\n".join([f"{WAYS[0].title} does not keep the set on:", "", *lines])


def _before() -> str:
    rows = ["| seed | day | commit | kept | sets |", "| ---: | --- | --- | ---: | ---: |"]
    every = json.loads(BEFORE.read_text())
    rows += [
        f"| {each['seed']} | {each['day']} | `{each['commit']}` | {each['kept']} | {each['of']} |"
        for each in every
    ]
    return "\n".join(rows)


def _drives(found: Mapping) -> str:
    rows = ["| number | drive |", "|---|---|"]
    return "\n".join([*rows, *(f"| {name} | {its} |" for name, its in found["drives"].items())])
