"""Loads of the simulation, on the simulated drives of tests/simdisk.

On the disk of 80 GB a seek and half a revolution take 13 ms on average, and 26 ms in the worst
case.
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

# The load of the demonstration: a sequential and a random reader, both as fast as they can.
PAIR = [Client(Params(819_200, 8192, 100 * MS), sequential=True),
        Client(Params(204_800, 8192, 50 * MS))]

# The paper's 5.3: seven sequential readers, and four random readers that read no more than
# reserved.
MIXED = [*[Client(Params(200_000, 8192, SECOND), sequential=True)] * 7,
         *[Client(Params(40_960, 8192, 200 * MS), rate=40_000)] * 4]


def apart(clients: list[Client]) -> list[Client]:
    """Place sequential clients at equal distances and random ones all over the disk."""
    gap = (REGIONS - 1) // len(clients)
    return [replace(client, region=gap * place) if client.sequential else
            replace(client, region=0, span=(REGIONS - 1) * REGION)
            for place, client in enumerate(clients)]


# Ten clients with many requests in flight, which reserve twice as much as the disk can do for them.
OVERLOAD_RANDOM = [Client(Params(28_000 + 9_000 * i, 16384, (200 + 50 * (i % 4)) * MS), depth=16,
                          region=3 * i) for i in range(10)]
OVERLOAD_MIXED = [
    *[Client(Params(4_500_000 + 750_000 * i, 65536, (300 + 50 * i) * MS), sequential=True,
             size=16384, depth=32, region=3 * i) for i in range(5)],
    *[Client(Params(60_000 + 22_500 * i, 16384, (200 + 50 * i) * MS), depth=16, region=15 + 3 * i)
      for i in range(5)]]

# The same clients, all or some of them in closed loops of one request: each request is in time for
# its latency, but no client gets its bandwidth.
OVERLOAD_LOOPS = {
    "random": [replace(each, depth=1) for each in OVERLOAD_RANDOM],
    "mixed-depths": [replace(each, depth=1 + 15 * (place % 2))
                     for place, each in enumerate(OVERLOAD_RANDOM)],
    "mixed": [*OVERLOAD_MIXED[:5], *[replace(each, depth=1) for each in OVERLOAD_MIXED[5:]]],
    "all-of-mixed": [replace(each, depth=1) for each in OVERLOAD_MIXED],
}


def overload_on_a_disk(seed: int) -> tuple[Disk, list[Client]]:
    """Return a drawn disk, and readers of any depth that reserve 1.5 to 2 times what it can do."""
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
    """The paper's 5.3: seven clients reserve more than any disk can do, and four 40 KB/s each."""
    return [*[Client(Params(1 << 30, 1 << 30, 100 * MS), **habits)] * 7,
            *[Client(Params(40_960, 8192, 100 * MS), rate=40_960)] * 4]


