"""Admission: the exact answer, checked by hand and against fractions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htbsctl.admission import least_capacity, left, requests, shortfall, total_rate
from tests.model.reservation import SECOND, Params
from tests.unit.host import CAdmission, CParams
from tests.unit.strategies import any_promise, examples, within

MS = 10**6
CAPACITY_MAX = 1 << 50


def admit(lib, promises: list[Params], capacity: int, c_max: int) -> tuple[int, int, int] | None:
    """Return the result of the C code: None if admissible, or (bw, bytes, within)."""
    test = CAdmission()
    lib.htbs_admission_begin(test, capacity, c_max)
    for promise in promises:
        lib.htbs_admission_add(test, CParams(*promise))
    good = lib.htbs_admission_end(test)
    out = test.shortfall
    answer = (out.bw, out.bytes, out.within)
    assert good == (answer == (0, 0, 0))
    return None if good else answer


@pytest.mark.parametrize(("promise", "size", "places"), [
    (Params(0, 65_536, 200 * MS, iops=100), 4096, 20),
    (Params(0, 1 << 20, 200 * MS, iops=100), 4096, 256),
    (Params(400 << 10, 16_384, 100 * MS), 4096, 10),
    (Params(400 << 10, 16_384, 100 * MS), 65_536, 1),
    (Params(400 << 10, 65_536, 100 * MS, iops=20), 4096, 16),
    (Params(4096, 4096, MS), 4096, 1),
])
def test_requests_in_flight(lib, promise, size, places):
    """Bandwidth times latency, but at least a burst; by operations if these give fewer."""
    assert lib.htbs_admission_requests(CParams(*promise), size) == places == requests(promise, size)


@given(promise=any_promise, size=st.sampled_from([4096, 8192, 65_536, 1 << 20]))
def test_requests_in_flight_of_any_reservation(lib, promise, size):
    """The number is too large by one at most, because times are rounded up to microseconds."""
    got, want = lib.htbs_admission_requests(CParams(*promise), size), requests(promise, size)
    most = requests(promise._replace(latency=promise.latency // 1000 * 1000 + 1000), size) + 1
    assert min(want, 1 << 24) <= got <= min(most, 1 << 24)


@pytest.mark.parametrize(("one", "other", "together"), [
    (1, 2, 3), ((1 << 62) - 1, 1, 1 << 62), (1 << 62, 1 << 62, 1 << 62)])
def test_a_sum_does_not_wrap(lib, one, other, together):
    """The sum stays at its maximum, also where the total reserved on a disk is shown."""
    assert lib.htbs_admission_sum(one, other) == together


def test_no_reservations(lib):
    """Without reservations no capacity is needed."""
    assert admit(lib, [], 0, 4096) is None


def test_a_single_reservation(lib):
    """64 KiB are due at 100 ms, behind a request of 4 KiB: 69,632 bytes in 0.1 s."""
    one = [Params(200_000, 65_536, 100 * MS)]
    assert admit(lib, one, 696_320, 4096) is None
    assert admit(lib, one, 696_319, 4096) == (0, 1, 100 * MS)
    assert admit(lib, one, 655_360, 4096) == (0, 4096, 100 * MS)


def test_rates(lib):
    """Rates above the capacity cannot be kept, however late the deadlines are."""
    two = [Params(200_000, 4096, SECOND), Params(800_000, 4096, 2 * SECOND)]
    assert admit(lib, two, 1_000_000, 4096) is None
    assert admit(lib, two, 999_999, 4096) == (1, 0, 0)


def test_the_worst_moment_is_reported(lib):
    """The capacity is enough at 10 ms, too little at 20 ms, and less too little at 30 ms.

    At 1 MB/s: 10 ms serve 10,000 bytes of which 4096 + 4096 are needed; 20 ms serve 20,000 but 4096
    + 1000 + 40,000 + 4096 = 49,192 are; 30 ms serve 30,000 but 1000 + 2000 + 4096 more, so 56,288
    are.
    """
    three = [Params(100_000, 4096, 10 * MS), Params(200_000, 40_000, 20 * MS),
             Params(100_000, 4096, 30 * MS)]
    assert admit(lib, three, 1_000_000, 4096) == (0, 29_192, 20 * MS)


def test_an_operation_may_be_the_largest_request(lib):
    """Ten operations of 64 KiB a second, two at once, behind a request of 64 KiB."""
    ten = [Params(0, 8192, SECOND, iops=10)]
    assert admit(lib, ten, 655_360, 65_536) is None
    assert admit(lib, ten, 655_359, 65_536) == (1, 0, 0)
    ten = [Params(0, 8192, 100 * MS, iops=10)]
    assert admit(lib, ten, 1_966_080, 65_536) is None
    assert admit(lib, ten, 1_966_079, 65_536) == (0, 1, 100 * MS)


def test_operations_take_nothing_if_bytes_count(lib):
    """If bytes count, operations only reduce what conforms."""
    both = [Params(200_000, 65_536, 100 * MS, iops=1 << 28)]
    assert admit(lib, both, 696_320, 4096) is None


@examples(200)
@given(promises=st.lists(any_promise, min_size=1, max_size=6), c_max=within(0, 1 << 20, 4096),
       capacity=within(10**6, CAPACITY_MAX, 10**9))
def test_bytes_left(lib, promises, c_max, capacity):
    """At each deadline, the bytes that may be due in addition are those of the specification."""
    promises.sort(key=lambda p: p.latency)
    if total_rate(promises, c_max) > capacity:
        return
    test = CAdmission()
    lib.htbs_admission_begin(test, capacity, c_max)
    for nr, promise in enumerate(promises, start=1):
        lib.htbs_admission_add(test, CParams(*promise))
        assert lib.htbs_admission_left(test) == left(promises[:nr], promise.latency, capacity,
                                                     c_max)


@examples(500)
@given(promises=st.lists(any_promise, max_size=6), c_max=within(0, (1 << 32) - 1, 4096, 1 << 20),
       capacity=within(0, CAPACITY_MAX, 10**6, 10**9), tight=st.sampled_from([None, -1, 0, 1]))
def test_like_the_specification(lib, promises, c_max, capacity, tight):
    """The answer is that of exact fractions, in particular at the smallest sufficient capacity."""
    promises.sort(key=lambda p: p.latency)
    if tight is not None:
        capacity = min(max(0, least_capacity(promises, c_max) + tight), CAPACITY_MAX)
    assert admit(lib, promises, capacity, c_max) == shortfall(promises, capacity, c_max)


@examples(50)
@given(promises=st.lists(st.sampled_from([Params(1 << 40, 1 << 32, 10**11),
                                          Params(0, 4096, 10**11, iops=1 << 28),
                                          Params(4096, 1 << 32, 10**11 - 1)]),
                         min_size=1, max_size=1000))
def test_many_at_the_limits(lib, promises):
    """No sum overflows."""
    promises.sort(key=lambda p: p.latency)
    assert (admit(lib, promises, CAPACITY_MAX, (1 << 32) - 1)
            == shortfall(promises, CAPACITY_MAX, (1 << 32) - 1))
