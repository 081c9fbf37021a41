"""The arrival curve and the virtual clock, by hand and at their limits."""

from ctypes import byref
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params
from tests.unit.host import WRAP, CClock, CCurve, CParams
from tests.unit.strategies import BURST, BW, LATENCY, lists, params, within

MS = 10**6
ERA = 1 << 62

# 4096 bytes take 1 ms, and two requests of 4096 bytes are a burst.
PLAIN = Params(4_096_000, 8192, 10 * MS)


class Curve:
    """A curve and its virtual clock, which starts at `v`."""

    def __init__(self, lib, promise: Params, v: int = 0):
        self.lib, self.clock, self.c = lib, CClock(), CCurve()
        self.v = v
        self.read()
        lib.htbs_curve_init(byref(self.c), byref(CParams(*promise)), byref(self.clock), v % WRAP)

    def read(self) -> None:
        """Read the clock."""
        assert self.lib.htbs_clock_read(byref(self.clock), self.v % WRAP) == self.v % WRAP

    def arrive(self, cost: int) -> int:
        """The start tag of a request that arrives now."""
        self.read()
        return self.lib.htbs_curve_arrive(byref(self.c), byref(self.clock), self.v % WRAP, cost)


def test_untagged_requests_are_a_debt_of_a_second_at_most(lib):
    """The debt grows to one second and stops there; a larger debt from before stays."""
    curve = Curve(lib, PLAIN)
    for _ in range(3000):
        lib.htbs_curve_charge_untagged(byref(curve.c), byref(curve.clock), 0, 4096)
    assert curve.c.tat == SECOND
    curve.arrive(4_096_000)
    lib.htbs_curve_charge_untagged(byref(curve.c), byref(curve.clock), 0, 4096)
    assert curve.c.tat == 2 * SECOND


def test_a_burst_conforms_and_the_rest_follows_at_the_rate(lib):
    """Two requests at once conform; the third is entitled after 1 ms, the fourth after 2 ms."""
    curve = Curve(lib, PLAIN)
    assert [curve.arrive(4096) for _ in range(4)] == [0, 0, 1 * MS, 2 * MS]
    assert curve.c.tat == 4 * MS


