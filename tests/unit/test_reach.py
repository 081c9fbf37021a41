"""Whether a pool could have the bandwidth that it reserved: htbs/core/reach.c."""

import random
from ctypes import POINTER, Structure, byref, c_bool, c_uint32, c_uint64
from functools import cache

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit import host
from tests.unit.desk import MS
from tests.unit.host import CParams
from tests.unit.test_parts import CFastest, CPace, parts

FADE = 64  # so many requests judge
DAY = 86_400 * SECOND


class CPaced(Structure):
    """struct htbs_paced."""

    _fields_ = [("units", c_uint32), ("ops", c_uint32)]


class CReach(Structure):
    """struct htbs_reach."""

    _fields_ = [("since", c_uint64), ("busy", c_uint64), ("took", c_uint64), ("had", CPaced),
                ("times", CFastest), ("out", c_bool)]


@cache
def library():
    """The core library, with the prototype of htbs_reach_judge()."""
    lib = host.build()
    lib.htbs_reach_judge.restype = None
    lib.htbs_reach_judge.argtypes = POINTER(CReach), POINTER(CPace), c_uint64
    return lib


class Pool:
    """A pool that reserved so many small requests a second, of which some are in flight."""

    def __init__(self, rate):
        self.reach, self.pace, self.now, self.shortest = CReach(), CPace(), SECOND, None
        params = CParams(*Params(rate * 4096, 65536, 30 * MS))
        parts().htbs_pace_init(byref(self.pace), byref(params), self.now)

    def had(self, took, busy, count=FADE):
        """So many requests have completed, in their mean time, within a time of `busy`."""
        self.now += busy
        self.shortest = min(took, self.shortest or took)
        self.reach = CReach(self.now, busy, count * took, CPaced(count * 8, count),
                            self.reach.times, self.reach.out)
        library().htbs_reach_judge(byref(self.reach), byref(self.pace), self.shortest)
        return self.reach.out


def steps(pool, took, rate, times=2):
    """Requests arrive at a rate of their own, each takes so long."""
    return [pool.had(took, FADE * SECOND // rate) for _ in range(times)][-1]


def loop(pool, took, depth, times=2):
    """A request arrives as another one completes."""
    return [pool.had(took, FADE * took // depth) for _ in range(times)][-1]


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8, 0.9])
def test_a_pool_that_asks_for_less_is_not_held_up(part):
    """It always has requests in flight, and falls behind its pace whatever others do."""
    assert steps(Pool(1000), 3 * MS, int(1000 * part))


@pytest.mark.parametrize("part", [0.5, 0.8])
def test_it_may_be_held_up_once_its_requests_take_as_much_longer_as_it_asks_for_less(part):
    """By then it would be behind with as few requests in flight as it had on an idle device."""
    pool = Pool(1000)
    steps(pool, 3 * MS, int(1000 * part))
    assert steps(pool, int(0.9 * 3 * MS / part), int(1000 * part))
    assert not steps(pool, int(1.1 * 3 * MS / part), int(1000 * part))


@pytest.mark.parametrize("took", [3 * MS, 4 * MS, 12 * MS])
def test_a_closed_loop_that_could_have_its_bandwidth_is_held_up(took):
    """With four at a time, of 3 ms each, it has 1333 a second on an idle device."""
    pool = Pool(1250)
    loop(pool, 3 * MS, 4)
    assert not loop(pool, took, 4)


@pytest.mark.parametrize("took", [3 * MS, 4 * MS, 12 * MS])
def test_a_closed_loop_with_too_few_requests_is_not(took):
    """Not even an idle device gives it 2000 a second."""
    pool = Pool(2000)
    loop(pool, 3 * MS, 4)
    assert loop(pool, took, 4)


def test_the_first_mean_judges_nothing():
    """It may be that of a loaded device; nor does a shorter one than all before."""
    pool = Pool(1500)
    assert not loop(pool, 12 * MS, 4, times=1)
    assert not loop(pool, 3 * MS, 4, times=1)
    assert loop(pool, 3 * MS, 4, times=1)


def test_of_a_device_that_was_always_loaded_the_shortest_request_tells():
    """The mean is taken for twice as long at most."""
    pool = Pool(1250)
    pool.shortest = MS
    assert not loop(pool, 12 * MS, 4)


def test_a_slower_device_is_known_after_two_minutes():
    """What was measured before is forgotten."""
    pool = Pool(1000)
    steps(pool, 3 * MS, 800)
    pool.shortest = 5 * MS
    assert not steps(pool, 6 * MS, 800)
    assert steps(pool, 6 * MS, 800, times=2 * 64 * 800 // FADE)


def test_a_long_time_fits():
    """64 requests of a day each; half of what a slow reservation gives, all of a fast one, none."""
    slow, fast = Pool(1), Pool(1 << 20)
    assert [slow.had(DAY, 2 * FADE * SECOND) for _ in range(2)] == [False, True]
    assert [slow.had(3 * DAY, 2 * FADE * SECOND), slow.had(DAY, DAY)] == [False, True]
    assert not any(fast.had(took, took) for took in (DAY, 1, 0, DAY))
    assert fast.had(DAY, 1000 * DAY)


@pytest.mark.parametrize(("depth", "rate", "out"), [
    (None, 1250, True), (4, 1100, False), (4, 2000, True),
], ids=["at a rate of its own", "a loop", "a loop with too few"])
def test_each_completed_request_tells(flash, depth, rate, out):
    """Of a device that takes 2 to 5 ms for a request, for 1000 of them in a second."""
    flow, rng = flash.init_flow(Params(rate * 4096, 65536, 30 * MS)), random.Random(1)
    sent = []
    for step in range(8000):
        flash.now += MS // 4
        for end, one in [each for each in sent if each[0] <= flash.now]:
            sent.remove((end, one))
            flash.device.complete(flow, one, flash.now)
        for place in range(depth - len(sent) if depth else step % 4 == 0):
            flash.arrive(flow, (step * 8 + place) << 20)
            sent.append((flash.now + rng.randrange(2 * MS, 5 * MS), flash.dispatch()[1]))
    assert flow.view().reach_out == out


def test_the_time_without_a_request_does_not_count(flash):
    """A loop that pauses could have its bandwidth while it runs."""
    flow = flash.init_flow(Params(250 * 4096, 65536, 30 * MS))
    for place in range(2000):
        flash.now += SECOND // 100
        flash.arrive(flow, place << 30)
        flash.serve(4 * MS - 1000)
    assert not flow.view().reach_out
