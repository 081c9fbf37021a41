"""Unit tests of the limits of surplus and the quota of writes."""

from ctypes import byref

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.model.reservation import SECOND
from tests.unit.host import CLimit, CQuota
from tests.unit.test_parts import MS, parts

# The quota is measured over this much more than 50 ms.
RUN = 84 * MS


@pytest.mark.parametrize("least", [4096, 1_004_096])
def test_a_quota_begins_with_its_minimum(least):
    """It does so however slow the device is, because more could be too much."""
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), least, 0, 0)
    assert quota.limit.value == least
    for _ in range(1000):
        lib.htbs_quota_judge(byref(quota), True, 0)
    assert quota.limit.value == least


@pytest.mark.parametrize("late", [False, True])
def test_a_new_quota_doubles_until_a_request_is_late(late):
    """It doubles in each interval in which most of it was used.

    A late request halves the amount in use.
    """
    lib, quota, values = parts(), CQuota(), []
    lib.htbs_quota_init(byref(quota), 1 << 20, RUN, 0)
    for i in range(3000):
        if i == 420 and late:
            lib.htbs_quota_judge(byref(quota), True, i * MS)
        if lib.htbs_quota_allows(byref(quota), i * MS):
            lib.htbs_quota_account(byref(quota), max(4096, quota.limit.value // 900), True, i * MS)
        values.append(quota.limit.value)
    assert values[99] == 1 << 20
    assert values[150] == 2 << 20
    assert values[419] == 8 << 20
    if late:
        assert 3 << 19 < values[420] < 5 << 19
        assert values[-1] <= 4 << 20
    else:
        assert values[-1] == 16 * SECOND


def test_a_quota_of_which_little_is_used_does_not_grow():
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), 1 << 20, RUN, 0)
    for i in range(20):
        lib.htbs_quota_account(byref(quota), 40960, True, i * 200 * MS)
    assert quota.limit.value == 1 << 20


@example(late=131, cost=22189820)
@given(late=st.integers(1, 1000), cost=st.integers(4096, 1 << 28))
def test_no_quota_holds_surplus_back_for_ever(late, cost):
    """A request goes once those before it are paid for, however many requests were late."""
    lib, quota, now = parts(), CQuota(), 0
    lib.htbs_quota_init(byref(quota), 1 << 20, RUN, 0)
    for _ in range(late):
        lib.htbs_quota_judge(byref(quota), True, now)
    assert 1 << 20 <= quota.limit.value < 20 * SECOND
    for _ in range(4):
        if not lib.htbs_quota_allows(byref(quota), now):
            wait = lib.htbs_quota_wait(byref(quota), now)
            assert wait <= cost * SECOND // quota.limit.value + 1
            # It fills up by a second's worth at a time.
            while wait > 0:
                now += min(wait, SECOND // 2)
                wait -= SECOND // 2
                lib.htbs_quota_allows(byref(quota), now)
            now += MS
        assert lib.htbs_quota_allows(byref(quota), now)
        lib.htbs_quota_account(byref(quota), cost, True, now)


@pytest.mark.parametrize("every", [1_000, 10_000, MS, SECOND // 4])
def test_a_quota_fills_however_often_it_is_asked(every):
    """A fast device asks every few microseconds, in which the minimum fills by less than a byte."""
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), 4096, 0, 0)
    lib.htbs_quota_account(byref(quota), 4096, True, 0)
    for now in range(0, SECOND, every):
        assert not lib.htbs_quota_allows(byref(quota), now)
    assert lib.htbs_quota_allows(byref(quota), SECOND)


def test_a_quota_holds_nothing_back_before_it_is_asked():
    """Writes are charged even while the quota does not apply; it is asked only where it applies."""
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), 4096, 0, 0)
    lib.htbs_quota_account(byref(quota), 4096, True, 0)
    lib.htbs_quota_fill(byref(quota), SECOND // 2)
    assert quota.tokens < 0
    assert not quota.holds
    assert not lib.htbs_quota_allows(byref(quota), SECOND // 2)
    assert quota.holds
    lib.htbs_quota_fill(byref(quota), SECOND)
    assert not quota.holds


def test_reserved_work_uses_up_no_quota():
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), 1 << 20, RUN, 0)
    before = quota.tokens
    lib.htbs_quota_account(byref(quota), 1 << 30, False, 0)
    assert quota.tokens == before


