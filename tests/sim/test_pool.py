"""Clients without a reservation of their own, on simulated drives: htbs/core/pool.c."""

import random
from statistics import mean

import pytest

from tests.model.reservation import Params
from tests.sim.drives import draw_plain
from tests.sim.loads import OVERLOAD_RANDOM, REST, poisson, queueing_disk
from tests.sim.sim import MS, Client, run
from tests.sim.times import times


def test_a_stream_keeps_its_locality_beside_a_scattered_writer():
    """A write counts three times, so the stream has three quarters of what the reader leaves.

    How much the quota finds that may be written is a matter of chance, so that is a mean.
    """
    outcomes = [run(queueing_disk(60), drive="nearline", seed=seed) for seed in range(1, 25)]
    for reader, writer, stream in (outcome.clients for outcome in outcomes):
        assert reader.late <= reader.conforming / 50
        assert stream.bytes > 6 * writer.bytes
    assert mean(outcome.clients[1].bytes for outcome in outcomes) > 2.5 * 60 * REST.bw


@pytest.mark.parametrize(("size", "depth"), [(131_072, 32), (65_536, 4)])
def test_a_writer_in_sequence_has_its_share_beside_a_stream(size, depth):
    """The quota holds it back after each write, but not until the write is owed to it."""
    both = {"sequential": True, "size": size, "depth": depth, "shares": True}
    outcome = run([Client(REST, **both), Client(REST, **both, write=True)], seconds=60)
    reader, writer = outcome.rates()
    assert writer > 1.5 * REST.bw
    assert reader > 40 * REST.bw
    assert outcome.clients[1].wait_max < 3000 * MS


@pytest.mark.parametrize("members", [1, 4])
def test_a_pool_has_one_part_in_an_overload(members):
    """As each client with as much reserved, however many share it; and these share it equally."""
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
    """On a disk that reads 1 MiB/s at random, which is what they share, beside a slow reader."""
    rng = random.Random(11)
    disks = [drive for drive in (draw_plain(rng, depth=1) for _ in range(5)) if drive.rpm == 10_000]
    for drive in disks:
        promise = Params(160 << 10, 4096, int(5 * times(drive).longest(4096, False)))
        reader = Client(promise, times=poisson(20, 60), region=36)
        deep = Client(REST, depth=32, shares=True)
        outcome = run([reader, deep], seconds=60, drive=drive)
        assert 0.8 * REST.bw < outcome.rates()[1] < REST.bw
        assert outcome.clients[0].late == 0
