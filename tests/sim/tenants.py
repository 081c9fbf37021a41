"""Random groups beside random neighbours on random drives: python -m tests.sim.tenants.

A set has one to three groups with reservations, which take at most half of the drive's time and
which the drive can keep, and one to three clients without a reservation. Everything is drawn at
random: read or write, sequential or random, request size, queue depth, and arrival times. So the
sets contain loads that no list has. Each set in which a group did not get its reservation is
printed, worst first.
"""

import argparse
import os
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from tests.model.reservation import SECOND, Params
from tests.sim.drives import Disk, Flash, draw, draw_flash
from tests.sim.loads import REGIONS, REST, put_off
from tests.sim.sim import HTBS, MS, CClient, Client, library, run
from tests.sim.times import times

SECONDS, LEARNS = 100, 10
FLASH_SECONDS, FLASH_LEARNS = 20, 8  # until the write buffer has been full once
FLASH_REGIONS = 3  # of 2 GiB
# When a reservation counts as missed: less than this part of its bytes, or more late requests than
# this after the first seconds. Beside writes on flash one request in 100 may be late by default.
KEPT, LATE_PART, LATE_PART_WRITES, LATE_LEAST = 0.95, 0.001, 0.01, 4
LATENCIES = 3, 3, 5, 10  # multiples of the worst-case time of the drive
HABITS = "steady", "random", "bunches", "pauses", "closed", "deep"
NEIGHBOURS = "random reads", "random writes", "stream", "sequential writes", "for five seconds"


@dataclass(frozen=True)
class Tenant:
    """A client, and its arrival pattern."""

    habit: str
    client: Client

    def __str__(self) -> str:
        its, promise = self.client, self.client.promise
        kind = f"{'writes' if its.write else 'reads'} {its.size >> 10} KiB"
        order = "in sequence" if its.sequential else "at random"
        if its.shares:
            return f"{self.habit}: {kind} {order}, {its.depth} at a time"
        return (f"{self.habit}: {kind} {order}, {promise.bw / its.size:.1f}/s, "
                f"burst {promise.burst // its.size}, {promise.latency / 1e6:.0f} ms")


@dataclass(frozen=True)
class TenantSet:
    """Groups with reservations, neighbours without, and their drive."""

    seed: int
    drive: Disk | Flash
    groups: list[Tenant]
    neighbours: list[Tenant]

    @property
    def clients(self) -> list[Client]:
        """All clients, in order."""
        return [each.client for each in (*self.groups, *self.neighbours)]


@dataclass(frozen=True)
class Got:
    """What a group got: late requests after the first seconds, and the part of its bytes it got."""

    late: int
    conforming: int
    kept: float
    may_be_late: float = LATE_PART

    @property
    def missed(self) -> float:
        """By how much the group missed its reservation: 0 if it was kept."""
        late = self.late / max(1, self.conforming) if self.late >= LATE_LEAST else 0
        return max(0, late - self.may_be_late) + max(0, KEPT - self.kept)

    def __str__(self) -> str:
        return f"{self.late} of {self.conforming} late, {self.kept:.2f} kept"


