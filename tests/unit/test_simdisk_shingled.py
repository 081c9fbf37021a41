"""A shingled drive cleans after a number of scattered writes, in tests/simdisk/disk.c."""

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.simdisk.model import MS, READ, SECOND, WRITE, Disk, repeat

CLEAN_MS = 200
LONGEST = 30 * MS  # of a write on this drive, without cleaning


@pytest.fixture
def disk() -> Disk:
    """Return a drive that cleans for 200 ms after 50 scattered writes."""
    return Disk(clean_writes=50, clean_ms=CLEAN_MS)


def anywhere(disk: Disk, operation: int = WRITE, seed: int = 1) -> Iterator[tuple[int, int, int]]:
    """Random commands of 4 KiB."""
    rng = random.Random(seed)
    return repeat(lambda: (operation, rng.randrange(disk.profile.sectors // 8) * 8, 8))


def scatter(disk: Disk, number: int) -> None:
    """Write `number` times, one write after another."""
    for operation, sector, count in islice(anywhere(disk, seed=number), number):
        disk.serve(operation, sector, count)


def test_each_fiftieth_scattered_write_is_followed_by_cleaning(disk: Disk) -> None:
    """The write that causes the cleaning completes before it, the next one waits."""
    times = disk.load(1, anywhere(disk), 501)
    slow = [number for number, time in enumerate(times) if time > LONGEST]
    assert slow == list(range(50, 501, 50))
    assert all(CLEAN_MS * MS < times[number] < CLEAN_MS * MS + LONGEST for number in slow)


def test_a_read_waits_for_cleaning(disk: Disk) -> None:
    scatter(disk, 49)
    assert disk.read(0) < LONGEST
    scatter(disk, 1)
    assert CLEAN_MS * MS < disk.read(80_000_000) < CLEAN_MS * MS + LONGEST


def test_idle_time_is_used(disk: Disk) -> None:
    """It cleans at once, whether or not it has a command."""
    scatter(disk, 50)
    disk.now += CLEAN_MS * MS
    assert disk.read(80_000_000) < LONGEST


def test_the_buffer_is_read_meanwhile(disk: Disk) -> None:
    disk.read(80_000_000)
    disk.now += SECOND
    scatter(disk, 50)
    assert disk.read(80_000_008) == disk.hit()


def test_sequential_writes_and_reads_need_no_cleaning(disk: Disk) -> None:
    """The first write of a sequence is a scattered one."""
    for number in range(1000):
        assert disk.write(8 * number) < LONGEST
    assert max(disk.load(1, anywhere(disk, READ), 1000)) < LONGEST


def test_a_conventional_drive_does_not_clean() -> None:
    disk = Disk()
    assert max(disk.load(1, anywhere(disk), 1000)) < LONGEST


def test_cached_writes_count(disk: Disk) -> None:
    """With a write cache the drive cleans as often as without."""
    def rate(**changes: int) -> float:
        cached = Disk(write_cache=True, **changes)
        return cached.iops(1, anywhere(cached), 2000)

    conventional, shingled = rate(), rate(clean_writes=50, clean_ms=CLEAN_MS)
    assert 1 / shingled - 1 / conventional == pytest.approx(CLEAN_MS / 1000 / 50, rel=0.05)
