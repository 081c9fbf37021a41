"""What each mechanism of the rule contributes: python -m tests.sim.ablation >docs/ablation.md

With the names of some mechanisms as arguments, only these are measured.

Each mechanism of ablation.toml is left out in a copy of the tree, which then runs the loads of
`tests.sim` and of the census, and random sets of tenants. A difference is printed if it is larger
than 2 % for a total, a tenth and 3 for late requests, and 0.02 for the part of a reservation that
was kept (for random sets: the part of the sets in which all was kept; with weights: the part of the
share).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from queue import Queue
from statistics import fmean, median
from time import monotonic
from typing import Protocol

from tests.model.reservation import SECOND, Params
from tests.mutants.run import Mutant, copy_tree
from tests.sim import census, tenants
from tests.sim.drives import draw, draw_flash
from tests.sim.loads import (
    ALL_OVER,
    DEEP,
    DEEP_WRITER,
    FLASH_READ,
    FLASH_WRITE,
    LITTLE,
    MIXED,
    OVERLOAD_LOOPS,
    OVERLOAD_MIXED,
    OVERLOAD_RANDOM,
    PAIR,
    REST,
    VIRTUAL_DISKS,
    after_an_overload,
    apart,
    beside_bursts,
    beside_deep_reads,
    boundary,
    crowd,
    database_and,
    in_steps,
    neighbour,
    overload_on_a_disk,
    poisson,
    queueing_disk,
    scattered_writer,
    steady,
    steady_reader,
    unlimited,
)
from tests.sim.sim import HTBS, MS, Client, Knobs, Plain, Stalls, run

SEED, DISKS, OVERLOADED = 77, 30, 6
TOTAL, LATE, KEPT, WAIT = 0.02, 0.1, 0.02, 0.5
MEASURED = f"""\
The loads of `python -m tests.sim` and of `make census` are simulated ({{disks}} disks and
{{flashes}} flash drives, drawn by the seed {SEED}), and {{sets}} random sets of `make tenants`.
The table shows these differences: a total by more than {TOTAL:.0%}, late requests by more than a
tenth and 3, *kept* by more than {KEPT}, and the longest wait by more than {WAIT:.0%}. *Kept* is the
part of the reservation that was kept; for random sets, the part of the sets in which all was kept;
with weights, the part of its share that the larger one has; for a reader beside 32 reads, the part
of its share that it has; in an overload, the smallest part of a reservation over the largest."""
PAGE = """\
# What each mechanism is worth

    python -m tests.sim.ablation >docs/ablation.md

This command made this page. Each mechanism of the core is left out in a copy of the tree
([ablation.toml](../tests/sim/ablation.toml) has the changes).

{measured}

