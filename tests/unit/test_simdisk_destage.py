"""A write cache behind which reads do not wait, in tests/simdisk/disk.c: destage_ms."""

import random

import pytest

from tests.simdisk.model import FLUSH, MS, SECOND, Disk

IDLE_MS = 20
SLOTS = 64
LONGEST = 30 * MS  # longest time of one command on this drive


@pytest.fixture
def disk() -> Disk:
    """Return a drive that destages after it has been idle for 20 ms."""
    return Disk(write_cache=True, destage_ms=IDLE_MS)


def somewhere(disk: Disk, seed: int = 1) -> list[int]:
    """Return sectors all over the disk, as many as its cache holds."""
    rng = random.Random(seed)
    return [rng.randrange(disk.profile.sectors // 8) * 8 for _ in range(SLOTS)]


def fill(disk: Disk) -> None:
    """Fill the cache, at once."""
    for sector in somewhere(disk):
        assert disk.write(sector) < MS


def test_a_read_goes_before_cached_writes(disk: Disk) -> None:
    fill(disk)
    assert all(disk.read(sector) < LONGEST for sector in somewhere(disk, seed=2))


def test_a_write_waits_for_one_of_a_full_cache(disk: Disk) -> None:
    fill(disk)
    assert MS < disk.write(40) < LONGEST


def test_an_idle_drive_destages(disk: Disk) -> None:
    fill(disk)
    disk.now += SLOTS * LONGEST
    fill(disk)


def test_a_drive_that_has_commands_does_not(disk: Disk) -> None:
    fill(disk)
    for sector in somewhere(disk, seed=2):
        disk.now += (IDLE_MS - 1) * MS
        disk.read(sector)
    assert disk.write(40) > MS


def test_a_read_waits_for_a_write_that_the_drive_destages(disk: Disk) -> None:
    """It has begun to destage the write, and the read arrives before the end."""
    near, far = 0, disk.profile.sectors // 8 * 8 - 8
    disk.read(near)
    disk.write(far)
    disk.now += (IDLE_MS + 1) * MS
    alone = Disk(write_cache=True, destage_ms=IDLE_MS)
    alone.read(near)
    alone.now = disk.now
    assert disk.read(40_000_000) > alone.read(40_000_000) + 5 * MS


def test_the_nearest_is_destaged_first() -> None:
    """A flush of a full cache takes less time than as many writes in the order of arrival."""
    lazy = Disk(write_cache=True, destage_ms=IDLE_MS)
    eager = Disk(write_cache=True)
    takes = []
    for disk in (lazy, eager):
        begin = disk.now
        for sector in somewhere(disk):
            disk.write(sector)
        disk.serve(FLUSH, 0, 0)
        takes.append(disk.now - begin)
    assert takes[0] < 0.7 * takes[1] < SECOND


def test_a_read_after_a_flush_waits_for_nothing(disk: Disk) -> None:
    fill(disk)
    disk.serve(FLUSH, 0, 0)
    assert disk.write(40) < MS
    assert disk.read(80_000_000) < LONGEST
