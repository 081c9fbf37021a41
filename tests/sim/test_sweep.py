"""Order by position on the simulated disk: more throughput, and no conforming request is late.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import OVERLOAD_RANDOM, scattered_writer, steady_reader
from tests.sim.sim import Knobs, run

BY_AGE = Knobs(seeks=False)
READER = steady_reader(60)


def test_a_scattered_writer():
    """With 32 writes of 64 KiB in flight throughput is 1.5 times as high.

    Waits grow by half at most.
    """
    by_age, swept = (run([scattered_writer()], knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.total > 1.5 * by_age.total
    assert swept.clients[0].wait_max < 1.5 * by_age.clients[0].wait_max


def test_all_writes_are_reserved():
    """All writes conform, with a latency of a second, and none is late."""
    outcome = run([scattered_writer(Params(100 << 20, 1 << 20, SECOND))])
    assert outcome.clients[0].conforming == pytest.approx(outcome.clients[0].ios, abs=32)
    assert outcome.late() == 0
    assert outcome.total > 1.5 * run([scattered_writer()], BY_AGE).total


def test_beside_a_reader():
    """No read is later than its 100 ms, and the writer has 1.4 times the throughput, 4.3 MB/s."""
    by_age, swept = (run([READER, scattered_writer()], knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.late() == by_age.late() == 0
    assert swept.clients[0].ios == by_age.clients[0].ios
    assert swept.clients[0].conforming > 0.9 * by_age.clients[0].conforming
    assert swept.rates()[1] > 1.4 * by_age.rates()[1]
    assert swept.rates()[1] > 4.2e6


def test_two_writers():
    """Two writers have equal shares, in turns."""
    by_age, swept = (run([scattered_writer()] * 2, knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.total > 1.45 * by_age.total
    assert swept.rates()[0] == pytest.approx(swept.rates()[1], rel=0.02)


def test_an_overload():
    """Ten random readers with 16 requests in flight each get much more, in runs of 10 to 20."""
    by_age, swept = (run(OVERLOAD_RANDOM, knobs) for knobs in (BY_AGE, Knobs()))
    assert swept.total > 1.8 * by_age.total


def test_a_disk_with_queueing_orders_by_itself():
    """A disk with queueing gets all pending requests: ordering by position costs no throughput."""
    by_age, swept = (run([scattered_writer()], knobs, drive="nearline")
                     for knobs in (BY_AGE, Knobs()))
    assert swept.total >= 0.98 * by_age.total