| left out | so that | differences |
|---|---|---|"""
# MB/s, late, conforming, smallest part kept or -1, longest wait in s or 0; empty if requests pile
# up
Row = list[float]


def loads() -> dict[str, tuple[list[list[Client]], int, str]]:
    """Return sets of clients, seconds and the drive of each load."""
    weighted = queueing_disk(60, REST._replace(weight=1), REST._replace(weight=200))
    on_flash = ((500, 2 * MS), 24, 3 * SECOND)
    on_a_disk = ((24, 60 * MS), 60, 5 * SECOND)
    return {
        "pair": ([PAIR], 120, "hd080hj"), "mixed": ([MIXED], 120, "hd080hj"),
        "mixed, apart": ([apart(MIXED)], 120, "hd080hj"),
        "overload, random": ([OVERLOAD_RANDOM], 120, "hd080hj"),
        "overload, mixed": ([OVERLOAD_MIXED], 120, "hd080hj"),
        "unlimited, 4k, apart": ([apart(unlimited(sequential=True))], 60, "hd080hj"),
        "admitted, 2 greedy": ([boundary(seed, 10, 1, 2) for seed in range(60)], 10, "hd080hj"),
        "steady pair": ([apart([steady(client, 120) for client in PAIR])] * 8, 120, "hd080hj"),
        "after an overload": ([after_an_overload(60)] * 3, 60, "hd080hj"),
        "and a random writer": ([neighbour(60)], 60, "hd080hj"),
        "and a reader": ([[steady_reader(120), scattered_writer()]], 120, "hd080hj"),
        "scattered writes": ([[scattered_writer()]], 120, "hd080hj"),
        "seven sequential readers": ([crowd(7)], 60, "nearline"),
        "eight blocks each": ([crowd(7, depth=8)], 60, "nearline"),
        "queueing disk": ([queueing_disk(60)], 60, "nearline"),
        "queueing disk, 1 : 200": ([weighted], 60, "nearline"),
        "flash, reads": ([FLASH_READ], 2, "tlc"), "flash, writes": ([FLASH_WRITE], 4, "tlc"),
        "flash, bursts of reads": ([beside_bursts(DEEP, *on_flash)], 24, "tlc"),
        "flash, bursts of writes": ([beside_bursts(DEEP_WRITER, *on_flash)], 24, "tlc"),
        "bursts of reads": ([beside_bursts(replace(DEEP, depth=32), *on_a_disk, seed)
                             for seed in range(4)], 60, "nearline"),
        "bursts of writes": ([beside_bursts(replace(DEEP, depth=16, write=True), *on_a_disk, seed)
                              for seed in range(4)], 60, "nearline"),
    }


def scope(disks: int) -> dict[str, int]:
    """Return how many drives and random sets are measured if `disks` disks are drawn."""
    return {"disks": disks, "flashes": disks // 5, "sets": 5 * disks}


def measure(disks: int) -> dict[str, Row]:
    """Run each load in this tree, those of the census on `disks` drawn disks."""
    rows, (_, flash_drives, random_sets) = {}, scope(disks).values()
    for name, (sets, seconds, drive) in loads().items():
        knobs = replace(HTBS, t_wait=0) if drive == "tlc" else HTBS
        rows[name] = _unless_they_pile_up(_of_the_drive, sets, knobs, seconds, drive)
    rows["weights, 1 : 3"] = _weighted()
    for drive in ("hd080hj", "nearline"):
        rows[f"beside a database, {drive}"] = _beside_a_database(drive)
    rows["a reader beside 32 reads"] = _reader_beside_a_deep_one()
    rows["beside the idle class"] = _beside_the_background()
    rows["two that ask for more"] = _two_that_ask_for_more()
    rows["more than a flash drive has"] = _more_than_a_flash_drive_has()
    rows["a reader without a pause"] = _reader_without_a_pause()
    rows["a volume that was slow"] = _a_volume_that_was_slow()
    rows["a disk that stalls"] = _a_disk_that_stalls()
    for name in VIRTUAL_DISKS:
        rows[f"claims to seek: {name}"] = _virtual_disk(name)
    for name, clients in OVERLOAD_LOOPS.items():
        rows[f"overload, one at a time, {name}"] = _overload(clients)
    rows[f"{random_sets} random sets"] = _random_sets(random_sets, flash=False)
    rows[f"{random_sets // 2} random sets on flash"] = _random_sets(random_sets // 2, flash=True)
    rng = random.Random(SEED)
    drawn = [draw(rng) for _ in range(disks)]
    flashes = [draw_flash(rng) for _ in range(flash_drives)]
    for name, load in census.LOADS.items():
        cases = [(load(disk) if callable(load) else load, disk) for disk in drawn]
        rows[f"{disks} disks: {name}"] = _unless_they_pile_up(_drawn, cases, 20)
    for name, load in census.FLASH_LOADS.items():
        cases = [(load(flash), flash) for flash in flashes]
        rows[f"{flash_drives} flash drives: {name}"] = _unless_they_pile_up(_drawn, cases, 8)
    rows[f"{OVERLOADED} disks: overload"] = _overload_on_disks()
    return rows


def _unless_they_pile_up(row: Callable[..., Row], *of: object) -> Row:
    """Return the row, or an empty one if the pending requests exceed the simulator's room."""
    try:
        return row(*of)
    except OverflowError:
        return []


