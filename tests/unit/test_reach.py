"""Whether a pool is behind its pace because of surplus: htbs/core/reach.c."""

import random
from ctypes import POINTER, Structure, byref, c_bool, c_uint8, c_uint32, c_uint64
from functools import cache

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit import host
from tests.unit.desk import MS
from tests.unit.host import CParams
from tests.unit.test_parts import CFastest, CPace, parts

FADE = 64  # the number of requests in a mean
DAY = 86_400 * SECOND


class CPaced(Structure):
    """struct htbs_paced."""

    _fields_ = [("units", c_uint32), ("ops", c_uint32)]


class CSpread(Structure):
    """struct htbs_spread."""

    _fields_ = [("mean", c_uint64), ("deviation", c_uint64), ("count", c_uint32)]


class CReach(Structure):
    """struct htbs_reach."""

    _fields_ = [("since", c_uint64), ("busy", c_uint64), ("took", c_uint64), ("had", CPaced),
                ("times", CFastest), ("gap", CSpread), ("number", CSpread), ("least", c_uint8),
                ("keeps_pace", c_bool), ("unhindered", c_bool)]


@cache
def library():
    """Return the core library, with the prototypes of reach.c."""
    lib = host.build()
    lib.htbs_reach_judge.restype = None
    lib.htbs_reach_judge.argtypes = POINTER(CReach), POINTER(CPace), c_bool
    lib.htbs_reach_own_rate.restype = c_bool
    lib.htbs_reach_own_rate.argtypes = [POINTER(CReach)]
    return lib


class Pool:
    """A pool that reserved `rate` small requests a second, with some of them in flight."""

    def __init__(self, rate):
        self.reach, self.pace, self.now, self.least = CReach(), CPace(), SECOND, True
        params = CParams(*Params(rate * 4096, 65536, 30 * MS))
        parts().htbs_pace_init(byref(self.pace), byref(params), self.now)

    def had(self, took, busy, count=FADE):
        """`count` requests, which took `took` on average, completed within a time of `busy`."""
        self.now += int(busy)
        self.reach.since, self.reach.busy = self.now, int(busy)
        self.reach.took, self.reach.had = int(count * took), CPaced(count * 8, count)
        library().htbs_reach_judge(byref(self.reach), byref(self.pace), self.least)
        return self.reach.unhindered

    @property
    def own_rate(self):
        """Return true if its requests arrive at a rate of their own."""
        return library().htbs_reach_own_rate(byref(self.reach))


# The ratios of means to the shortest one, because others delay requests more or less.
VARY = [1, 1.15, 1.3, 1.05, 1.2, 1.1, 1, 1.25] * 3


def arrive(pool, took, rate, vary=VARY):
    """Requests arrive at a rate of their own, and each takes `took`."""
    return [pool.had(took * by, FADE * SECOND / rate) for by in vary][-1]


def loop(pool, took, depth, vary=VARY):
    """A closed loop: a request arrives when another one completes."""
    return [pool.had(took * by, FADE * took * by / depth) for by in vary][-1]


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8, 0.9, 0.98])
def test_a_pool_that_submits_less_than_it_reserved_is_unhindered(part):
    """It always has requests in flight, and is behind its pace whatever others do."""
    pool = Pool(1000)
    assert arrive(pool, 3 * MS, int(1000 * part))
    assert arrive(pool, 12 * MS, int(1000 * part))
    assert pool.own_rate


@pytest.mark.parametrize("part", [0.5, 0.9])
def test_random_arrivals_on_a_steady_device_are_at_a_rate_of_their_own(part):
    """The rate of 64 of them varies by an eighth, and so does the number in flight."""
    pool, rng = Pool(1000), random.Random(1)
    pool.had(2 * MS, FADE * MS / part)
    unhindered = [pool.had(2 * MS * rng.uniform(1, 1.02),
                           FADE * MS / part * max(0.5, rng.gauss(1, 1 / 8)))
                  for _ in range(400)]
    assert pool.own_rate
    assert sum(unhindered[16:]) > 300 * (1 if part < 0.9 else 0.7)


@pytest.mark.parametrize("took", [4 * MS, 12 * MS])
def test_a_closed_loop_that_could_have_its_bandwidth_is_held_up(took):
    """With four in flight, 3 ms each, it has 1333 a second on an idle device."""
    pool = Pool(1250)
    loop(pool, 3 * MS, 4, [1] * 12)
    assert not loop(pool, took, 4)
    assert not pool.own_rate


