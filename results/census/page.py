"""The page results/census.md, from the summary alone."""

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
from results.lab.run import SPEED

_HEAD = """\
# HTBS on drives that it was not tuned for

    make census GUEST=1 SEED={seed} DRIVES={drives}

wrote this page. {drives} drives were drawn at random by the seed {seed} (`tests/sim/drives.py`):
disks of 5400 to 15000 rpm with or without command queueing (depth 4 to 256), ageing, a volatile
write cache, or shingled tracks, and each third a flash drive with 1 to 32 dies; one in four is
behind virtio-blk, without a budget and with jitter. Each ran each of the workloads below in a
guest with Debian's kernel {kernel}, in virtual time ({speed} instructions a nanosecond), for half a
second to eight, on disks the first one for twenty: so short a run has the time in it in which HTBS
learns what the drive is, and in which BFQ raises the weight of what has just begun. A set of
reservations that a drive could not keep is not asked of it.

**Feasible.** A set of reservations is feasible if it could be kept with one request at a time in
the drive: on average it takes nine tenths of the drive's time, by its data sheet, and each latency
is as long as what this group and those with a shorter one take for a request each at worst, behind
the longest request of all others. Cleaning, erasures and a hypervisor's tail (five slices) count. A
write cache does not: whoever holds the others to their part has each write on the medium in time.
The reservations are those of the lab, scaled by the mean time of a random read, and further where
that is not feasible (`results/census/promises.py`). HTBS is told of them, and the others are not,
as they have no such setting. Groups without a reservation share a tenth of the drive: for that
`default_bw` is set from its data sheet, where there are such groups. In 5.3 the reservations are
those of *mixed-disk*
([README.md](README.md#many-readers-with-reservations-that-can-be-kept)).

- *Bandwidth kept* is the smallest part that a group got of its bandwidth, or of what it asked for
  if that is less; what it asked for within its last latency need not be done yet.
- *Late per conforming*: with HTBS and the paper's rule, conforming requests that were late; with
  the others, which know of no reservation, requests that took longer than the latency; of the group
  with the most.
- *Total over the best that keeps*: what all groups moved, against the best other scheduler that
  keeps what was promised: {kept:.0%} of each bandwidth, and of each group 1 in {late:.0f} late at
  most, or one. Where no other does, the drive does not count; *keeps* says on how many drives a
  scheduler does.
- *p99 over the latency* is that of the group for which it is largest.

Each cell has the median and the worst drive.

![Bandwidth kept and p99 on each drive](census/census.png)
"""

_BEFORE = """\
    python -m results.census.before

lists what the history of this page has. The scheduler changed between them, and so did what counts
as kept: until 2477 the late requests of all groups of a set counted together. A seed that is there
more than once was run again with a later scheduler.
"""