def steady(client: Client, seconds: int) -> Client:
    """Return the client as an open loop at its reserved bandwidth, in equal intervals."""
    gap = -(-COST_MIN * SECOND // client.promise.bw)
    return replace(client, times=range(0, seconds * SECOND, gap))


def in_steps(rate: int, latency: int, seconds: int, burst: int = 64 << 10) -> Client:
    """Return a client that reads `rate` blocks/s in equal intervals and reserves 5/4 of it."""
    return Client(Params(rate * 5 * COST_MIN // 4, burst, latency),
                  times=range(0, seconds * SECOND, SECOND // rate))


def after_an_overload(seconds: int) -> list[Client]:
    """Two steady, distant readers take most of the disk; a third wants a lot of it for 6 s."""
    third = Client(Params(400 << 10, 64 << 10, 50 * MS), depth=8, begin=20 * SECOND,
                   end=26 * SECOND, region=30)
    return [*apart([steady(client, seconds) for client in PAIR]), third]


def neighbour(seconds: int, bw: int = 64 << 10) -> list[Client]:
    """The two steady readers of the pair, and a random writer that gets what the disk has left."""
    return [*[steady(client, seconds) for client in PAIR],
            Client(Params(bw, bw, SECOND), depth=32, write=True)]


# The reservation that clients without one of their own share.
REST = Params(1 << 20, 1 << 20, SECOND)


def poisson(rate: float, seconds: int, seed: int = 1) -> list[int]:
    """Return the arrival times of an open loop at random times, ns."""
    rng, now, times = random.Random(seed), 0.0, []
    while (now := now + rng.expovariate(rate) * SECOND) < seconds * SECOND:
        times.append(int(now))
    return times


def bursts(client: Client, count: int, length: int) -> list[Client]:
    """Return `count` clients with one burst each, in turn, and a pause as long after each burst."""
    return [replace(client, region=3, begin=2 * k * length, end=(2 * k + 1) * length)
            for k in range(count)]


# Bursts beside a reader: deep reads, and deep writes.
DEEP = Client(REST, depth=64, think=2000, shares=True)
DEEP_WRITER = replace(DEEP, size=128 << 10, write=True)


def beside_bursts(client: Client, reader: tuple[int, int], seconds: int, length: int,
                  seed: int = 1) -> list[Client]:
    """Return a reader beside bursts of `client`, an open loop at random times.

    reader: how many blocks it reads a second, and its latency. It reserves 6/5 of its rate.
    """
    rate, latency = reader
    promise = Params(rate * 6 * COST_MIN // 5, 64 << 10, latency)
    return [Client(promise, times=poisson(rate, seconds, seed)),
            *bursts(client, seconds * SECOND // (2 * length), length)]


# Examples of virtual disks that claim to seek: two cloud volumes and an SSD. Each has a drive, the
# number of reads a second that are reserved, and their latency.
VIRTUAL_DISKS = {
    "volume": (Plain(64, 800_000, 1_500_000, SECOND // 3000), 900, 10 * MS),
    "slow volume": (Plain(64, 2_000_000, 5_000_000, SECOND // 3000), 900, 50 * MS),
    "ssd": (Plain(32, 80_000, 120_000, SECOND // 400_000), 20_000, 5 * MS),
}


def beside_deep_reads(rate: int, latency: int, part: float, seconds: int) -> list[Client]:
    """Return a reader that submits `part` of its reservation, beside 32 reads in flight."""
    times = poisson(part * rate, seconds)
    reader = Client(Params(rate * COST_MIN, 16 * COST_MIN, latency), times=times)
    return [reader, Client(REST, size=COST_MIN, depth=32, think=2000, shares=True, region=2)]


def queueing_disk(seconds: int, writer: Params | None = None,
                  reader: Params | None = None) -> list[Client]:
    """A slow reader with deadlines, a scattered writer and a sequential reader.

    The last two share a reservation if they have none of their own.
    """
    return [Client(Params(160 << 10, 4096, 60 * MS), times=poisson(20, seconds)),
            Client(writer or REST, size=64 << 10, depth=32, write=True, region=3,
                   shares=not writer),
            Client(reader or REST, sequential=True, size=1 << 20, depth=8, region=10,
                   shares=not reader)]


def steady_reader(seconds: int) -> Client:
    """Return a client that reads 20 blocks a second at random times, far from the first regions."""
    return Client(Params(160 << 10, 4096, 100 * MS), region=36, times=poisson(20, seconds))


def scattered_writer(promise: Params = REST, depth: int = 32) -> Client:
    """Return a client that writes at random all over the disk, with many requests in flight."""
    return Client(promise, size=64 << 10, depth=depth, write=True, region=0,
                  span=(REGIONS - 1) * REGION)


# Groups beside a database, which have weights and tiny reservations.
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
    """Return a database with four random reads in flight, and other groups beside it.

    Its reservation is larger than its share of a disk, to which its weight entitles it.
    """
    bandwidth = {"hd080hj": 120_000, "nearline": 250_000}[drive]
    promise = Params(bandwidth, 16_384, 100 * MS, weight=weight)
    return [Client(promise, depth=4, **ALL_OVER), *(BESIDE_A_DATABASE[name] for name in others)]


# A reader with a latency of one millisecond, and four as fast as the drive allows.
FLASH_READ = [Client(Params(8 << 20, 4096, MS)),
              *[Client(REST, depth=64, think=2000, region=i, shares=True) for i in range(4)]]


# The same reader with twice the latency, and a writer that makes the drive collect garbage.
FLASH_WRITE = [Client(Params(8 << 20, 4096, 2 * MS)),
               Client(REST, size=128 << 10, depth=64, write=True, think=2000, shares=True)]

# A reader that submits as much as it reserved, and a random writer of small blocks.
FLASH_NEIGHBOUR = [Client(Params(8 << 20, 64 << 10, 2 * MS)),
                   Client(REST, depth=32, write=True, think=2000, shares=True)]


def until(clients: Sequence[Client], seconds: float) -> list[Client]:
    """Return the same clients, which stop after some seconds."""
    return [Client(**{**vars(client), "end": int(seconds * SECOND)}) for client in clients]


def put_off(wished: Iterable[float], gap: int, tau: int, seconds: int) -> list[int]:
    """Return the arrival times of requests that are delayed until they conform, ns.

    gap: by how much a request advances the tag; tau: how far a request may be ahead of the tag.
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
    """Return arrival times of conforming requests of 4096 bytes, `rate` a second on average, ns.

    Bunches of requests arrive as a Poisson process; each request is delayed until it conforms.
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
    """Return a random set of reservations that fits 90 % of the disk's worst-case throughput."""
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
    """Sequential readers far from each other; by default each reserves more than any disk has."""
    promise, gap = Params(bw, bw, latency), NEARLINE_REGIONS // readers
    return [Client(promise, sequential=True, depth=depth, size=size, region=gap * place)
            for place in range(readers)]