@pytest.mark.parametrize(("took", "rate", "unhindered"), [
    (3 * MS, 2000, True), (5 * MS, 2000, True), (30 * MS, 2000, True), (3 * MS, 1600, True),
    (4 * MS, 1600, True), (5 * MS, 1600, False), (5 * MS, 1770, True), (9 * MS, 1770, False),
])
def test_a_closed_loop_with_too_few_requests_is_unhindered(took, rate, unhindered):
    """It has 1333 a second on an idle device; if it lacks little of its rate it keeps most."""
    pool = Pool(rate)
    loop(pool, 3 * MS, 4, [1] * 12)
    assert loop(pool, took, 4, [1, 1]) is unhindered
    assert not pool.own_rate


def test_the_shortest_mean_is_known_once_the_limits_are_at_their_least():
    """Others may have loaded the device all the time; a shorter mean tells that they did."""
    pool = Pool(2000)
    pool.least = False
    assert not loop(pool, 3 * MS, 4, [1] * 40)
    pool.least = True
    assert not loop(pool, 3 * MS, 4, [1] * 7)
    assert loop(pool, 3 * MS, 4, [1])
    assert not loop(pool, 2 * MS, 4, [1] * 8)
    pool = Pool(2500)
    loop(pool, 3 * MS, 4, [1] * 12)
    assert not loop(pool, 2 * MS, 4, [1] * 8)
    assert loop(pool, 2 * MS, 4, [1])


def test_the_first_mean_judges_nothing():
    """It may be that of a loaded device. A mean shorter than all before judges nothing either."""
    pool = Pool(1000)
    assert not arrive(pool, 12 * MS, 900, [1])
    assert arrive(pool, 12 * MS, 900)
    assert not arrive(pool, 3 * MS, 900, [1])
    assert arrive(pool, 3 * MS, 900, [1])


def test_a_few_means_judge_nothing():
    """The first mean after a pause has more in flight than others."""
    pool = Pool(1000)
    assert [arrive(pool, 3 * MS, 900, [by]) for by in VARY[:8]] == [False] * 7 + [True]


def test_a_rate_that_has_just_fallen_is_held_up():
    """A reader has its most requests in flight, or submits less; which of them is known later."""
    pool = Pool(1000)
    assert arrive(pool, 3 * MS, 950)
    assert not arrive(pool, 12 * MS, 500, [1])
    assert arrive(pool, 12 * MS, 500, [1, 1.1] * 12)


def test_a_pool_that_has_its_bandwidth_falls_behind_no_further():
    """Surplus may have delayed it before, so it is not unhindered."""
    pool = Pool(1000)
    assert not arrive(pool, 3 * MS, 1001)
    assert pool.reach.keeps_pace
    arrive(pool, 3 * MS, 990)
    assert not pool.reach.keeps_pace


def test_a_slower_device_is_known_after_two_minutes():
    """Older measurements are forgotten."""
    pool = Pool(1000)
    loop(pool, 3 * MS, 4, [1] * 12)
    assert not loop(pool, 6 * MS, 4)
    assert loop(pool, 6 * MS, 4, [1] * (2 * 64 * 4000 // 6 // FADE + 2))


def test_a_long_time_fits():
    """64 requests of a day each, or of a thousand; hardly any of a fast reservation."""
    slow, fast = Pool(1), Pool(1 << 20)
    assert [slow.had(DAY, 2 * FADE * SECOND) for _ in range(12)][-1]
    assert slow.had(1000 * DAY, 2 * FADE * SECOND)
    assert not any(fast.had(took, took) for took in (DAY, 1, 0, DAY))
    assert not fast.had(DAY, 1000 * DAY)


@pytest.mark.parametrize(("depth", "rate", "unhindered"), [
    (None, 1250, True), (4, 1100, False), (4, 2000, True),
], ids=["at a rate of its own", "a loop", "a loop with too few"])
def test_each_completed_request_is_a_sample(flash, depth, rate, unhindered):
    """The device takes 2 to 5 ms for a request, and 1000 requests arrive in a second."""
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
    assert flow.view().reach_unhindered == unhindered


def test_the_time_without_a_request_does_not_count(flash):
    """A loop that pauses could have its bandwidth while it runs."""
    flow = flash.init_flow(Params(250 * 4096, 65536, 30 * MS))
    for place in range(2000):
        flash.now += SECOND // 100
        flash.arrive(flow, place << 30)
        flash.serve(4 * MS - 1000)
    assert not flow.view().reach_unhindered
