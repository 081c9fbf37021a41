"""More is reserved than a device that does not seek has: no long queue makes others late."""

from dataclasses import replace

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import REST, VIRTUAL_DISKS, in_steps, poisson
from tests.sim.sim import HTBS, MS, Client, Plain, run
from tests.sim.test_volume import FEW, KNOBS, beside

# More than twice what the lab's drive can read.
ALL = Client(Params(1 << 30, 1 << 20, 5 * MS), size=64 << 10, depth=64, think=2000)


@pytest.mark.parametrize("others", [
    [ALL], [ALL] * 2, [replace(ALL, promise=ALL.promise._replace(latency=100 * MS))],
    [ALL, beside(REST, size=64 << 10)],
], ids=["one", "two", "with a long latency", "beside others"])
def test_a_reservation_of_more_than_the_drive_makes_no_other_late(others):
    """Before this was fixed, nine of ten requests of the other group were late.

    The drive is used as much as before. Until the scheduler has learned that, 506 to 584 are late,
    with seeds 1 to 5; after two seconds none is.
    """
    load = [in_steps(500, 2 * MS, 60), *others]
    first, both = (run(load, KNOBS, each, drive="tlc") for each in (2, 60))
    assert first.clients[0].late < 600
    assert both.clients[0].late == first.clients[0].late
    assert both.total > 400e6


@pytest.mark.parametrize("knobs", [KNOBS, HTBS], ids=["known", "claims to seek"])
@pytest.mark.parametrize("rate", [10_000, 1 << 18])
def test_a_group_that_reserves_far_too_much_is_relaxed(rate, knobs):
    """Before this was fixed, a group with 65,536/s made all others late.

    It had too few requests in flight to be relaxed.
    """
    drive, _, _ = VIRTUAL_DISKS["volume"]
    reader = Client(Params(225 * 4096, 65_536, 10 * MS), times=poisson(200, 40))
    big = Client(Params(rate * 4096, 1 << 20, 10 * MS), depth=64, think=2000, region=2)
    first, both = (run([reader, big], knobs, each, drive=drive) for each in (20, 40))
    assert both.clients[0].late - first.clients[0].late < 40
    assert both.clients[1].ios - first.clients[1].ios > 1000 * 20


@pytest.mark.parametrize("depth", [1, 4])
def test_a_reservation_gets_what_another_leaves_of_a_volume(depth):
    """Before this was fixed, the reader had 5 % of its reservation.

    The other reader has many requests in flight.
    """
    few, many = (Client(Params(rate * 4096, 64 << 10, 30 * MS), depth=at_a_time, think=2000)
                 for rate, at_a_time in ((100, depth), (400, 64)))
    both = run([few, many], KNOBS, 60, drive=replace(FEW, burst=0))
    assert both.clients[0].ios > 0.95 * 100 * 60
    assert both.clients[1].ios > 0.95 * 200 * 60


@pytest.mark.parametrize("write", [False, True])
def test_the_default_reservation_makes_no_other_late_for_ever(write):
    """The default reservation and another one together exceed the volume by a fiftieth."""
    reader = in_steps(50, 30 * MS, 240)
    both = run([reader, beside(REST, write=write)], KNOBS, 240, drive=FEW)
    assert both.clients[0].late < 0.3 * both.clients[0].conforming
    assert both.clients[0].ios > 0.98 * 50 * 240


def test_a_reader_that_submits_less_than_it_reserved_is_not_relaxed():
    """It always has requests in flight, so it is behind its pace, but it slows no other down."""
    drive = Plain(128, 2 * MS, 5 * MS, SECOND // 5000)
    reader = Client(Params(875 * 4096, 64 << 10, 30 * MS),
                    times=range(0, 60 * SECOND, SECOND // 833))
    assert run([reader, beside(REST)], KNOBS, 60, drive=drive).clients[0].late < 20


def test_a_reservation_is_kept_again_once_others_have_ended():
    """A flow is relaxed no longer than it is behind its pace."""
    half = Client(Params(250 << 20, 1 << 20, 10 * MS), size=64 << 10, depth=64, think=2000)
    other = replace(half, end=20 * SECOND)
    after = beside(REST, size=64 << 10, begin=20 * SECOND)
    before, both = (run([half, other, after], KNOBS, each, drive="tlc") for each in (25, 60))
    assert both.clients[0].bytes - before.clients[0].bytes > 0.98 * (250 << 20) * 35