def _of_the_drive(sets: list[list[Client]], knobs: Knobs, seconds: int, drive: str) -> Row:
    runs = [run(clients, knobs, seconds, seed, drive) for seed, clients in enumerate(sets, 1)]
    inside = [client for each in runs for client in each.clients]
    return [sum(each.total for each in runs) / len(runs) / 1e6,
            sum(c.late for c in inside), sum(c.conforming for c in inside), -1, 0]


def _weighted() -> Row:
    """Two random readers; the part of its surplus share that the larger weight has."""
    promise = Params(20_000, 8192, SECOND)
    outcome = run([Client(promise._replace(weight=weight), depth=4) for weight in (100, 300)])
    one, other = (rate - promise.bw for rate in outcome.rates())
    return [outcome.total / 1e6, outcome.late(), 1, other / one / 3, 0]


def _beside_a_database(drive: str) -> Row:
    """Groups beside a database that reserves more than its share; the longest wait of readers."""
    totals, late, conforming, wait = [], 0, 0, 0.0
    for weight in (1, 100):
        for others in (("stream", "deep"), ("reader", "stream", "deep"), ("deep", "bursts"),
                       ("stream", "writer"), ("deep", "writer", "reader later"),
                       ("deep", "writer", "deep later")):
            outcome = run(database_and(drive, weight, *others), seconds=40, drive=drive)
            database, *readers = (client for name, client in
                                  zip(("database", *others), outcome.clients, strict=True)
                                  if name != "writer")
            totals.append(outcome.total / 1e6)
            late += database.late
            conforming += database.conforming
            wait = max(wait, *(client.wait_max / SECOND for client in readers))
    return [fmean(totals), late, conforming, -1, wait]


def _beside_the_background() -> Row:
    """A reader beside requests of the idle class, on a disk with command queueing and on flash."""
    idle = Client(Params(4096, 4096, 10**6), idle=True)
    far = replace(idle, region=10)
    promise = Params(160 << 10, 4096, 60 * 10**6)
    reader = Client(promise, times=poisson(20, 60))
    runs = [run([reader, replace(far, **habits)], seconds=60, drive="nearline")
            for habits in ({"depth": 32}, {"depth": 32, "write": True},
                           {"depth": 8, "size": 1 << 20, "sequential": True})]
    tight = Client(Params(8 << 20, 64 << 10, 2 * 10**6))
    runs.append(run([tight, replace(idle, depth=64)], replace(HTBS, t_wait=0), 20, drive="tlc"))
    return [sum(each.total for each in runs) / 1e6, sum(each.clients[0].late for each in runs),
            sum(each.clients[0].conforming for each in runs), -1, 0]


def _two_that_ask_for_more() -> Row:
    """Two groups that submit far more than they reserved, on a device with a queue depth of 32."""
    clients = [Client(LITTLE, depth=100, think=0)] * 2
    knobs = replace(HTBS, t_wait=0, seeks=False)
    outcome = run(clients, knobs, 30, drive=Plain(32, 10**6, 1_200_000))
    return [outcome.total / 1e6, 0, 0, -1, 0]