def arrivals(rng: random.Random, habit: str, promise: Params, size: int,
             seconds: int) -> list[int]:
    """Return the arrival times of conforming requests, ns."""
    gap = -(-size * SECOND // promise.bw)

    def wished() -> Iterator[float]:
        now = 0.0
        while True:
            bunch = rng.choice([1, 2, 4, 8, 16]) if habit == "bunches" else 1
            if habit in ("steady", "pauses"):
                now += 1.02 * gap
                if habit == "pauses" and rng.random() < gap / (5 * SECOND):
                    now += rng.uniform(1, 10) * SECOND
            else:
                now += rng.expovariate(1 / (1.4 * gap * bunch))
            yield from [now] * bunch

    return put_off(wished(), gap, (promise.burst // size - 1) * gap, seconds)


def neighbour(rng: random.Random, flash: bool, seconds: int) -> Tenant:
    """Draw a client without a reservation of its own."""
    habit = rng.choice(NEIGHBOURS)
    small, large = rng.choice([4, 16, 64]) << 10, rng.choice([128, 256 if flash else 1024]) << 10
    sequential = habit in ("stream", "sequential writes")
    write = habit in ("random writes", "sequential writes")
    begin, end = 0, seconds
    if habit == "for five seconds":
        write, begin = rng.random() < 0.5, rng.randrange(seconds)
        end = begin + 5
    return Tenant(habit, Client(
        REST, sequential, large if sequential else small, depth=rng.choice([1, 4, 16, 32, 64]),
        think=2000, write=write, shares=True, begin=begin * SECOND, end=end * SECOND,
        region=rng.randrange(FLASH_REGIONS if flash else REGIONS - 1)))


def reservation(rng: random.Random, drive: Disk | Flash, kind: Client, longest: float,
                part: float) -> Params:
    """Draw the reservation of a client: at most `part` of the drive's time."""
    its, flash = times(drive), isinstance(drive, Flash)
    rate = part * SECOND / its.mean(kind.size, kind.write)
    if flash:
        rate = min(rate / 2, 1500)
    if rng.random() < 0.25:
        rate = min(rate, rng.choice([0.3, 1, 3]))
    burst = rng.choice([1, 1, 2, 4, 8])
    latency = max(rng.choice(LATENCIES) * longest, 3 * burst * its.longest(kind.size, kind.write))
    if flash:
        extra = drive.hypervisor.longest if drive.hypervisor else 0
        latency = max(latency, 2 * (2 * drive.erase + drive.program + MS + extra))
    return Params(max(4096, int(rate * kind.size)), burst * kind.size, int(latency))


def group(rng: random.Random, kind: Client, promise: Params, regions: int, seconds: int) -> Tenant:
    """Draw position and arrivals of a client that submits no more than it reserved."""
    habit = rng.choice(HABITS)
    own = {"promise": promise, "region": rng.randrange(regions)}
    if habit in ("closed", "deep"):
        own |= {"rate": promise.bw, "depth": 4 if habit == "deep" else 1}
    else:
        own |= {"times": arrivals(rng, habit, promise, kind.size, seconds)}
    return Tenant(habit, Client(**{**vars(kind), **own}))


def draw_set(seed: int, flash: bool, seconds: int) -> TenantSet:
    """Draw a set, and a drive that can keep its reservations."""
    rng = random.Random(seed)
    drive = (draw_flash if flash else draw)(rng)
    its = times(drive)
    neighbours = [neighbour(rng, flash, seconds) for _ in range(rng.choice([1, 1, 2, 3]))]
    kinds = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        write = rng.random() < 0.3
        size = rng.choice([4, 4, 8, 16, 64, 64 if flash else 256]) << 10
        kinds.append(Client(REST, rng.random() < 0.4, size, write=write, synced=write))
    longest = sum(its.longest(each.size, each.write) for each in kinds) + max(
        its.longest(each.client.size, each.client.write) for each in neighbours)
    groups = []
    for kind in kinds:
        part = rng.uniform(0.02, 0.5) / len(kinds)
        promise = reservation(rng, drive, kind, longest, part)
        groups.append(group(rng, kind, promise, FLASH_REGIONS if flash else REGIONS - 1, seconds))
    return TenantSet(seed, drive, groups, neighbours)


def asked(client: Client, seconds: int) -> float:
    """Return the load that a client offers, bytes/s."""
    if client.times is not None:
        return len(client.times) * client.size / seconds
    return client.rate


def outcome(its: TenantSet, seconds: int, learns: int) -> list[Got]:
    """Run a set, and return what each group got."""
    first, whole = (run(its.clients, HTBS, each, 1, its.drive) for each in (learns, seconds))
    writes = any(each.write for each in its.clients)
    beside_writes = writes and isinstance(its.drive, Flash)
    may_be_late = LATE_PART_WRITES if beside_writes else LATE_PART

    def got(client: Client, before: CClient, after: CClient) -> Got:
        wanted = min(asked(client, seconds), client.promise.bw) * seconds
        # The last requests may still be in flight.
        had = after.bytes + client.size * (1 + client.promise.burst // client.size)
        return Got(after.late - before.late, after.conforming - before.conforming,
                   min(1, had / wanted) if wanted else 1, may_be_late)

    count = len(its.groups)
    return [got(each.client, before, after) for each, before, after in zip(
        its.groups, first.clients[:count], whole.clients[:count], strict=True)]


def measure(seed: int, flash: bool) -> list[Got]:
    """Run a set. If the policy cannot keep up with an open loop, each group got nothing."""
    seconds, learns = (FLASH_SECONDS, FLASH_LEARNS) if flash else (SECONDS, LEARNS)
    its = draw_set(seed, flash, seconds)
    try:
        return outcome(its, seconds, learns)
    except OverflowError:
        return [Got(0, 0, 0) for _ in its.groups]


def measure_all(seeds: list[int], flash: bool) -> Iterator[tuple[int, list[Got]]]:
    """Run all sets in parallel, and yield the results of each with its seed, in order."""
    library()
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield from zip(seeds, pool.map(partial(measure, flash=flash), seeds, chunksize=4),
                       strict=True)


def missed(results: list[tuple[int, list[Got]]]) -> list[tuple[int, list[Got]]]:
    """Return the sets in which a reservation was missed, worst first."""
    found = [each for each in results if any(got.missed for got in each[1])]
    return sorted(found, key=lambda each: -max(got.missed for got in each[1]))


def describe(seed: int, results: list[Got], flash: bool) -> str:
    """Describe a set and its results in some lines."""
    its = draw_set(seed, flash, FLASH_SECONDS if flash else SECONDS)
    lines = [f"set {seed}: {its.drive}"]
    lines += [f"  {each}: {got}{'  <--' if got.missed else ''}"
              for each, got in zip(its.groups, results, strict=True)]
    return "\n".join([*lines, *(f"  beside {each}" for each in its.neighbours)])


def main() -> None:
    """Draw sets, run each of them, and print those in which a reservation was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=600, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first set")
    parser.add_argument("--flash", action="store_true", help="flash drives, not disks")
    args = parser.parse_args()
    seeds = list(range(args.seed, args.seed + args.sets))
    results = list(measure_all(seeds, args.flash))
    found = missed(results)
    for seed, got in found:
        print(describe(seed, got, args.flash))
    groups = sum(len(got) for _, got in results)
    late = sum(each.late for _, got in results for each in got)
    conforming = sum(each.conforming for _, got in results for each in got)
    print(f"{len(found)} of {args.sets} sets, of {groups} groups, were not kept; "
          f"{late} of {conforming:,} requests late")


if __name__ == "__main__":
    main()
