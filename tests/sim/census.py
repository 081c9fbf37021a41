"""Each policy on drives that it was not tuned for: python -m tests.sim.census.

For each load and policy, over all drives: the median and the smallest total, the smallest part of
its bandwidth that a group got although it submitted that much, the number of conforming requests
that were late in the first ten seconds, while the drive is unknown, and of those that were late
afterwards.
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
    """Clients; `asks` are those that submit as much as they reserved and can have it."""

    clients: list[Client]
    asks: slice

    def kept(self, outcome: Run) -> float:
        """Return the smallest part of its bandwidth, or of its rate, that one of them got.

        It is 1 if none of the clients submits as much as it reserved.
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
        """Return late and conforming requests, for the reservations that the drive can keep.

        These are the reservations with a latency within which a read that is dispatched at once and
        alone completes.
        """
        stops = isinstance(drive, Disk) and drive.stops(any(each.write for each in self.clients))
        possible = [each for client, each in zip(self.clients, outcome.clients, strict=True)
                    if client.promise.bw < 1 << 30 and stops <= client.promise.latency]
        return sum(each.late for each in possible), sum(each.conforming for each in possible)




def disk_load(rate: float, others: list[Client], drive: Disk) -> Load:
    """A reader at random times, `rate` a second, with a latency that the drive can keep.

    The latency is three times the worst-case time of the reader's request and the longest other
    request.
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

    A read waits until a die has finished its erasure. It may wait for two erasures, because its
    page may lie behind another read. Behind a hypervisor the reader reserves less bandwidth, in
    proportion to how much longer its reads take.
    """
    latency, bw, burst = 2 * drive.erase + drive.program + MS, *clients[0].promise[:2]
    if its := drive.hypervisor:
        latency += its.longest
        bw = int(bw * drive.read / (drive.read + its.mean))
    reader = Client(Params(bw, burst, latency))
    return Load([reader, *clients[1:]], slice(1))


def flash_neighbour(clients: list[Client], drive: Flash) -> Load:
    """An open loop that submits half of what the drive reads with one request in flight.

    The reservation that the others share takes a tenth of the drive's time.
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
    """Return the columns of a row; asked: a load, or a function that returns the load for a drive.

    If a policy cannot keep up with an open loop, none of the reservation counts as kept, and the
    drive counts in no other column.
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