def _more_than_a_flash_drive_has() -> Row:
    """A reader beside a group that reserves twice what a flash drive can read."""
    reader = in_steps(500, SECOND // 500, 30)
    greedy = Client(Params(1 << 30, 1 << 20, SECOND // 200), size=64 << 10, depth=64, think=2000)
    outcome = run([reader, greedy], replace(HTBS, t_wait=0, seeks=False), 30, drive="tlc")
    return [outcome.total / 1e6, outcome.clients[0].late, outcome.clients[0].conforming, -1, 0]


def _reader_without_a_pause() -> Row:
    """A reader of less than it reserved, whose reads take longer than the interval between them."""
    drive = Plain(128, 2 * MS, 5 * MS, SECOND // 5000)
    reader = in_steps(833, 30 * MS, 20)
    others = Client(REST, depth=64, think=2000, shares=True)
    outcome = run([reader, others], replace(HTBS, t_wait=0, seeks=False), 20, drive=drive)
    return [outcome.total / 1e6, outcome.clients[0].late, outcome.clients[0].conforming, -1, 0]


def _a_volume_that_was_slow() -> Row:
    """A reader beside writes, on a volume that has no credits left for half a minute."""
    drive = Plain(64, SECOND // 3000, MS, SECOND // 3000, slower=10, slow_at=20 * SECOND,
                  fast_at=50 * SECOND)
    reader = in_steps(200, 20 * MS, 120)
    others = Client(REST, depth=32, think=2000, write=True, shares=True)
    outcome = run([reader, others], replace(HTBS, t_wait=0, seeks=False), 120, drive=drive)
    return [outcome.total / 1e6, outcome.clients[0].late, outcome.clients[0].conforming, -1, 0]


def _a_disk_that_stalls() -> Row:
    """Reads of a disk with a queue, beside a reader with a latency below the disk's stalls."""
    reader = Client(Params(100 << 10, 64 << 10, 100 * MS), times=poisson(20, 60))
    others = Client(REST, depth=32, think=2000, region=2, shares=True)
    drive = Stalls("nearline", 5 * SECOND, 300 * MS, every=10 * SECOND)
    outcome = run([reader, others], seconds=60, drive=drive)
    return [outcome.total / 1e6, outcome.clients[0].late, outcome.clients[0].conforming, -1, 0]


def _virtual_disk(name: str) -> Row:
    """A reader beside deep readers, on a device that claims to seek, but does not."""
    drive, rate, latency = VIRTUAL_DISKS[name]
    outcome = run(beside_deep_reads(rate, latency, 0.9, 10), HTBS, 10, drive=drive)
    return [outcome.total / 1e6, outcome.clients[0].late, outcome.clients[0].conforming, -1, 0]


def _reader_beside_a_deep_one() -> Row:
    """A random reader with one request in flight; the part of its half of the disk that it has."""
    reader, deep = Client(LITTLE, **ALL_OVER), Client(LITTLE, depth=32, **ALL_OVER)
    alone = run([reader]).total
    outcome = run([reader, deep])
    wait = max(client.wait_max for client in outcome.clients)
    return [outcome.total / 1e6, outcome.late(), sum(c.conforming for c in outcome.clients),
            2 * outcome.rates()[0] / alone, wait / SECOND]


def _overload(clients: list[Client]) -> Row:
    """Groups that reserve twice the disk; the smallest part of a reservation over the largest."""
    outcome = run(clients)
    parts = [rate / client.promise.bw
             for client, rate in zip(clients, outcome.rates(), strict=True)]
    wait = max(client.wait_max for client in outcome.clients)
    return [outcome.total / 1e6, outcome.late(), sum(c.conforming for c in outcome.clients),
            min(parts) / max(parts), wait / SECOND]


def _random_sets(sets: int, flash: bool) -> Row:
    results = [tenants.measure(seed, flash) for seed in range(SEED, SEED + sets)]
    groups = [group for got in results for group in got]
    kept = sum(not any(group.missed for group in got) for got in results) / sets
    return [1, sum(each.late for each in groups), sum(each.conforming for each in groups), kept, 0]


def _overload_on_disks() -> Row:
    """More is reserved than drawn disks can do; mean of the smallest part over the largest."""
    total, found = 0.0, []
    for seed in range(OVERLOADED):
        disk, readers = overload_on_a_disk(seed)
        outcome = run(readers, seconds=40, drive=disk)
        parts = [rate / reader.promise.bw
                 for reader, rate in zip(readers, outcome.rates(), strict=True)]
        total += outcome.total / 1e6
        found.append(min(parts) / max(parts))
    return [total / OVERLOADED, 0, 0, fmean(found), 0]


def _drawn(cases: list[tuple], seconds: int) -> Row:
    totals, kept, late = [], [], []
    for load, drive in cases:
        outcome = run(load.clients, HTBS, seconds, 1, drive)
        totals.append(outcome.total / 1e6)
        kept.append(load.kept(outcome))
        late.append(load.late(outcome, drive))
    return [median(totals), sum(a for a, _ in late), sum(b for _, b in late), min(kept), 0]


def entries() -> list[Mutant]:
    """Return all mechanisms, in order."""
    with (Path(__file__).parent / "ablation.toml").open("rb") as file:
        return [Mutant(name, test="", **entry) for name, entry in tomllib.load(file).items()]


class Change(Protocol):
    """A change of the core to measure."""

    name: str

    def made(self, tree: Path) -> AbstractContextManager[None]:
        """Make the change in the tree, and revert it afterwards."""


def changed(change: Change, disks: int, tree: Path) -> dict[str, Row]:
    """Return the result of each load in a copy of the tree with a change."""
    command = [sys.executable, "-m", "tests.sim.ablation", "--measure", str(disks)]
    with change.made(tree):
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(tree)})
    if done.returncode:
        raise SystemExit(f"{change.name}: the simulation does not run:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def differences(base: dict[str, Row], other: dict[str, Row]) -> list[str]:
    """List the differences that exceed the bounds above, as "changed instead of base"."""
    found = []
    for name, (total, late, _, kept, wait) in base.items():
        if not other[name]:
            found.append(f"*{name}*: the requests of a client pile up")
            continue
        new_total, new_late, conforming, new_kept, new_wait = other[name]
        parts = []
        if abs(new_total / total - 1) > TOTAL:
            parts.append(f"{new_total:.4g} instead of {total:.4g} MB/s")
        if abs(new_late - late) > max(3, LATE * late):
            parts.append(f"{new_late:.0f} instead of {late:.0f} of {conforming:,.0f} late")
        if abs(min(1, new_kept) - min(1, kept)) > KEPT:
            parts.append(f"{new_kept:.2f} instead of {kept:.2f} kept")
        if abs(new_wait - wait) > WAIT * wait:
            parts.append(f"longest wait {new_wait:.2f} instead of {wait:.2f} s")
        if parts:
            found.append(f"*{name}*: {', '.join(parts)}")
    return found


def compare(changes: Sequence[Change], disks: int) -> Iterator[list[str]]:
    """Yield the differences of each change. Each CPU has a copy of the tree.

    Show the progress if standard error is a terminal.
    """
    base, trees = measure(disks), Queue()
    for number in range(os.cpu_count() or 1):
        trees.put(copy_tree(f"sim-{number}"))

    def one(change: Change) -> list[str]:
        tree = trees.get()
        try:
            return differences(base, changed(change, disks, tree))
        finally:
            trees.put(tree)

    began = monotonic()
    with ThreadPoolExecutor(trees.qsize()) as pool:
        for number, found in enumerate(pool.map(one, changes), 1):
            if sys.stderr.isatty():
                left = (monotonic() - began) / number * (len(changes) - number)
                print(f"{number}/{len(changes)}, {left / 60:.0f} minutes left ", end="\r",
                      file=sys.stderr)
            yield found


def head() -> str:
    """Return the text of the page before the rows of its table."""
    return PAGE.format(measured=MEASURED.format(**scope(DISKS)))


def main() -> None:
    """Measure all mechanisms, or those given, and print a row of the table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a mechanism; all by default")
    parser.add_argument("--measure", type=int, metavar="DISKS", help="this tree only, as JSON")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure)))
        return
    known = entries()
    if unknown := set(args.names) - {each.name for each in known}:
        parser.error(f"no mechanism {', '.join(sorted(unknown))} in tests/sim/ablation.toml")
    chosen = [each for each in known if not args.names or each.name in args.names]
    print(head())
    for mechanism, found in zip(chosen, compare(chosen, DISKS), strict=True):
        print(f"| {mechanism.name} | {mechanism.what} | {'; '.join(found) or '-'} |", flush=True)


if __name__ == "__main__":
    main()
