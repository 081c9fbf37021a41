"""The loads of the simulation, on the simulated drives of tests/simdisk.

A seek and half a revolution of the disk take 13 ms on the average, 26 ms at worst.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scripts.htbsctl.admission import shortfall
from tests.model.reservation import COST_MIN, SECOND, Params
from tests.sim.drives import Disk, draw
from tests.sim.sim import MS, REGION, Client, Plain, run, worst_read

REGIONS = 37  # of 2 GiB, on the disk of 80 GB
NEARLINE_REGIONS = 8381  # on the nearline disk

# The demonstration's: a sequential reader and a random one, as fast as they can.
PAIR = [Client(Params(819_200, 8192, 100 * MS), sequential=True),
        Client(Params(204_800, 8192, 50 * MS))]

# Paper, 5.3: seven sequential readers; and four random readers, no faster than reserved.
MIXED = [*[Client(Params(200_000, 8192, SECOND), sequential=True)] * 7,
         *[Client(Params(40_960, 8192, 200 * MS), rate=40_000)] * 4]


def apart(clients: list[Client]) -> list[Client]:
    """Sequential clients at equal distances on the disk, random ones all over it, as in the lab."""
    gap = (REGIONS - 1) // len(clients)
    return [replace(client, region=gap * place) if client.sequential else
            replace(client, region=0, span=(REGIONS - 1) * REGION)
            for place, client in enumerate(clients)]


# Ten clients with many requests outstanding, which reserve twice what the disk does for them.
OVERLOAD_RANDOM = [Client(Params(28_000 + 9_000 * i, 16384, (200 + 50 * (i % 4)) * MS), depth=16,
                          region=3 * i) for i in range(10)]
OVERLOAD_MIXED = [
    *[Client(Params(4_500_000 + 750_000 * i, 65536, (300 + 50 * i) * MS), sequential=True,
             size=16384, depth=32, region=3 * i) for i in range(5)],
    *[Client(Params(60_000 + 22_500 * i, 16384, (200 + 50 * i) * MS), depth=16, region=15 + 3 * i)
      for i in range(5)]]

# The same with one request at a time: each in time for its latency, but none has its bandwidth.
OVERLOAD_LOOPS = {
    "random": [replace(each, depth=1) for each in OVERLOAD_RANDOM],
    "mixed-depths": [replace(each, depth=1 + 15 * (place % 2))
                     for place, each in enumerate(OVERLOAD_RANDOM)],
    "mixed": [*OVERLOAD_MIXED[:5], *[replace(each, depth=1) for each in OVERLOAD_MIXED[5:]]],
    "all-of-mixed": [replace(each, depth=1) for each in OVERLOAD_MIXED],
}


def overload_on_a_disk(seed: int) -> tuple[Disk, list[Client]]:
    """A drawn disk, and readers of any depth that reserve one and a half to twice what it does."""
    rng = random.Random(seed)
    disk = draw(rng)
    readers = []
    for place in range(rng.randrange(3, 8)):
        sequential, depth = rng.random() < 0.4, rng.choice([1, 1, 4, 16])
        habit = ({"sequential": True, "size": 65536, "region": place} if sequential else
                 {"region": 0, "span": 30 * REGION})
        readers.append(Client(Params(4096, 16384, rng.choice([200, 500, 1000]) * MS), depth=depth,
                              **habit))
    weights = [rng.uniform(0.3, 1) for _ in readers]
    over = rng.uniform(1.5, 2) / sum(weights)
    for place, reader in enumerate(readers):
        alone = run([reader], seconds=5, drive=disk).total
        bw = int(min(0.7, over * weights[place]) * alone)
        readers[place] = replace(reader, promise=reader.promise._replace(bw=bw))
    return disk, readers


def unlimited(**habits: bool | int) -> list[Client]:
    """Paper, 5.3: seven clients reserve more than any disk does, and four 40 KB/s each."""
    return [*[Client(Params(1 << 30, 1 << 30, 100 * MS), **habits)] * 7,
            *[Client(Params(40_960, 8192, 100 * MS), rate=40_960)] * 4]


def steady(client: Client, seconds: int) -> Client:
    """The client, asking for what it has reserved in equal steps, whether or not it gets it."""
    gap = -(-COST_MIN * SECOND // client.promise.bw)
    return replace(client, times=range(0, seconds * SECOND, gap))


def in_steps(rate: int, latency: int, seconds: int, burst: int = 64 << 10) -> Client:
    """A client that reads so many blocks a second, and has reserved a quarter more."""
    return Client(Params(rate * 5 * COST_MIN // 4, burst, latency),
                  times=range(0, seconds * SECOND, SECOND // rate))


def after_an_overload(seconds: int) -> list[Client]:
    """Those of the pair, steady and far apart, have most of the disk; for 6 s a third wants it."""
    third = Client(Params(400 << 10, 64 << 10, 50 * MS), depth=8, begin=20 * SECOND,
                   end=26 * SECOND, region=30)
    return [*apart([steady(client, seconds) for client in PAIR]), third]


def neighbour(seconds: int, bw: int = 64 << 10) -> list[Client]:
    """Those of the pair, steady, beside one that writes at random, with what the disk has left."""
    return [*[steady(client, seconds) for client in PAIR],
            Client(Params(bw, bw, SECOND), depth=32, write=True)]


# What clients without a reservation of their own share.
REST = Params(1 << 20, 1 << 20, SECOND)


def poisson(rate: float, seconds: int, seed: int = 1) -> list[int]:
    """Arrival times of requests that do not depend on completions, ns."""
    rng, now, times = random.Random(seed), 0.0, []
    while (now := now + rng.expovariate(rate) * SECOND) < seconds * SECOND:
        times.append(int(now))
    return times


def bursts(client: Client, count: int, length: int) -> list[Client]:
    """As many clients one after the other, each of which pauses for as long as it was there."""
    return [replace(client, region=3, begin=2 * k * length, end=(2 * k + 1) * length)
            for k in range(count)]


# What comes in bursts beside a reader: reads, and writes.
DEEP = Client(REST, depth=64, think=2000, shares=True)
DEEP_WRITER = replace(DEEP, size=128 << 10, write=True)


def beside_bursts(client: Client, reader: tuple[int, int], seconds: int, length: int,
                  seed: int = 1) -> list[Client]:
    """A reader of so many blocks a second at random times, within a latency, beside bursts.

    It has reserved a fifth more.
    """
    rate, latency = reader
    promise = Params(rate * 6 * COST_MIN // 5, 64 << 10, latency)
    return [Client(promise, times=poisson(rate, seconds, seed)),
            *bursts(client, seconds * SECOND // (2 * length), length)]


# What a virtual disk may be that claims to seek: cloud volumes, an SSD. What it does; how many
# reads a second are reserved, and within what.
VIRTUAL_DISKS = {
    "volume": (Plain(64, 800_000, 1_500_000, SECOND // 3000), 900, 10 * MS),
    "slow volume": (Plain(64, 2_000_000, 5_000_000, SECOND // 3000), 900, 50 * MS),
    "ssd": (Plain(32, 80_000, 120_000, SECOND // 400_000), 20_000, 5 * MS),
}


def beside_deep_reads(rate: int, latency: int, part: float, seconds: int) -> list[Client]:
    """A reader that asks for a part of what it reserved, beside 32 reads at a time."""
    times = poisson(part * rate, seconds)
    reader = Client(Params(rate * COST_MIN, 16 * COST_MIN, latency), times=times)
    return [reader, Client(REST, size=COST_MIN, depth=32, think=2000, shares=True, region=2)]


def queueing_disk(seconds: int, writer: Params | None = None,
                  reader: Params | None = None) -> list[Client]:
    """A slow reader with deadlines, a scattered writer and a sequential reader.

    Where these have no reservation of their own they share one.
    """
    return [Client(Params(160 << 10, 4096, 60 * MS), times=poisson(20, seconds)),
            Client(writer or REST, size=64 << 10, depth=32, write=True, region=3,
                   shares=not writer),
            Client(reader or REST, sequential=True, size=1 << 20, depth=8, region=10,
                   shares=not reader)]


def steady_reader(seconds: int) -> Client:
    """A client that reads 20 blocks a second at random times, far from the first regions."""
    return Client(Params(160 << 10, 4096, 100 * MS), region=36, times=poisson(20, seconds))


def scattered_writer(promise: Params = REST, depth: int = 32) -> Client:
    """A client that writes at random all over the disk, with many requests outstanding."""
    return Client(promise, size=64 << 10, depth=depth, write=True, region=0,
                  span=(REGIONS - 1) * REGION)


# A reader with a latency of one millisecond, and four as fast as the drive allows.
# Groups beside a database, with weights and next to nothing reserved.
ALL_OVER = {"region": 0, "span": (REGIONS - 1) * REGION}
LITTLE = Params(4096, 4096, SECOND)
_MINE = LITTLE._replace(weight=100)
_LATER = 20 * SECOND
BESIDE_A_DATABASE = {
    "stream": Client(_MINE, sequential=True, size=131_072, region=20),
    "reader": Client(_MINE, **ALL_OVER),
    "deep": Client(_MINE, depth=32, **ALL_OVER),
    "writer": Client(_MINE, depth=32, write=True, **ALL_OVER),
    "bursts": Client(_MINE, times=[3 * n * SECOND + i for n in range(13) for i in range(60)],
                     **ALL_OVER),
    "reader later": Client(_MINE, begin=_LATER, **ALL_OVER),
    "deep later": Client(_MINE, begin=_LATER, depth=32, **ALL_OVER),
}


def database_and(drive: str, weight: int, *others: str) -> list[Client]:
    """A database with four random reads at a time, and others.

    It reserves more than its share on a disk, which its weight is part of.
    """
    bandwidth = {"hd080hj": 120_000, "nearline": 250_000}[drive]
    promise = Params(bandwidth, 16_384, 100 * MS, weight=weight)
    return [Client(promise, depth=4, **ALL_OVER), *(BESIDE_A_DATABASE[name] for name in others)]


FLASH_READ = [Client(Params(8 << 20, 4096, MS)),
              *[Client(REST, depth=64, think=2000, region=i, shares=True) for i in range(4)]]


# The same reader with twice the latency, and a writer that makes the drive collect garbage.
FLASH_WRITE = [Client(Params(8 << 20, 4096, 2 * MS)),
               Client(REST, size=128 << 10, depth=64, write=True, think=2000, shares=True)]

# A reader that asks for what it has reserved, and a writer of small blocks at random.
FLASH_NEIGHBOUR = [Client(Params(8 << 20, 64 << 10, 2 * MS)),
                   Client(REST, depth=32, write=True, think=2000, shares=True)]


def until(clients: Sequence[Client], seconds: float) -> list[Client]:
    """The same clients, which stop after some seconds."""
    return [Client(**{**vars(client), "end": int(seconds * SECOND)}) for client in clients]


def put_off(wished: Iterable[float], gap: int, tau: int, seconds: int) -> list[int]:
    """The times of requests that are put off until they conform, ns.

    gap: what one moves the tag on by; tau: how far a request may be before the tag.
    """
    times, tat = [], 0
    for wish in wished:
        time = max(int(wish), tat - tau, *times[-1:])
        if time >= seconds * SECOND:
            break
        tat = max(time, tat) + gap
        times.append(time)
    return times


def conforming(rng: random.Random, promise: Params, rate: float, seconds: int,
               bunch: int = 1) -> list[int]:
    """Arrival times of conforming requests of 4096 bytes, `rate` a second, ns.

    Bunches come at the times of a Poisson process; each request is put off until it conforms.
    """
    def wished() -> Iterator[float]:
        now = 0.0
        while True:
            now += rng.expovariate(rate / bunch) * SECOND
            yield from [now] * bunch

    gap = -(-COST_MIN * SECOND // promise.bw)
    tau = (promise.burst - COST_MIN) * SECOND // promise.bw
    return put_off(wished(), gap, tau, seconds)


def admitted(rng: random.Random) -> list[Params]:
    """A random set of reservations, admitted at 90 % of the disk's worst throughput."""
    capacity = 9 * COST_MIN * SECOND // (10 * worst_read())
    while True:
        weights = [rng.uniform(0.1, 1) for _ in range(rng.randrange(2, 9))]
        total = capacity * rng.uniform(0.5, 1) / sum(weights)
        promises = [Params(max(4096, int(total * weight)), 4096 * rng.choice([1, 1, 2, 4, 8]),
                           rng.choice([60, 100, 200, 500, 1000, 2000]) * MS) for weight in weights]
        if shortfall(promises, capacity, COST_MIN) is None:
            return promises


def boundary(seed: int, seconds: int, bunch: int, greedy: int) -> list[Client]:
    """An admitted set: some clients read sequentially as fast as they can, the others conform."""
    rng = random.Random(seed)
    clients = []
    for place, promise in enumerate(admitted(rng)):
        region, sequential = rng.randrange(REGIONS), rng.random() < 0.3
        times = conforming(rng, promise, promise.bw / COST_MIN * rng.choice([0.5, 1, 2]), seconds,
                           bunch)
        if place < greedy:
            clients.append(Client(promise, sequential=True, depth=rng.choice([1, 4]),
                                  region=region))
        else:
            clients.append(Client(promise, sequential=sequential, times=times, region=region))
    return clients


def crowd(readers: int, depth: int = 1, size: int = 4096, latency: int = 100 * MS,
          bw: int = 1 << 30) -> list[Client]:
    """Sequential readers far from each other, which by default reserve more than any disk does."""
    promise, gap = Params(bw, bw, latency), NEARLINE_REGIONS // readers
    return [Client(promise, sequential=True, depth=depth, size=size, region=gap * place)
            for place in range(readers)]
