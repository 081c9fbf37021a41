"""The simulated disk's model, built for the host and compared with published figures.

Sources of the figures: the comments of `disk_hd080hj` in tests/simdisk/disk_profile.c. The test has
its own clock: every time is a number passed to the model.
"""

import random
from collections.abc import Callable
from math import sqrt
from statistics import mean

import pytest

from tests.simdisk.model import FLUSH, MS, READ, SECOND, WRITE, Disk


@pytest.fixture
def disk() -> Disk:
    """Return a drive of the default profile."""
    return Disk()


def outer(disk: Disk) -> int:
    """Return the first sector."""
    return 0


def inner(disk: Disk) -> int:
    """Return a sector after which 100,000 are left."""
    return disk.profile.sectors - 100_000


def seek_curve(nearest: float, average: float, full: float, cylinders: int) -> list[float]:
    """Fit a + b*sqrt(d) below a knee and c + e*d above it to three published seek times.

    The two parts meet with the same slope; the knee is where the mean over all pairs of cylinders
    is the published one. Returns a, b, the knee, c and e.
    """
    def curve(knee: float) -> list[float]:
        b = (full - nearest) / (sqrt(knee) - 1 + (cylinders - 1 - knee) / (2 * sqrt(knee)))
        a = nearest - b
        e = b / (2 * sqrt(knee))
        return [a, b, knee, a + b * sqrt(knee) - e * knee, e]

    def mean_of(parts: list[float]) -> float:
        a, b, knee, c, e = parts
        steps = 4000
        points = [(i + 0.5) * cylinders / steps for i in range(steps)]
        times = [a + b * sqrt(d) if d < knee else c + e * d for d in points]
        weights = [cylinders - d for d in points]
        return sum(t * w for t, w in zip(times, weights, strict=True)) / sum(weights)

    low, high = 2.0, cylinders - 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_of(curve(middle)) < average else (low, middle)
    return curve(low)


def test_published_seek_times(disk: Disk) -> None:
    """Track to track, average over random pairs, full stroke."""
    rng = random.Random(1)
    pairs = [(rng.randrange(disk.cylinders), rng.randrange(disk.cylinders)) for _ in range(20_000)]
    assert disk.seek(0) == 0
    assert disk.seek(1) == pytest.approx(0.8 * MS, rel=0.001)
    assert mean(disk.seek(abs(a - b)) for a, b in pairs) == pytest.approx(8.9 * MS, rel=0.02)
    assert disk.seek(disk.cylinders - 1) == pytest.approx(18 * MS, rel=0.001)


def test_seek_curve_is_the_fit(disk: Disk) -> None:
    """The five numbers of the table follow from the three published ones."""
    p = disk.profile
    table = [p.seek_short_ns, p.seek_sqrt_ns, p.seek_knee, p.seek_long_ns, p.seek_cyl_ps / 1000]
    fit = seek_curve(0.8 * MS, 8.9 * MS, 18 * MS, disk.cylinders)
    assert table == pytest.approx(fit, rel=1e-4)


def test_seek_curve_has_no_step(disk: Disk) -> None:
    """A longer seek takes no less time, and there is no jump at the knee."""
    times = [disk.seek(distance) for distance in range(disk.cylinders)]
    assert times == sorted(times)
    knee = disk.profile.seek_knee
    assert times[knee] - times[knee - 1] < 1000


