"""Clients without a reservation of their own, on simulated drives: htbs/core/pool.c."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from statistics import mean

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.drives import Disk, draw, draw_plain
from tests.sim.loads import OVERLOAD_RANDOM, REST, poisson, queueing_disk
from tests.sim.sim import MS, Client, run
from tests.sim.times import times
from tests.unit.strategies import part


def test_a_stream_keeps_its_locality_beside_a_scattered_writer():
    """A write counts three times, so the stream has three quarters of what the reader leaves.

    How much the quota lets the writer write is a matter of chance, so the mean is checked.
    """
    outcomes = [run(queueing_disk(60), drive="nearline", seed=seed) for seed in range(1, 25)]
    for reader, writer, stream in (outcome.clients for outcome in outcomes):
        assert reader.late <= reader.conforming / 50
        assert stream.bytes > 6 * writer.bytes
    assert mean(outcome.clients[1].bytes for outcome in outcomes) > 2.5 * 60 * REST.bw


STREAMS = {"sequential": True, "size": 65_536, "depth": 4, "shares": True}


def test_a_writer_in_sequence_has_its_share_beside_a_stream():
    outcome = run([Client(REST, **STREAMS), Client(REST, **STREAMS, write=True)], seconds=60)
    reader, writer = outcome.rates()
    assert writer > 1.5 * REST.bw
    assert reader > 40 * REST.bw
    assert outcome.clients[1].wait_max < 1000 * MS


def test_a_writer_that_is_held_back_has_its_turn():
    """A group reads two blocks a second, and the quota holds back the writer for these."""
    rare = Client(Params(40_000, 8192, 500 * MS), times=poisson(2, 60), region=30)
    streams = [Client(REST, **STREAMS), Client(REST, **STREAMS, write=True)]
    outcome = run([rare, *streams], seconds=60, drive="nearline")
    assert outcome.clients[0].late == 0
    assert outcome.rates()[2] > REST.bw / 3
    assert outcome.clients[2].wait_max < 2000 * MS


@pytest.mark.parametrize("depth", [4, 32])
def test_a_shared_reservation_holds_back_none_of_its_clients(depth):
    """Otherwise all but the one with the last conforming request would be limited."""
    writers = [Client(REST, size=131_072, write=True, shares=True),
               Client(REST, size=65_536, depth=depth, write=True, shares=True, region=3)]
    outcome = run(writers, seconds=40)
    assert outcome.clients[0].wait_max < 400 * MS
    assert outcome.clients[1].wait_max < 1000 * MS


@pytest.mark.parametrize("seed", range(part(40)))
def test_without_reservations_no_request_waits_for_long(seed):
    """Random loads. In eight of these 40 sets a request waited until it had expired."""
    rng = random.Random(f"nothing reserved {seed}")
    drive, clients = draw(rng), []
    for place in range(rng.choice((2, 3))):
        habits = {"sequential": rng.random() < 0.5, "write": rng.random() < 0.5,
                  "size": rng.choice((4096, 65_536, 1 << 20)), "depth": rng.choice((1, 4, 16))}
        clients.append(Client(REST, shares=True, region=2 * place, **habits))
    outcome = run(clients, seconds=40, drive=drive)
    assert max(client.wait_max for client in outcome.clients) < 3000 * MS


@pytest.mark.parametrize("members", [1, 4])
def test_a_pool_has_one_part_in_an_overload(members):
    """The pool gets as much as a single client that reserves the same.

    Its members share it equally.
    """
    promise = Params(150_000, 16384, 300 * MS)
    habits = {"depth": 16}
    clients = [Client(promise, shares=True, region=2 * i, **habits) for i in range(members)]
    clients += [Client(promise, region=20 + 2 * i, **habits) for i in range(5)]
    outcome = run([*OVERLOAD_RANDOM[:2], *clients], seconds=120)
    rates = outcome.rates()[2:]
    shared, own = rates[:members], rates[members:]
    assert outcome.whole.overload_ns > 100 * 1000 * MS
    assert sum(shared) == pytest.approx(sum(own) / 5, rel=0.05)
    assert min(shared) == pytest.approx(max(shared), rel=0.1)


def test_what_groups_without_a_reservation_share_makes_no_other_late():
    """Eight disks that read about 1 MiB/s at random, as much as the default reservation.

    Of the eight, one reads a little more than that, one three quarters of it, and the others 0.81
    to 0.95.
    """
    parts = []
    for drive in islice(fast_disks(random.Random(11)), 8):
        promise = Params(160 << 10, 4096, int(5 * times(drive).longest(4096, False)))
        reader = Client(promise, times=poisson(20, 60), region=36)
        deep = Client(REST, depth=32, shares=True)
        outcome = run([reader, deep], seconds=60, drive=drive)
        parts.append(outcome.rates()[1] / REST.bw)
        assert outcome.clients[0].late == 0, str(drive)
    assert all(0.7 < part < 1.1 for part in parts)
    assert sum(0.8 < part < 1 for part in parts) >= 6


def fast_disks(rng: random.Random) -> Iterator[Disk]:
    """Yield drawn disks with 10,000 rpm and without command queueing."""
    while True:
        drive = draw_plain(rng, depth=1)
        if drive.rpm == 10_000:
            yield drive


def test_a_reservation_is_kept_soon_after_an_overload():
    """A slow reader conforms again within seconds, whatever a flow of its pool had meanwhile."""
    overload = [Client(Params(40 * 4096, 16_384, 100 * MS), depth=4, end=20 * SECOND, region=i + 1)
                for i in range(6)]
    stream = Client(REST, sequential=True, size=1 << 20, depth=8, region=10, shares=True,
                    end=22 * SECOND)
    reader = Client(REST, times=range(0, 40 * SECOND, SECOND // 20), shares=True, region=12)
    before, after = (run([*overload, stream, reader], seconds=each) for each in (30, 40))
    assert before.whole.overloads
    assert after.clients[-1].conforming - before.clients[-1].conforming > 0.9 * 20 * 10


def test_a_flow_whose_next_request_is_pending_keeps_the_device_for_its_share():
    """A reader with one request in flight, beside a deep one, and three that are owed theirs."""
    reader, deep = (Client(REST, depth=depth, region=depth, shares=True) for depth in (1, 32))
    owed = [Client(Params(20 * 4096, 8192, 150 * MS), times=poisson(18, 60), region=8 + 2 * i)
            for i in range(3)]
    assert run([reader, replace(deep, region=4), *owed], seconds=60).rates()[0] > 160_000
