"""Order by position on the simulated disk: what it gains, and that it costs nobody a deadline.

The numbers that these bars are about are printed by `python -m tests.sim`.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import OVERLOAD_RANDOM, poisson, scattered_writer
from tests.sim.sim import MS, Client, Knobs, run

BY_AGE = Knobs(seeks=False)
READER = Client(Params(160 << 10, 4096, 100 * MS), times=poisson(20, 60), region=36)


def test_alone():
    """Half as much again for 32 writes of 64 KiB under way; none waits for more than two sweeps."""
    by_age, swept = (run([scattered_writer()], knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.total > 1.5 * by_age.total
    assert swept.clients[0].wait_max < 1.5 * by_age.clients[0].wait_max


def test_all_that_it_writes_is_reserved():
    """All conform, with a second for each: none is late."""
    outcome = run([scattered_writer(Params(100 << 20, 1 << 20, SECOND))])
    assert outcome.clients[0].conforming == pytest.approx(outcome.clients[0].ios, abs=32)
    assert outcome.late() == 0
    assert outcome.total > 1.5 * run([scattered_writer()], BY_AGE).total


def test_beside_a_reader():
    """Who wants each block within 100 ms: none is late, and the writer has half as much again."""
    by_age, swept = (run([READER, scattered_writer()], knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.late() == by_age.late() == 0
    assert swept.clients[0].ios == by_age.clients[0].ios
    assert swept.clients[0].conforming > 0.9 * by_age.clients[0].conforming
    assert swept.rates()[1] > 1.5 * by_age.rates()[1]


def test_two_of_them():
    """They have the same share, by turns."""
    by_age, swept = (run([scattered_writer()] * 2, knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.total > 1.45 * by_age.total
    assert swept.rates()[0] == pytest.approx(swept.rates()[1], rel=0.02)


def test_an_overload():
    """Ten who read at random, 16 at a time, get twice as much."""
    by_age, swept = (run(OVERLOAD_RANDOM, knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.total > 1.9 * by_age.total


def test_a_disk_that_orders_by_itself_is_left_to_it():
    """With queueing it has all that is pending: the same to the nanosecond."""
    by_age, swept = (run([scattered_writer()], knobs, drive="nearline")
                     for knobs in (BY_AGE, Knobs()))
    assert bytes(swept.clients[0]) == bytes(by_age.clients[0])
