"""The page results/census.md, from the summary alone."""

from collections.abc import Mapping

from results.census.again import LONGER
from results.census.summary import (
    COLUMNS,
    FEW,
    KEPT,
    LATE,
    afterwards,
    keeps,
    middle_and_worst,
    part_late,
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
second to eight: so short a run has the time in it in which HTBS learns what the drive is. A set of
reservations that a drive could not keep is not asked of it.

**Feasible.** A set of reservations is feasible if it could be kept with one request at a time in
the drive: on average it takes nine tenths of the drive's time, by its data sheet, and each latency
is as long as what this group and those with a shorter one take for a request each at worst, behind
the longest request of all others. Cleaning, erasures and a hypervisor's tail (five slices) count. A
write cache does not: whoever holds the others to their part has each write on the medium in time.
The reservations are those of the lab, scaled by the mean time of a random read, and further where
that is not feasible (`results/census/promises.py`). Groups without a reservation share a tenth of
the drive (`default_bw`). In 5.3 the reservations are those of *mixed-disk*
([README.md](README.md#many-readers-with-reservations-that-can-be-kept)).

- *Bandwidth kept* is the smallest part that a group got of its bandwidth, or of what it asked for
  if that is less; what it asked for within its last latency need not be done yet.
- *Late per conforming*: with HTBS and the paper's rule, conforming requests that were late; with
  the others, requests that took longer than the latency.
- *Total over the best that keeps*: what all groups moved, against the best other scheduler that
  keeps what was promised: {kept:.0%} of each bandwidth, and 1 in {late:.0f} late at most. Where no
  other does, the drive does not count; *keeps* says on how many drives a scheduler does.
- *p99 over the latency* is that of the group for which it is largest.

Each cell has the median and the worst drive.

![Bandwidth kept and p99 on each drive](census/census.png)
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
    parts = [head, _all(found), late(found), *_workloads(found), "## The drives", _drives(found)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _all(found: Mapping) -> str:
    """How many sets of reservations each scheduler keeps, over all drives and workloads."""
    sets = [ways for drives in found["workloads"].values() for ways in drives.values()]
    kept = [f"{way.title} {sum(keeps(ways[way.name]) for ways in sets)}" for way in WAYS]
    sets_of = f"Of {len(sets)} sets of reservations each scheduler keeps"
    return f"**In all.** {sets_of}: {', '.join(kept)}."


def late(found: Mapping) -> str:
    """How many are late with HTBS, at first and afterwards, and where more are than one in 1000."""
    sets = [
        (each, drive, ways[WAYS[0].name])
        for each in WORKLOADS
        for drive, ways in found["workloads"].get(each.name, {}).items()
    ]
    every = [numbers for _, _, numbers in sets]
    after = [afterwards(numbers) for numbers in every]
    beyond = sum(some > FEW * of for some, of in after)
    whole = _one_in(sum(each["late"] for each in every), sum(each["of"] for each in every))
    then = _one_in(sum(some for some, _ in after), sum(of for _, of in after))
    text = (
        f"**Late with {WAYS[0].title}.** {whole} conforming requests. After the first {EARLY}"
        f" seconds of a run, in which it learns what the drive is, {then}; more than 1 in 1000 are"
        f" then late in {beyond} of {len(sets)} sets."
    )
    many = [each for each in sets if part_late(each[2]) > FEW]
    return "\n".join([text, *(_many_late(many, found.get("again", {})) if many else [])])


def _many_late(sets: list[tuple[Workload, str, Mapping]], again: Mapping) -> list[str]:
    """The sets of which more than 1 in 1000 were late, and what became of them in a longer run."""
    longer = [again[each.name][drive] for each, drive, _ in sets]
    after = [afterwards(numbers) for numbers in longer]
    beyond = sum(some > FEW * of for some, of in after)
    rows = [
        f"| {each.title} | {drive} | {_one_in(numbers['late'], numbers['of'])} |"
        f" {_one_in(*afterwards(numbers))} | {its['title']} |"
        f" {_one_in(its['early_late'], its['early_of'])} | {_one_in(*afterwards(its))} |"
        for (each, drive, numbers), its in zip(sets, longer, strict=True)
    ]
    text = (
        f"Each set of which more than 1 in 1000 were late ran again, {LONGER} times as long: what a"
        f" drive does once in some seconds has been learned then. After the time of the first run"
        f" {_one_in(sum(some for some, _ in after), sum(of for _, of in after))} are late, more"
        f" than 1 in 1000 in {beyond} of {len(sets)} sets. On flash beside writes the default"
        " promises 1 in 100; there `late_one_in_writes` was set to 1000."
    )
    heads = (
        f"| more than 1 in 1000 late | drive | in all | after {EARLY} s | again, with |"
        " in the time of the first run | after it |"
    )
    return ["", text, "", heads, "| --- | ---: | ---: | ---: | --- | ---: | ---: |", *rows]


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
            lines.append(
                f"- drive {name}: {numbers['kept']:.2f} kept, {numbers['late']:,} of"
                f" {numbers['of']:,} late; kept with {', '.join(others) or 'no other'}"
            )
    if not lines:
        return f"{WAYS[0].title} keeps what was promised on each drive."
    return "\n".join([f"{WAYS[0].title} does not keep what was promised on", "", *lines])


def _drives(found: Mapping) -> str:
    rows = ["| | |", "|---|---|"]
    return "\n".join([*rows, *(f"| {name} | {its} |" for name, its in found["drives"].items())])