def test_random_read_time(disk: Disk) -> None:
    """Seek, half a revolution, command and bus."""
    rng = random.Random(2)
    times = [disk.read(rng.randrange(disk.profile.sectors // 8) * 8) for _ in range(20_000)]
    expected = 8.9 * MS + disk.revolution / 2 + disk.hit()
    assert mean(times) == pytest.approx(expected, rel=0.05)
    assert max(times) < 18 * MS + disk.revolution + 2 * disk.hit()


@pytest.mark.parametrize(("place", "rate"), [(outer, 59.71 * 2**20), (inner, 59.71 * 2**19)])
def test_media_rate(disk: Disk, place: Callable[[Disk], int], rate: float) -> None:
    """Large reads run at the rate of the media: the measured one outside, half of it inside."""
    assert disk.sequential(READ, place(disk), 256, 390) == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize("place", [outer, inner])
def test_small_sequential_reads(disk: Disk, place: Callable[[Disk], int]) -> None:
    """Small reads come from the buffer, a command each, where the media are faster."""
    assert disk.sequential(READ, place(disk), 8, 10_000) == pytest.approx(
        4096 * SECOND / disk.hit(), rel=0.02)


def test_sequential_reads_never_beat_the_media(disk: Disk) -> None:
    """With a bus and a controller that take no time, the media are the limit."""
    fast = Disk(command_ns=0, bus_kbps=4_000_000_000)
    rate = fast.sequential(READ, 0, 8, 12_500)
    assert rate == pytest.approx(59.71 * 2**20, rel=0.02)


def test_rotation_is_exact(disk: Disk) -> None:
    """The same sector passes the head once per revolution."""
    disk.write(1000)
    for pause in (0, 1, 3 * MS, 20 * SECOND + 12345):
        last = disk.now
        disk.now += pause
        disk.write(1000)
        assert (disk.now - last) % disk.revolution == 0
        assert disk.now - last - pause <= disk.revolution + disk.profile.command_ns


def test_write_through_loses_a_revolution(disk: Disk) -> None:
    """The next command comes too late for the next sector."""
    disk.write(0)
    transfer = 8 * disk.revolution / disk.profile.outer_spt
    for number in range(1, 100):
        assert disk.write(number * 8) == pytest.approx(disk.revolution + transfer, abs=2)


def test_write_settles() -> None:
    """A write far away waits longer for the arm than a read does."""
    rng = random.Random(6)
    reader, writer = Disk(), Disk()
    places = [rng.randrange(reader.profile.sectors // 8) * 8 for _ in range(20_000)]
    late = mean(writer.write(s) for s in places) - mean(reader.read(s) for s in places)
    assert late == pytest.approx(writer.profile.write_settle_ns, rel=0.1)


def test_read_ahead_hit(disk: Disk) -> None:
    """After a pause the buffer has the whole segment, but not the sector behind it."""
    segment = disk.profile.cache_kb * 2 // disk.profile.segments
    disk.read(5000)
    disk.now += SECOND
    assert disk.read(5008) == disk.hit()
    assert disk.read(5000 + segment) == disk.hit()
    assert disk.read(5000 + 3 * segment) > disk.hit()


def test_read_ahead_takes_its_time(disk: Disk) -> None:
    """A read of a sector that has not passed the head yet waits for it, without a seek."""
    disk.read(5000)
    begin = disk.now
    assert disk.read(5000 + 508) > disk.hit()
    assert disk.now - begin == pytest.approx(508 * disk.revolution / 1123, rel=0.01)


def test_other_reads_end_read_ahead(disk: Disk) -> None:
    """A read elsewhere ends the read-ahead, but the buffer keeps what has been read."""
    disk.read(5000)
    disk.now += MS
    passed = int((MS + disk.profile.command_ns) * 1123 / disk.revolution)
    disk.read(100_000_000)
    disk.now += SECOND
    assert disk.read(5008, passed - 1) == disk.hit(passed - 1)
    assert disk.read(5008 + passed) > 5 * MS


def test_hits_leave_the_mechanism_alone(disk: Disk) -> None:
    """Reads from the buffer do not end the read-ahead of another segment."""
    disk.read(100_000_000)
    disk.now += SECOND
    disk.read(5000)
    for number in range(40):
        assert disk.read(100_000_008 + 8 * number) == disk.hit()
    assert disk.read(5008, 256) == disk.hit(256)


def test_slow_reader_always_hits(disk: Disk) -> None:
    """The segment is refilled as it is used."""
    disk.read(0)
    for number in range(1, 2000):
        disk.now += 5 * MS
        assert disk.read(8 * number) == disk.hit()


def test_segments_are_reused_in_order_of_use(disk: Disk) -> None:
    """As many streams as segments are remembered; one more replaces the oldest."""
    streams = [(number + 1) * 5_000_000 for number in range(disk.profile.segments)]
    for start in streams:
        disk.read(start)
        disk.now += SECOND
    for start in streams:
        assert disk.read(start + 8) == disk.hit()
    disk.read(0)
    disk.now += SECOND
    assert disk.read(streams[1] + 16) == disk.hit()
    assert disk.read(streams[0] + 16) > disk.hit()


def test_write_drops_what_it_overlaps(disk: Disk) -> None:
    """Old data is not read from the buffer."""
    disk.read(5000)
    disk.now += SECOND
    disk.read(100_000_000)
    disk.now += SECOND
    disk.write(5100)
    assert disk.read(100_000_008) == disk.hit()
    assert disk.read(5008) > disk.hit()


def test_alternating_readers_seek(disk: Disk) -> None:
    """The paper's pair, in turns: above 200 KB/s for each, below 800."""
    rng = random.Random(4)
    region = 2 << 21
    begin = disk.now
    for number in range(2000):
        disk.read(rng.randrange(region // 8) * 8)
        disk.read(region + 8 * number)
    rate = 2000 * 4096 * SECOND / (disk.now - begin)
    assert 200_000 < rate < 800_000


def test_seven_sequential_readers() -> None:
    """Paper, 5.3: seven sequential readers gain by runs, but little, because of the buffer."""
    def rate(run: int) -> float:
        disk = Disk()
        begin = disk.now
        for turn in range(6000 // run):
            for reader in range(7):
                for number in range(turn * run, turn * run + run):
                    disk.read(reader * 20_000_000 + 8 * number)
        return 42_000 * 4096 * SECOND / (disk.now - begin)

    assert rate(1) < rate(20) < rate(200) < 1.6 * rate(1)


def trace(disk: Disk, look: bool = False) -> list[int]:
    """Return completion times of a mixed load; `look` adds reads that only touch the buffer."""
    rng = random.Random(5)
    streams = [0, 30_000_000, 60_000_000, 98_000_000]
    times = []
    disk.read(99_000_000)
    disk.now += SECOND
    for _ in range(3000):
        operation = rng.choice([READ, READ, READ, WRITE, FLUSH])
        count = rng.choice([8, 8, 64, 1024])
        stream = rng.randrange(len(streams))
        disk.serve(operation, streams[stream], count)
        times.append(disk.now)
        if operation == READ:
            streams[stream] += count
        pause = rng.choice([2 * disk.hit(), 2 * MS, 30 * MS])
        if look:
            disk.now += pause // 2
            disk.read(99_000_008)
            disk.now += pause - pause // 2 - disk.hit()
        else:
            disk.now += pause
    return times


def test_state_does_not_depend_on_when_it_is_computed() -> None:
    """Read-ahead is computed late; if it is computed in more steps, nothing changes."""
    assert trace(Disk()) == trace(Disk(), look=True)
