"""Devices that claim to seek, and do or do not: claim.c."""

import random
from dataclasses import replace

import pytest

from tests.model.reservation import Params
from tests.sim.drives import draw
from tests.sim.loads import REST, VIRTUAL_DISKS, beside_deep_reads
from tests.sim.sim import HTBS, MS, Client, run

FLASH = replace(HTBS, t_wait=0, seeks=False)
SECONDS = 10


@pytest.mark.parametrize("part", [0.5, 0.9])
@pytest.mark.parametrize("name", VIRTUAL_DISKS)
def test_a_virtual_disk_is_found_not_to_seek(name, part):
    """Others have as much as if the device did not claim to seek; by chance it may be half."""
    drive, rate, latency = VIRTUAL_DISKS[name]
    clients = beside_deep_reads(rate, latency, part, SECONDS)
    claims, known = (run(clients, knobs, SECONDS, drive=drive) for knobs in (HTBS, FLASH))
    assert not claims.whole.seeks
    assert claims.rates()[0] > 0.98 * known.rates()[0]
    assert claims.rates()[1] > 0.4 * known.rates()[1]
    # Most of them are late before the device is known.
    assert claims.clients[0].late < known.clients[0].late + claims.clients[0].conforming / 25


@pytest.mark.parametrize("seed", range(24))
def test_a_drawn_disk_is_found_to_seek(seed):
    """A deep reader and a distant one with one request in flight, on a queue of up to 256."""
    rng = random.Random(f"claim {seed}")
    drive = draw(rng, rng.choice((8, 32, 256)))
    deep = Client(REST, size=4096, depth=rng.choice((4, 16, 64)), shares=True, region=0)
    other = Client(Params(20 * 4096, 4096, 500 * MS), size=4096, region=3)
    assert run([deep, other], HTBS, 30, drive=drive).whole.seeks
