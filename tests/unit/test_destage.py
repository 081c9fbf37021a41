"""How long reads wait for what a drive has in its write cache: destage.c."""

import random
from ctypes import POINTER, Structure, byref, c_bool, c_int64, c_uint32, c_uint64
from functools import cache

import pytest

from tests.model.reservation import SECOND
from tests.unit import host

MS = 10**6


class CDestage(Structure):
    """struct htbs_destage."""

    _fields_ = [*((name, c_uint64) for name in ("until", "position", "write", "owed")),
                ("waited", c_int64), ("part", c_uint32), ("hits", c_uint32)]


@cache
def parts():
    """The core library, with the prototypes of destage.c."""
    lib = host.build()
    prototypes = {
        "htbs_destage_init": (None, POINTER(CDestage), c_uint64),
        "htbs_destage_write": (None, POINTER(CDestage), c_uint64, c_uint64, c_uint64),
        "htbs_destage_note_hit": (c_bool, POINTER(CDestage), c_uint64),
        "htbs_destage_read": (c_uint64, POINTER(CDestage), c_uint64, c_uint64, c_bool),
        "htbs_destage_time": (c_uint64, POINTER(CDestage), c_uint64),
        "htbs_destage_cost": (c_uint64, POINTER(CDestage), c_uint64),
    }
    for name, (result, *arguments) in prototypes.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def cache_of(position=10 * MS):
    """A write cache of which nothing is known, and the library."""
    lib, destage = parts(), CDestage()
    lib.htbs_destage_init(byref(destage), position)
    return lib, destage


def read_behind_writes(lib, destage, now, writes, took):
    """A read that takes as long behind cached writes that come at once; how long it waited."""
    for _ in range(writes):
        lib.htbs_destage_write(byref(destage), now, 0, 0)
    if lib.htbs_destage_note_hit(byref(destage), took):
        return 0
    return lib.htbs_destage_read(byref(destage), now, took, True)


def test_a_drive_positions_for_each_write_that_it_has_cached():
    """For one after another, and a second is the longest that counts."""
    lib, destage = cache_of()
    for number in range(1, 51):
        lib.htbs_destage_write(byref(destage), SECOND, 0, 0)
        assert lib.htbs_destage_time(byref(destage), SECOND) == number * 10 * MS
    for _ in range(100):
        lib.htbs_destage_write(byref(destage), SECOND, 0, 5 * MS)
    assert lib.htbs_destage_time(byref(destage), SECOND) == SECOND
    assert lib.htbs_destage_time(byref(destage), 2 * SECOND) == 0
    lib.htbs_destage_write(byref(destage), 3 * SECOND, 0, 0)
    assert lib.htbs_destage_time(byref(destage), 3 * SECOND) == 10 * MS


def test_reads_that_wait_for_all_confirm_that():
    lib, destage = cache_of()
    for second in range(1, 50):
        waited = read_behind_writes(lib, destage, second * SECOND, 5, 60 * MS)
        assert waited == 50 * MS
    assert lib.htbs_destage_cost(byref(destage), 0) == 10 * MS


@pytest.mark.parametrize("writes", [2, 5, 500])
def test_reads_that_do_not_wait_make_cached_writes_cheap(writes):
    """As behind the cache of an array that is not volatile; and dear again once reads wait."""
    lib, destage = cache_of()
    for second in range(1, 10):
        read_behind_writes(lib, destage, second * SECOND, writes, 10 * MS)
    assert lib.htbs_destage_cost(byref(destage), 0) == 0
    lib.htbs_destage_write(byref(destage), 20 * SECOND, 0, 0)
    assert lib.htbs_destage_time(byref(destage), 20 * SECOND) == 0
    for second in range(30, 130):
        read_behind_writes(lib, destage, second * SECOND, 5, 60 * MS)
    assert lib.htbs_destage_cost(byref(destage), 0) > 1 * MS


def test_a_drive_without_a_cache_destages_nothing():
    """Its writes take as long as its reads, in the mean, and these wait for none of them."""
    (lib, destage), rng, now = cache_of(), random.Random(1), SECOND
    for _ in range(400):
        for _ in range(8):
            took = rng.randrange(4 * MS, 16 * MS)
            lib.htbs_destage_write(byref(destage), now, took, 0)
            now += took
            assert lib.htbs_destage_time(byref(destage), now) == 0
        assert lib.htbs_destage_read(byref(destage), now, rng.randrange(4 * MS, 16 * MS), True) == 0
    assert destage.position == pytest.approx(10 * MS, rel=0.2)


