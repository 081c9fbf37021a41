"""Each policy on drives that it was not tuned for: python -m tests.sim.census.

Per load and policy, over all drives: the total in the median and at worst, the smallest part of
its bandwidth that a group got which asked for as much, how many conforming requests were late in
the first ten seconds, while the drive is unknown, and how many of those after that.
"""

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from tests.model.reservation import SECOND, Params
from tests.sim.drives import Disk, Flash, draw, draw_flash
from tests.sim.loads import (
    FLASH_NEIGHBOUR,
    FLASH_READ,
    FLASH_WRITE,
    MIXED,
    PAIR,
    REST,
    neighbour,
    poisson,
    queueing_disk,
    steady,
    unlimited,
)
from tests.sim.sim import HTBS, MS, PAPER, Client, Knobs, Run, run
from tests.sim.times import times

SECONDS = 30
FLASH_SECONDS = 12
LEARNS, FLASH_LEARNS = 10, 4  # seconds of these
POLICIES = {"paper": PAPER, "HTBS": HTBS}
HEAD = ("load", "policy", "median MB/s", "worst", "kept", "at first", "late", "of", "worst part")
ROW = "{:28}{:8}{:>12}{:>8}{:>7}{:>10}{:>7}{:>9}{:>12}"


@dataclass(frozen=True)
class Load:
    """Clients, and those of them that ask for as much as they reserved and can have it."""

    clients: list[Client]
    asks: slice

    def kept(self, outcome: Run) -> float:
        """The smallest part of its bandwidth, or of what it asks for, that one of them got.

        All of it, where none asks for as much.
        """
        parts, together = [], {}
        for client, rate in zip(self.clients[self.asks], outcome.rates()[self.asks], strict=True):
            if client.shares:
                together[client.promise] = together.get(client.promise, 0) + rate
            else:
                parts.append(rate / min(client.rate or client.promise.bw, client.promise.bw))
        shared = (rate / promise.bw for promise, rate in together.items())
        return min([*parts, *shared], default=1)

    def late(self, outcome: Run, drive: Disk | Flash) -> tuple[int, int]:
        """Late and conforming requests of reservations that the drive can keep.

        A request that the drive has at once and alone has to be in time.
        """
        stops = isinstance(drive, Disk) and drive.stops(any(each.write for each in self.clients))
        possible = [each for client, each in zip(self.clients, outcome.clients, strict=True)
                    if client.promise.bw < 1 << 30 and stops <= client.promise.latency]
        return sum(each.late for each in possible), sum(each.conforming for each in possible)




def disk_load(rate: float, others: list[Client], drive: Disk) -> Load:
    """A reader at random times, so many a second, with a latency that the drive can keep.

    It is three times as long as the drive takes at worst for the reader's request and the longest
    other one.
    """
    its = times(drive)
    longest = its.longest(4096, False) + max(its.longest(each.size, each.write) for each in others)
    promise = Params(10 * 4096, 4096, int(3 * longest))
    return Load([Client(promise, region=36, times=poisson(rate, SECONDS)), *others], slice(0))


WRITER, STREAM = queueing_disk(SECONDS)[1:]
SCATTERED = Client(Params(64 << 10, 64 << 10, SECOND), depth=32, write=True)
DEEP = Client(REST, depth=32, shares=True)

LOADS = {
    "pair (5.1)": Load(PAIR, slice(1, 2)),
    "mixed": Load(MIXED, slice(7, 11)),
    "unlimited, 7 + 4 (5.3)": Load(unlimited(sequential=True, size=128 << 10), slice(7, 11)),
    "reader, writer, stream": Load(queueing_disk(SECONDS), slice(1, 3)),
    "neighbour": Load(neighbour(SECONDS), slice(2)),
    "reader, random reader": partial(disk_load, 5, [DEEP]),
    "rare reader, random reader": partial(disk_load, 0.5, [DEEP]),
    "rare reader, random writer": partial(disk_load, 0.5, [SCATTERED]),
    "rare reader, writer, stream": partial(disk_load, 0.5, [WRITER, STREAM]),
}


