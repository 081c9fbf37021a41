"""How long a device stalls now and then for a single request: stall.c."""

from ctypes import POINTER, Structure, byref, c_bool, c_uint64
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from tests.model.reservation import SECOND
from tests.unit import host

MEMORY = 64 * SECOND
MOST = SECOND  # HTBS_HORIZON

times = st.integers(1, 3 * SECOND)


class CStall(Structure):
    """struct htbs_stall."""

    _fields_ = [(name, c_uint64) for name in ("longest", "second", "before", "since", "over",
                                               "lasted")]


@cache
def parts():
    """Return the core library, with the prototypes of stall.c."""
    lib = host.build()
    lib.htbs_stall_learn.argtypes = POINTER(CStall), c_uint64, c_uint64
    lib.htbs_stall_learn.restype = None
    lib.htbs_stall_time.argtypes = (POINTER(CStall),)
    lib.htbs_stall_time.restype = c_uint64
    lib.htbs_stall_note.argtypes = POINTER(CStall), c_uint64, c_uint64, c_uint64
    lib.htbs_stall_note.restype = None
    lib.htbs_stall_delays.argtypes = POINTER(CStall), c_uint64, c_uint64
    lib.htbs_stall_delays.restype = c_bool
    return lib


def learn(stall: CStall, now: int, took: int) -> int:
    """A request has completed; return how long a stall takes now."""
    parts().htbs_stall_learn(byref(stall), now, took)
    return parts().htbs_stall_time(byref(stall))


@given(st.lists(st.tuples(st.integers(1, 20 * SECOND), times), min_size=1, max_size=40))
def test_a_stall_was_recently_seen_twice(steps):
    """A stall is at most the second longest time of two minutes.

    It is at least the second longest time of the current interval.
    """
    stall, now, seen, began = CStall(), MEMORY, [], 0
    for passed, took in steps:
        now += passed
        time = learn(stall, now, took)
        if stall.since != began:
            began = stall.since
        seen.append((now, min(took, MOST)))
        of_late = sorted(some for at, some in seen if now - at <= 2 * MEMORY + 20 * SECOND)
        assert time <= (of_late[-2] if len(of_late) > 1 else 0)
        current = sorted(some for at, some in seen if at >= began)
        assert time >= (current[-2] if len(current) > 1 else 0)


@given(times, times)
def test_a_stall_is_known_for_a_minute(one, other):
    """It is forgotten after two minutes."""
    stall, now = CStall(), 5 * MEMORY
    assert learn(stall, now, one) == 0
    known = min(one, other, MOST)
    assert learn(stall, now + 1, other) == known
    assert learn(stall, now + MEMORY, 0) == known
    assert learn(stall, now + MEMORY + 2, 0) == known
    assert learn(stall, now + 2 * MEMORY + 4, 0) == 0


@given(times, times, st.integers(1, 4 * MEMORY))
def test_the_longest_time_of_the_last_minute_is_a_bound(one, other, pause):
    """It is a bound if it was seen twice.

    The time of a minute's first request counts for little.
    """
    stall, now = CStall(), 5 * MEMORY
    learn(stall, now, one)
    learn(stall, now + 1, other)
    learn(stall, now + MEMORY + 2 + pause, 1)
    assert stall.longest == max(1, min(one, other, MOST))


@given(times)
def test_a_stall_is_forgotten_while_the_device_is_idle(one):
    """It is forgotten even if no request completes meanwhile."""
    stall, now = CStall(), 5 * MEMORY
    learn(stall, now, one)
    learn(stall, now + 1, one)
    assert learn(stall, now + 3 * MEMORY, 0) == 0


def stalled(stall: CStall, now: int, took: int, own: int) -> None:
    """The device took `took` for a request, `own` of which is believed."""
    learn(stall, now, took)
    parts().htbs_stall_note(byref(stall), now, took, own)


@given(times, st.integers(1, SECOND))
def test_a_stall_delays_requests_for_as_long_again(took, own):
    """It delays nothing later or with a longer latency, and nothing if there was no stall."""
    stall, now = CStall(), 5 * MEMORY
    stalled(stall, now, took, own)
    lasted = max(0, took - own)

    def delays(arrived, latency=1):
        return parts().htbs_stall_delays(byref(stall), arrived, latency)

    assert not delays(now + lasted)
    assert delays(now + lasted - 1) == (lasted > 0)
    assert delays(now - SECOND) == (lasted > 0)
    assert delays(now, lasted) == (lasted > 0)
    assert not delays(now, lasted + 1)
    learn(stall, now + 2 * MEMORY, 1)
    assert delays(now - SECOND) == (lasted > 0)


def test_a_stall_delays_however_often_it_was_seen():
    stall, now = CStall(), 5 * MEMORY
    for _ in range(3):
        stalled(stall, now, SECOND // 10, 1)
        assert stall.over == now + SECOND // 10 - 1
        now += SECOND


def test_a_request_that_waited_for_a_stall_is_no_stall():
    stall, now = CStall(), 5 * MEMORY
    stalled(stall, now, SECOND // 10, 1)
    stalled(stall, now + SECOND // 100, SECOND // 20, 1)
    assert (stall.over, stall.lasted) == (now + SECOND // 10 - 1, SECOND // 10 - 1)
    stalled(stall, now + SECOND // 100, SECOND // 5, 1)
    assert stall.over == now + SECOND // 100 + SECOND // 5 - 1