def test_a_read_during_which_writes_complete_tells_nothing():
    """The drive seems to have begun with it when the last of them completed."""
    lib, destage = cache_of()
    for number in range(20):
        lib.htbs_destage_write(byref(destage), SECOND, 0, 0)
        lib.htbs_destage_read(byref(destage), SECOND + number, 10 * MS, False)
    assert destage.owed == 0
    assert lib.htbs_destage_cost(byref(destage), 0) == 10 * MS


def test_a_write_that_finds_the_cache_full_changes_nothing_of_what_is_left():
    """The drive takes it once it has written another one, in an order that takes 3 ms for each."""
    (lib, destage), now = cache_of(), SECOND
    for _ in range(20):
        lib.htbs_destage_write(byref(destage), now, 0, 0)
    for _ in range(400):
        lib.htbs_destage_write(byref(destage), now, 3 * MS, 0)
        now += 3 * MS
    assert destage.until - now <= 20 * 10 * MS
    assert destage.write == pytest.approx(3 * MS, rel=0.05)
    lib.htbs_destage_write(byref(destage), 10 * SECOND, 0, 0)
    assert destage.until == pytest.approx(10 * SECOND + 3 * MS, abs=MS // 2)


def test_what_a_read_has_waited_for_is_no_longer_left():
    """Else what is left only grows where a write takes less than is believed: 3 ms, here."""
    (lib, destage), now = cache_of(), SECOND
    for _ in range(400):
        read_behind_writes(lib, destage, now, 4, 22 * MS)
        now += 22 * MS
        assert lib.htbs_destage_time(byref(destage), now) == 0
    assert lib.htbs_destage_cost(byref(destage), 0) == pytest.approx(3 * MS, rel=0.05)


def test_what_the_drive_had_in_its_buffer_tells_nothing():
    """As a sequential reader finds most of its requests there, whatever is destaged."""
    lib, destage = cache_of()
    for second in range(1, 200):
        read_behind_writes(lib, destage, second * SECOND, 5, 60 * MS if second % 4 == 0 else MS)
    assert destage.position == 10 * MS
    assert lib.htbs_destage_cost(byref(destage), 0) == 10 * MS


def test_a_drive_that_takes_less_than_is_believed_for_all_reads_does_so():
    """As a virtual disk on flash that is said to seek: reads of 100 us are no hits there."""
    lib, destage = cache_of()
    for number in range(3_000):
        lib.htbs_destage_write(byref(destage), number * MS, 0, 0)
        if not lib.htbs_destage_note_hit(byref(destage), MS // 10):
            lib.htbs_destage_read(byref(destage), number * MS, MS // 10, True)
    assert lib.htbs_destage_cost(byref(destage), 0) == 0
    assert lib.htbs_destage_time(byref(destage), 3 * SECOND) == 0


def test_no_read_is_expected_to_wait_longer_than_reads_have_told():
    """However many writes have come before: reads take 5 ms longer behind a second of them."""
    lib, destage = cache_of()
    for second in range(1, 400):
        read_behind_writes(lib, destage, second * SECOND, 200, 15 * MS)
        assert lib.htbs_destage_time(byref(destage), second * SECOND) <= (
            SECOND * destage.part // 1024 if destage.owed else SECOND)
    for _ in range(500):
        lib.htbs_destage_write(byref(destage), 500 * SECOND, 0, 0)
    assert lib.htbs_destage_time(byref(destage), 500 * SECOND) < 20 * MS


def test_reads_of_a_drive_that_destages_nothing_tell_how_long_it_positions():
    """A read that took 7 s, as the drive had to spin up, does not."""
    lib, destage = cache_of()
    for number in range(1, 300):
        assert lib.htbs_destage_read(byref(destage), number * SECOND, 16 * MS, True) == 0
    assert destage.position == pytest.approx(16 * MS, rel=0.02)
    lib.htbs_destage_read(byref(destage), 400 * SECOND, 7 * SECOND, True)
    assert destage.position < 17 * MS
    assert destage.owed == 0