def flash_load(clients: list[Client], drive: Flash) -> Load:
    """A reader beside others, with a latency that the drive can keep.

    Reads wait for what a die has begun: an erasure, or two, as a page may lie behind another read.
    Behind a hypervisor it can have the less bandwidth the longer that makes a read.
    """
    latency, bw, burst = 2 * drive.erase + drive.program + MS, *clients[0].promise[:2]
    if its := drive.hypervisor:
        latency += its.longest
        bw = int(bw * drive.read / (drive.read + its.mean))
    reader = Client(Params(bw, burst, latency))
    return Load([reader, *clients[1:]], slice(1))


def flash_neighbour(clients: list[Client], drive: Flash) -> Load:
    """A reader that asks for half of what the drive reads with one request at a time, no faster.

    What the others share takes a tenth of the drive's time.
    """
    [reader] = flash_load(clients[:1], drive).clients
    other, its = clients[1], times(drive)
    bw = int(reader.size * SECOND / (2 * its.mean(reader.size, False)))
    rest = max(reader.size, int(other.size * SECOND / (10 * its.mean(other.size, other.write))))
    promise, rest = reader.promise._replace(bw=bw), other.promise._replace(bw=rest, burst=64 << 10)
    asks = steady(replace(reader, promise=promise), FLASH_SECONDS)
    return Load([asks, replace(other, promise=rest)], slice(1))


FLASH_LOADS = {
    "reader, four readers": partial(flash_load, FLASH_READ),
    "reader, writer": partial(flash_load, FLASH_WRITE),
    "reader, random writer": partial(flash_neighbour, FLASH_NEIGHBOUR),
}


def measure(asked: Load | Callable[[Disk | Flash], Load], knobs: Knobs,
            drives: list[Disk] | list[Flash]) -> tuple[str, ...]:
    """The columns of a row; asked: of each drive, or a function of the drive.

    Where a policy falls ever farther behind clients that do not wait for it, it keeps nothing of
    what is reserved, and the drive counts in no other column.
    """
    totals, kept, first, late = [], [], 0, []
    for drive in drives:
        flash = isinstance(drive, Flash)
        load = asked(drive) if callable(asked) else asked
        learns, seconds = (FLASH_LEARNS, FLASH_SECONDS) if flash else (LEARNS, SECONDS)
        try:
            before, outcome = (run(load.clients, knobs, each, 1, drive)
                               for each in (learns, seconds))
        except OverflowError:
            kept.append(0)
            continue
        totals.append(outcome.total / 1e6)
        kept.append(load.kept(outcome))
        missed, conforming = load.late(before, drive)
        late_all, conforming_all = load.late(outcome, drive)
        first += missed
        late.append((late_all - missed, conforming_all - conforming))
    worst = max((missed / max(1, conforming) for missed, conforming in late), default=1)
    return (f"{median(totals or [0]):.2f}", f"{min(totals, default=0):.2f}",
            f"{min(kept):.2f}", str(first), str(sum(missed for missed, _ in late)),
            str(sum(conforming for _, conforming in late)), f"{worst:.2%}")


def main() -> None:
    """Draw the drives, and run each load with each policy on each of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drives", type=int, default=30, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--list", action="store_true", help="print the drives")
    parser.add_argument("--flash", action="store_true", help="flash drives, not disks")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    drives = [(draw_flash if args.flash else draw)(rng) for _ in range(args.drives)]
    if args.list:
        print(*drives, sep="\n")
    print(ROW.format(*HEAD))
    for name, load in (FLASH_LOADS if args.flash else LOADS).items():
        for policy, knobs in POLICIES.items():
            print(ROW.format(name, policy, *measure(load, knobs, drives)), flush=True)


if __name__ == "__main__":
    main()