def test_arriving_later_does_not_help_a_flow_in_debt(lib):
    """The fourth request has the same tag at 0.5 ms as at 0; at 2.5 ms it conforms."""
    for arrival, tag in ((MS // 2, 2 * MS), (2 * MS + MS // 2, 2 * MS + MS // 2)):
        curve = Curve(lib, PLAIN)
        for _ in range(3):
            curve.arrive(4096)
        curve.v = arrival
        assert curve.arrive(4096) == tag


def test_idle_time_is_not_saved_beyond_a_burst(lib):
    """After a long idle time one burst conforms, no more."""
    curve = Curve(lib, PLAIN)
    curve.v = 1000 * MS
    assert [curve.arrive(4096) - curve.v for _ in range(4)] == [0, 0, 1 * MS, 2 * MS]


def test_cost(lib):
    """8192 bytes are the whole burst; 16384 bytes exceed it and are charged to later requests."""
    curve = Curve(lib, PLAIN)
    assert [curve.arrive(8192), curve.arrive(4096)] == [0, 1 * MS]
    curve = Curve(lib, PLAIN)
    assert [curve.arrive(16384), curve.arrive(4096)] == [0, 3 * MS]


def test_charge_for_a_merge(lib):
    """The bytes that a merge adds are charged to later requests."""
    curve = Curve(lib, PLAIN)
    curve.arrive(4096)
    lib.htbs_curve_charge(byref(curve.c), 8192)
    assert curve.arrive(4096) == 2 * MS


def test_remainder_is_carried(lib):
    """4096 bytes at 3 GB/s are 1365 1/3 ns: every third step is 1366 ns."""
    curve = Curve(lib, Params(3 * 10**9, 4096, MS))
    assert [curve.arrive(4096) for _ in range(7)] == [0, 1365, 2730, 4096, 5461, 6826, 8192]


@given(params, within(0, WRAP - 1), st.integers(0, BW[1]), within(0, (1 << 32) - 1, 4096))
def test_no_step_is_inexact(lib, promise, tat, rem, size):
    """From any state, tat + rem/bw moves by exactly size/bw, and rem stays below bw.

    By induction the error of a tag is below 1 ns after 10^9 requests, and after any number.
    """
    bw, rem = promise.bw, rem % promise.bw
    curve = CCurve(CParams(*promise), tat, rem, 0)
    lib.htbs_curve_charge(byref(curve), size)
    moved = (curve.tat - tat) % WRAP
    assert Fraction(moved) + Fraction(curve.rem - rem, bw) == Fraction(size * SECOND, bw)
    assert 0 <= curve.rem < bw


@given(params, within(0, WRAP - 1), st.integers(0, BW[1]), within(0, (1 << 32) - 1, 4096))
def test_a_refund_undoes_a_charge(lib, promise, tat, rem, size):
    """A refund undoes a charge, and returns how far tat moved."""
    curve = CCurve(CParams(*promise), tat, rem % promise.bw, 0)
    lib.htbs_curve_charge(byref(curve), size)
    charged = curve.tat
    assert lib.htbs_curve_refund(byref(curve), size) == (charged - tat) % WRAP
    assert (curve.tat, curve.rem) == (tat, rem % promise.bw)


@pytest.mark.parametrize("bw", [4097, 3 * 10**8 + 7, BW[1]])
def test_no_error_adds_up(lib, bw):
    """Three million requests of growing size, against one multiplication."""
    curve = CCurve(CParams(bw, 4096, MS), 0, 0, 0)
    count, size, step = 3_000_000, 4096, 7
    lib.host_curve_charge_many(byref(curve), size, step, count)
    total = count * size + step * count * (count - 1) // 2
    assert curve.tat == total * SECOND // bw % WRAP
    assert curve.rem == total * SECOND % bw


@given(params, within(0, WRAP - 1, ERA - 1, 2 * ERA - 1),
       lists(st.tuples(within(0, SECOND, 1000), within(4096, 1 << 24, 4097, 65536)), 40))
def test_s_never_falls(lib, promise, v, arrivals):
    """In order of arrival, S does not fall, nor does it lie before v."""
    curve, last = Curve(lib, promise, v), v
    for pause, cost in arrivals:
        curve.v += pause
        distance = (curve.arrive(cost) - last) % WRAP  # of tags that are close, so not negative
        assert distance < WRAP // 2
        last += distance
        assert last >= curve.v


@pytest.mark.parametrize("eras", range(1, 13))
@pytest.mark.parametrize("begin", [0, ERA - 1])
@pytest.mark.parametrize("owing", [False, True])
def test_a_curve_that_slept_is_in_the_past(lib, eras, begin, owing):
    """Floods of others take the virtual clock around 64 bits: an idle flow has a full burst.

    Every step of the clock is shorter than a quarter of the range; a curve may be anywhere in it.
    """
    curve = Curve(lib, PLAIN, begin)
    for _ in range(100 if owing else 1):
        curve.arrive(4096)
    for _ in range(eras):
        curve.v += ERA - 1
        curve.read()
    assert [(curve.arrive(4096) - curve.v) % WRAP for _ in range(3)] == [0, 0, MS]


def test_the_clock_does_not_go_back(lib):
    """The clock ignores a jump into the past, and jumps ahead by the exact distance."""
    clock = CClock()
    assert lib.htbs_clock_advance(byref(clock), 100, 99) == 0
    assert lib.htbs_clock_advance(byref(clock), 100, 100) == 0
    assert lib.htbs_clock_advance(byref(clock), 100, 130) == 30
    assert lib.htbs_clock_read(byref(clock), 101) == 131
    assert clock.drift == 30


@pytest.mark.parametrize(("name", "low", "high"),
                         [("bw", *BW), ("burst", *BURST), ("latency", *LATENCY)])
def test_range_of_parameters(lib, name, low, high):
    """The limits are valid; the numbers beyond them, 0 and the largest number are not."""
    for value, valid in ((low, True), (high, True), (low - 1, False), (high + 1, False),
                         (0, False), (WRAP - 1, False)):
        promise = PLAIN._replace(**{name: value})
        assert lib.htbs_params_valid(byref(CParams(*promise))) == valid


@pytest.mark.parametrize(("weight", "valid"), [(0, True), (1, True), (10_000, True),
                                               (10_001, False), ((1 << 32) - 1, False)])
def test_range_of_weights(lib, weight, valid):
    """0 means no weight."""
    assert lib.htbs_params_valid(byref(CParams(*PLAIN._replace(weight=weight)))) == valid


@pytest.mark.parametrize(("bw", "iops", "most", "valid"), [
    (4096, 1, 0, True), (1 << 40, 1 << 28, 0, True), (0, 1, 0, True), (0, 1 << 28, 0, True),
    (0, 0, 0, False), (4095, 1, 0, False), (4096, (1 << 28) + 1, 0, False),
    (0, (1 << 28) + 1, 0, False), (0, (1 << 32) - 1, 0, False),
    (0, 10, 40_960, True), (0, 10, 40_959, False), (4096, 10, 4096, True),
])
def test_range_of_operations(lib, bw, iops, most, valid):
    """Bytes or operations count; a cap is no less than the reserved bytes/s."""
    promise = PLAIN._replace(bw=bw, iops=iops, max=most)
    assert lib.htbs_params_valid(byref(CParams(*promise))) == valid


@pytest.mark.parametrize(("most", "valid"), [
    (0, True), (PLAIN.bw, True), (1 << 40, True),
    (1, False), (PLAIN.bw - 1, False), ((1 << 40) + 1, False), (WRAP - 1, False),
])
def test_range_of_caps(lib, most, valid):
    """0 means no cap; else it is no less than the bandwidth."""
    assert lib.htbs_params_valid(byref(CParams(*PLAIN._replace(max=most)))) == valid
