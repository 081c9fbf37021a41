"""How long a device positions, by queue depth: depth.c."""

from ctypes import POINTER, Structure, byref, c_uint32, c_uint64
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit import host
from tests.unit.strategies import examples

MS = 10**6
STEPS = 6


class CDepth(Structure):
    """struct htbs_depth."""

    _fields_ = [("with_", host.CServiceTime * STEPS)]


class CLoad(Structure):
    """struct htbs_load."""

    _fields_ = [("mean", c_uint64), ("variance", c_uint64)]


@cache
def parts():
    """Return the core library, with the prototypes of depth.c."""
    lib = host.build()
    prototypes = {
        "htbs_depth_init": (POINTER(CDepth), c_uint64),
        "htbs_depth_learn": (POINTER(CDepth), c_uint32, c_uint64),
        "htbs_depth_add": (POINTER(CDepth), c_uint32, c_uint64, POINTER(CLoad)),
    }
    for name, arguments in prototypes.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = None, arguments
    return lib


def step(depth):
    """Return the index of the estimate for a device with `depth` requests."""
    return min(depth.bit_length(), STEPS) - 1


@examples(100)
@given(st.lists(st.integers(0, 20), min_size=STEPS, max_size=STEPS), st.integers(0, 20),
       st.integers(1, 300))
def test_the_last_requests_take_longer_than_the_mean(takes, mean, depth):
    """With d in flight a request takes the time learned for d, if that is more than the mean."""
    lib, estimates, load = parts(), CDepth(), CLoad()
    lib.htbs_depth_init(byref(estimates), 10 * MS)
    for time, ms in zip(estimates.with_, takes, strict=True):
        time.position = ms * MS
    lib.htbs_depth_add(byref(estimates), depth, mean * MS, byref(load))
    last = range(1, min(depth, 63) + 1)  # with more, the device has as many to choose from
    assert load.mean == sum(max(0, takes[step(each)] - mean) * MS for each in last)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7, 8, 31, 32, 63, 64, 1000])
def test_a_time_is_learned_for_the_queue_depth_of_the_device(depth):
    """The other estimates do not change."""
    lib, estimates = parts(), CDepth()
    lib.htbs_depth_init(byref(estimates), 10 * MS)
    for _ in range(1000):
        lib.htbs_depth_learn(byref(estimates), depth, 2 * MS)
    learned = [time.position < 3 * MS for time in estimates.with_]
    assert learned == [each == step(depth) for each in range(STEPS)]


def test_the_deviation_of_the_last_one_counts():
    """The last request is served alone, wherever the drive's head is."""
    lib, estimates, load = parts(), CDepth(), CLoad()
    lib.htbs_depth_init(byref(estimates), 10 * MS)
    estimates.with_[0].deviation = 3 << 10
    lib.htbs_depth_add(byref(estimates), 4, 10 * MS, byref(load))
    assert load.variance == 9