@pytest.mark.parametrize("rarity", [100, 177, 10_000])
@pytest.mark.parametrize(("part", "grows"), [(0.8, False), (1.25, True)])
def test_slow_requests_are_in_balance(rarity, part, grows):
    lib, limit = parts(), CLimit(SECOND // 10, 1 << 20, SECOND, 0, rarity=rarity, part=64)
    every = int(rarity * part)
    for i in range(300 * every):
        limit.full = True
        lib.htbs_limit_judge(byref(limit), i % every == 0, limit.value)
    assert (limit.value > SECOND // 5) if grows else (limit.value < SECOND // 20)


def test_a_limit_grows_by_its_minimum_until_a_request_is_slow():
    """The slow request halves it.

    At its minimum, or if it was not full, a limit does not change.
    """
    lib, limit = parts(), CLimit()
    lib.htbs_limit_init(byref(limit), 256, 256, 1 << 20)
    limit.rarity = 178
    values = []
    for slow, full in [(True, True), (False, True), (False, False), (False, True), (True, True),
                       (False, True)]:
        limit.full = full
        lib.htbs_limit_judge(byref(limit), slow, limit.value)
        values.append(limit.value)
    assert values == [256, 512, 512, 768, 384, 384 + 384 // (2 * 178) + 1]


def test_the_steps_of_a_limit_become_smaller():
    """Each slow request lowers it by half the previous part, and finally by 1/64.

    Between two slow requests the limit rises by a part so much smaller that they are in balance.
    """
    lib, limit, value = parts(), CLimit(), SECOND
    lib.htbs_limit_init(byref(limit), value, 256, SECOND)
    limit.rarity = 178
    for part in (2, 4, 8, 16, 32, 64, 64):
        limit.full = True
        lib.htbs_limit_judge(byref(limit), True, SECOND)
        value -= value // part
        assert limit.value == value
        limit.full = True
        lib.htbs_limit_judge(byref(limit), False, 0)
        value += value // (178 * part) + 1
        assert limit.value == value


def a_limit_in_a_pause(used):
    """Return a limit that was found, after a slow request while it holds nothing back."""
    lib, limit = parts(), CLimit(64 << 20, 1 << 10, 1 << 30, 0, rarity=178, part=64)
    lib.htbs_limit_judge(byref(limit), 1, used)
    return lib, limit


def double(lib, limit):
    """Double the limit while it grows fast."""
    while limit.value < limit.threshold:
        lib.htbs_limit_double(byref(limit))


def test_a_limit_recovers_after_a_pause():
    """It grows as fast as at first, up to the previous value less a step."""
    lib, limit = a_limit_in_a_pause(1 << 20)
    assert limit.value <= 1 << 20
    double(lib, limit)
    assert limit.value == 63 << 20
    limit.full = True
    lib.htbs_limit_judge(byref(limit), 0, limit.value)
    assert limit.value == (63 << 20) + (63 << 20) // (64 * 178) + 1


def test_a_limit_recovers_if_the_first_slow_request_came_in_a_pause():
    """It recovers to half of the previous value, as after any first slow request."""
    lib, limit = parts(), CLimit()
    lib.htbs_limit_init(byref(limit), 1 << 20, 1 << 10, 1 << 40)
    lib.htbs_limit_judge(byref(limit), 1, 1 << 15)
    assert limit.value == 1 << 14
    double(lib, limit)
    assert limit.value == 1 << 19


def test_each_slow_request_in_a_pause_lowers_the_threshold():
    """The drive may stall, or clean, because of earlier writes."""
    lib, limit = a_limit_in_a_pause(1 << 20)
    for _ in range(99):
        lib.htbs_limit_judge(byref(limit), 1, 1 << 15)
    double(lib, limit)
    assert limit.value == pytest.approx((64 << 20) * (63 / 64) ** 100, rel=0.001)


def test_a_slow_request_while_a_limit_is_used_ends_its_fast_growth():
    """The value that the limit had before the pause is too much now."""
    lib, limit = a_limit_in_a_pause(1 << 20)
    lib.htbs_limit_double(byref(limit))
    limit.full = True
    lib.htbs_limit_judge(byref(limit), 1, limit.value)
    value = limit.value
    limit.full = True
    lib.htbs_limit_judge(byref(limit), 0, value)
    assert limit.value == value + value // (64 * 178) + 1


def quota_of_a_gigabyte():
    """Return the library, and a quota of 10^9 bytes/s."""
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), 1 << 20, 0, 0)
    quota.limit.value = SECOND
    return lib, quota


def test_a_slow_request_lowers_the_rate_in_use():
    """It does not lower a rate that was never reached."""
    lib, quota = quota_of_a_gigabyte()
    lib.htbs_quota_account(byref(quota), 20_000_000, True, 100 * MS)
    lib.htbs_quota_account(byref(quota), 20_000_000, True, 200 * MS)
    lib.htbs_quota_judge(byref(quota), True, 200 * MS)
    assert quota.limit.value == 200_000_000 // 2


def test_a_pause_does_not_count_for_the_rate_of_writes():
    """The first write after a pause does not end an interval in which little was written."""
    lib, quota = quota_of_a_gigabyte()
    for now in (100 * MS, 200 * MS, 9 * SECOND):
        lib.htbs_quota_account(byref(quota), 20_000_000, True, now)
    lib.htbs_quota_judge(byref(quota), True, 9 * SECOND)
    assert quota.limit.value == 200_000_000 // 2


def test_a_late_request_without_writes_lowers_no_quota():
    """A late request does not count after a second without writes.

    A drive's buffer may have written data for that long.
    """
    lib, quota = quota_of_a_gigabyte()
    lib.htbs_quota_judge(byref(quota), True, SECOND + 1)
    assert quota.limit.value == SECOND
    lib.htbs_quota_judge(byref(quota), True, SECOND)
    assert quota.limit.value < SECOND


def test_unlimited_writes_are_paid_for_with_an_interval_at_most():
    """A gigabyte: later writes wait for the last write of it, and for 50 ms."""
    lib, quota = parts(), CQuota()
    lib.htbs_quota_init(byref(quota), 1 << 20, 0, 0)
    for _ in range(1000):
        lib.htbs_quota_account(byref(quota), 1 << 20, True, 0)
    assert quota.limit.value == 1 << 20
    assert lib.htbs_quota_wait(byref(quota), 0) == pytest.approx(1050 * MS, abs=MS)


def doubted(value, *slow, apart=SECOND // 10):
    """Return the part of a limit with a minimum of 64, after requests that were slow or not.

    apart: the time between two requests.
    """
    lib, limit = parts(), CLimit(value, 64, SECOND, 0, rarity=177, part=64)
    for number, each in enumerate(slow):
        lib.htbs_limit_doubt(byref(limit), each, number * apart + 1)
    return limit.part


def test_slow_requests_at_the_minimum_make_a_limit_doubtful():
    """The steps double for each second of it, because surplus is not the reason."""
    assert doubted(64, *[True] * 10) == 64
    assert doubted(64, *[True] * 12) == 32
    assert doubted(127, *[True] * 24) == 16
    assert doubted(64, *[True] * 100) == 1


def test_slow_requests_above_the_minimum_do_not_make_it_doubtful():
    assert doubted(128, *[True] * 100) == 64


def test_as_many_as_may_be_slow_make_no_limit_doubtful():
    rare = [False] * 177 + [True]
    assert doubted(64, *rare * 3) == 64
    assert doubted(64, *rare * 3, *rare[100:]) == 32
