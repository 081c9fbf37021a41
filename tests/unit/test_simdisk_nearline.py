"""The nearline disk with command queueing, compared with published figures.

Sources of the figures: the comments of `disk_nearline` in tests/simdisk/disk_profile.c.
"""

import random
from collections.abc import Iterator
from statistics import mean

import pytest

from tests.simdisk.model import MS, READ, SECOND, WRITE, Disk, repeat
from tests.unit.test_simdisk_disk import seek_curve


@pytest.fixture
def disk() -> Disk:
    """Return a nearline drive."""
    return Disk("nearline")


def anywhere(disk: Disk, operation: int = READ, seed: int = 1) -> Iterator[tuple[int, int, int]]:
    """Random commands of 4 KiB."""
    rng = random.Random(seed)
    return repeat(lambda: (operation, rng.randrange(disk.profile.sectors // 8) * 8, 8))


def test_published_seek_times(disk: Disk) -> None:
    """Single track, average, and twice the average; the table is the fit to these three."""
    rng = random.Random(1)
    pairs = [(rng.randrange(disk.cylinders), rng.randrange(disk.cylinders)) for _ in range(20_000)]
    assert disk.seek(1) == pytest.approx(0.23 * MS, rel=0.001)
    assert mean(disk.seek(abs(a - b)) for a, b in pairs) == pytest.approx(8.5 * MS, rel=0.02)
    assert disk.seek(disk.cylinders - 1) == pytest.approx(17 * MS, rel=0.001)
    p = disk.profile
    table = [p.seek_short_ns, p.seek_sqrt_ns, p.seek_knee, p.seek_long_ns, p.seek_cyl_ps / 1000]
    fit = seek_curve(0.23 * MS, 8.5 * MS, 17 * MS, disk.cylinders)
    assert table == pytest.approx(fit, rel=1e-4)


@pytest.mark.parametrize(("start", "rate"), [(0, 270e6), (-2_000_000, 135e6)])
def test_media_rate(disk: Disk, start: int, rate: float) -> None:
    """Outer edge as published, inner edge half of that; deeper queues do not slow it down."""
    start %= disk.profile.sectors
    assert disk.sequential(READ, start, 256, 2000) == pytest.approx(rate, rel=0.02)
    rest = iter(range(start + 600_000, start + 2_000_000, 256))
    queued = disk.iops(32, repeat(lambda: (READ, next(rest), 256)), 2000)
    assert queued * 256 * 512 == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize(("depth", "iops"), [(1, 80), (16, 170)])
def test_published_random_reads(disk: Disk, depth: int, iops: float) -> None:
    """One at a time: 8.5 ms of seek and half a revolution; 170 IOPS at depth 16."""
    assert disk.iops(depth, anywhere(disk), 10_000) == pytest.approx(iops, rel=0.03)


def test_queueing_pays() -> None:
    """Depth 32 gives more than depth 16, but nothing if the drive takes one command at a time."""
    assert Disk("nearline").iops(32, anywhere(Disk("nearline")), 5000) > 190
    alone = Disk("nearline", depth=1)
    assert alone.iops(1, anywhere(alone), 5000) == pytest.approx(80, rel=0.03)


def test_picks_the_nearest(disk: Disk) -> None:
    """The drive serves the command whose first sector the head reaches first."""
    disk.submit(READ, 0)
    far, near = disk.submit(READ, 30_000_000_000), disk.submit(READ, 1_000_000)
    disk.complete()
    assert disk.complete() is near
    assert disk.complete() is far


def test_rotation_counts(disk: Disk) -> None:
    """On one cylinder the sector that passes the head next is served next."""
    disk.submit(WRITE, 0)
    quarters = [disk.submit(WRITE, disk.profile.outer_spt * n // 4) for n in (3, 1, 2)]
    disk.complete()
    assert [quarters.index(disk.complete()) for _ in quarters] == [1, 2, 0]


@pytest.mark.parametrize(("patience", "worst"), [(1000, 1100), (200, 300)])
def test_patience(patience: int, worst: int) -> None:
    """A far read waits for a stream of near ones, but not for ever."""
    disk = Disk("nearline", patience_ms=patience)
    rng = random.Random(3)
    near = repeat(lambda: (READ, rng.randrange(1_000_000) * 8, 8))
    disk.load(8, near, 10)
    far = disk.submit(READ, disk.profile.sectors - 8)
    disk.load(1, near, 1000)
    assert patience * MS <= far.done - far.arrived <= worst * MS


def test_random_load_hardly_waits_so_long(disk: Disk) -> None:
    """A random load does not notice the bound."""
    times = disk.load(32, anywhere(disk), 10_000)
    assert sum(t > disk.profile.patience_ms * MS for t in times) < 20


def test_reads_from_the_buffer_pass(disk: Disk) -> None:
    """Data that was read ahead is returned at once while the arm is elsewhere."""
    disk.read(0)
    disk.now += SECOND
    far = disk.submit(READ, 30_000_000_000)
    first, second = disk.submit(READ, 8), disk.submit(READ, 16)
    assert [disk.complete() for _ in range(3)] == [first, second, far]
    assert first.done - first.arrived == disk.hit()
    assert second.done - first.done == disk.hit() - disk.profile.command_ns


def test_reads_wait_for_what_is_being_read(disk: Disk) -> None:
    """A read of sectors that another command is reading completes when they have been read."""
    first, second = disk.submit(READ, 30_000_000_000), disk.submit(READ, 30_000_000_000)
    disk.complete()
    disk.complete()
    assert second.done >= first.done


@pytest.mark.parametrize("depth", [4, 64, 256])
def test_depth(depth: int) -> None:
    """A deeper queue gives more; the drive takes as many commands as its depth, and no more."""
    disk, shallow = (Disk("nearline", depth=each, patience_ms=60_000)
                     for each in (depth, depth // 2))
    assert disk.iops(depth, anywhere(disk), 3000) > 1.03 * shallow.iops(
        depth // 2, anywhere(shallow), 3000)
    with pytest.raises(ValueError, match="depth: must be 1 to 256"):
        Disk("nearline", depth=257)


def test_commands_beyond_the_depth_wait_outside() -> None:
    """The drive knows nothing of them: a hit passes others only once it is in the queue."""
    def order(depth: int) -> list[int]:
        disk = Disk("nearline", depth=depth)
        disk.read(0)
        disk.now += SECOND
        sent = [disk.submit(READ, sector) for sector in (30_000_000_000, 10_000_000, 100_000, 8)]
        return [sent.index(disk.complete()) for _ in sent]

    assert order(4) == [3, 0, 1, 2]
    assert order(3) == [0, 3, 1, 2]
    assert order(2) == [0, 1, 3, 2]
    assert order(1) == [0, 1, 2, 3]


def test_one_command_in_the_drive_leaves_no_choice() -> None:
    """Without queueing it serves the requests of a driver with many tags in order of arrival."""
    disk = Disk("nearline", depth=1)
    rng = random.Random(4)
    sent = [disk.submit(READ, rng.randrange(disk.profile.sectors // 8) * 8) for _ in range(32)]
    assert [disk.complete() for _ in sent] == sent


@pytest.mark.parametrize("depth", [16, 64])
def test_ageing(depth: int) -> None:
    """The older a command, the sooner it is served: waits are shorter, and all is slower."""
    def load(weight: int) -> tuple[int, float]:
        disk = Disk("nearline", depth=depth, patience_ms=60_000, age_permille=weight)
        begin = disk.now
        times = disk.load(depth, anywhere(disk), 4000)
        return max(*times, disk.oldest()), 4000 * SECOND / (disk.now - begin)

    (longest, fast), (shorter, slower), (_, slow) = map(load, (0, 30, 1000))
    assert longest > 1.3 * shorter
    assert fast > slower > slow