def text(found: Mapping) -> str:
    """The page, in Markdown."""
    head = _HEAD.format(
        seed=found["seed"],
        drives=len(found["drives"]),
        kernel=found["measured_with"]["kernel"],
        speed=SPEED,
        kept=KEPT,
        late=1 / LATE,
    )
    parts = [head, _all(found), late(found), *_workloads(found)]
    parts += ["## Seeds drawn before", _BEFORE, _before(), "## The drives", _drives(found)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _all(found: Mapping) -> str:
    """How many sets of reservations each scheduler keeps, over all drives and workloads."""
    every = [
        (name, ways) for name, drives in found["workloads"].items() for ways in drives.values()
    ]
    sets = [ways for _, ways in every]
    word = sum(keeps_its_word(ways[WAYS[0].name], name) for name, ways in every)
    return (
        f"**In all.** Of {len(sets)} sets of reservations each scheduler keeps:"
        f" {_by_way(sets, keeps)}.\n{WAYS[0].title} keeps its own promise in {word} of them: 1 in"
        f" {1 / FEW:.0f} of each group late at most, or one; 1 in {1 / LATE:.0f} beside writes on"
        " flash."
        f"\n\n**All requests.** What a group asks for beyond its reservation does not conform, and"
        " nothing is promised for it. If all of its requests counted, each scheduler would keep:"
        f" {_by_way(sets, keeps_all)}."
    )


def _by_way(sets: list[Mapping], kept: Callable[[Mapping], bool]) -> str:
    return ", ".join(f"{way.title} {sum(kept(ways[way.name]) for ways in sets)}" for way in WAYS)


def late(found: Mapping) -> str:
    """How many are late with HTBS, at first and afterwards, and where more are than one in 1000."""
    sets = [
        (each, drive, ways)
        for each in WORKLOADS
        for drive, ways in found["workloads"].get(each.name, {}).items()
    ]
    every = [ways[WAYS[0].name] for _, _, ways in sets]
    after = [afterwards(numbers) for numbers in every]
    beyond = sum(not in_time(numbers, FEW) for numbers in after)
    text = (
        f"**Late with {WAYS[0].title}.** {_together(every)} conforming requests. After the first"
        f" {EARLY} seconds of all jobs, in which it learns what the drive is, {_together(after)};"
        f" more than 1 in {1 / FEW:.0f} of a group, and more than one, are then late in {beyond} of"
        f" {len(sets)} sets."
    )
    return "\n".join([text, *_again(sets, found["again"])])


def _again(sets: list[tuple[Workload, str, Mapping]], again: Mapping) -> list[str]:
    """What became in a longer run of sets with many late, and of some others."""
    runs = [
        (each, drive, ways, again[each.name][drive])
        for each, drive, ways in sets
        if drive in again.get(each.name, {})
    ]
    many = [its for _, _, ways, its in runs if many_late(ways)]
    drawn = [its for _, _, ways, its in runs if not many_late(ways)]
    text = (
        f"Each set with more than 1 in {1 / FEW:.0f} late of a group ran again, {LONGER} times as"
        f" long: what a drive does once in some seconds has been learned then. {_then(many)} So did"
        f" {DRAWN} of the other sets, drawn at random. {_then(drawn)} On flash beside writes the"
        f" default promises 1 in {1 / LATE:.0f}; there `late_one_in_writes` was set to"
        f" {1 / FEW:.0f}."
    )
    heads = (
        f"| set | drive | late in all | after {EARLY} s | again, with |"
        " in the time of the first run | after it |"
    )
    return ["", text, "", heads, "| --- | ---: | ---: | ---: | --- | ---: | ---: |", *_rows(runs)]


def _then(its: list[Mapping]) -> str:
    """Late after the time of the first run."""
    after = [afterwards(each) for each in its]
    beyond = sum(not in_time(each, FEW) for each in after)
    if not its:
        return "There is none."
    return (
        f"After the time of the first run {_together(after)} are late, and in {beyond} of"
        f" {len(its)} sets more than 1 in {1 / FEW:.0f} of a group, and more than one."
    )


def _rows(runs: list[tuple[Workload, str, Mapping, Mapping]]) -> list[str]:
    """First the sets of which many were late."""
    return [
        f"| {each.title} | {drive} | {_together([ways[WAYS[0].name]])} |"
        f" {_together([afterwards(ways[WAYS[0].name])])} | {its['title']} |"
        f" {_one_in(*summed(its, 'early_late', 'early_of'))} | {_together([afterwards(its)])} |"
        for each, drive, ways, its in sorted(runs, key=lambda run: not many_late(run[2]))
    ]


def _together(every: list[Mapping]) -> str:
    """Late requests of all groups of some runs."""
    counts = [summed(each) for each in every]
    return _one_in(sum(late for late, _ in counts), sum(of for _, of in counts))


def _one_in(late: int, of: int) -> str:
    """Late requests of conforming ones."""
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
    heads = ["scheduler", "keeps", *(column.title for column in COLUMNS)]
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
    """On which drives HTBS does not keep what was promised."""
    lines = []
    for name, ways in drives.items():
        numbers = ways[WAYS[0].name]
        if not keeps(numbers):
            others = [way.title for way in WAYS[1:] if keeps(ways[way.name])]
            late = "; ".join(
                f"{each['late']:,} of {each['of']:,} of {group}"
                for group, each in numbers["groups"].items()
            )
            lines.append(
                f"- drive {name}: {numbers['kept']:.2f} kept, late {late}; kept with"
                f" {', '.join(others) or 'no other'}"
            )
    if not lines:
        return f"{WAYS[0].title} keeps what was promised on each drive."
    return "\n".join([f"{WAYS[0].title} does not keep what was promised on", "", *lines])


def _before() -> str:
    rows = ["| seed | day | commit | kept | sets |", "| ---: | --- | --- | ---: | ---: |"]
    every = json.loads(BEFORE.read_text())
    rows += [
        f"| {each['seed']} | {each['day']} | `{each['commit']}` | {each['kept']} | {each['of']} |"
        for each in every
    ]
    return "\n".join(rows)


def _drives(found: Mapping) -> str:
    rows = ["| | |", "|---|---|"]
    return "\n".join([*rows, *(f"| {name} | {its} |" for name, its in found["drives"].items())])
