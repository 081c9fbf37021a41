"""The flash drive's model, compared with a third of the published figures.

Sources of the figures: the comments of `flash_tlc` in tests/simdisk/flash.c.
"""

import random
from collections.abc import Iterator

import pytest

from tests.simdisk.model import (
    DISCARD,
    FLUSH,
    MS,
    READ,
    SECOND,
    WRITE,
    WRITE_FUA,
    Flash,
    repeat,
)

US = 1000


@pytest.fixture
def flash() -> Flash:
    """Return a drive in the steady state of random writes."""
    return Flash()


@pytest.fixture
def new() -> Flash:
    """Return a drive that was never written."""
    return Flash(precondition=False)


def anywhere(flash: Flash, operation: int, seed: int = 1) -> Iterator[tuple[int, int, int]]:
    """Random commands of 4 KiB."""
    rng = random.Random(seed)
    return repeat(lambda: (operation, rng.randrange(flash.slots) * 8, 8))


def through(flash: Flash, operation: int) -> Iterator[tuple[int, int, int]]:
    """Sequential commands of 128 KiB, over the whole drive again and again."""
    while True:
        for slot in range(0, flash.slots, 32):
            yield operation, slot * 8, 256


def percentile(times: list[int], share: float) -> int:
    """The quantile `share` of some times."""
    return sorted(times)[int(len(times) * share)]


def test_read_latency(flash: Flash) -> None:
    """85 us, of which a few are the host's."""
    assert percentile(flash.load(1, anywhere(flash, READ), 1000), 0.5) == pytest.approx(
        85 * US, rel=0.1)


def test_write_latency(flash: Flash) -> None:
    """20 us, of which a few are the host's: writes end in the buffer."""
    assert flash.write(0) == pytest.approx(18 * US, rel=0.2)
    assert flash.serve(WRITE_FUA, 8) == flash.write(16)


def test_random_reads(flash: Flash) -> None:
    """A depth of 256 for the whole published drive is 85 for a third of it."""
    assert flash.iops(85, anywhere(flash, READ), 20_000) == pytest.approx(279_500 / 3, rel=0.05)


def test_random_writes(flash: Flash) -> None:
    """The published rate in steady state, which does not fall."""
    load = anywhere(flash, WRITE)
    flash.load(32, load, 20_000)
    for _ in range(4):
        assert flash.iops(32, load, 50_000) == pytest.approx(30_500 / 3, rel=0.1)
    assert 3.5 < flash.amplification() < 4
    assert flash.is_sound()


def test_sequential_rates(new: Flash) -> None:
    """Both published rates; overwriting in sequence copies nothing."""
    load = through(new, WRITE)
    new.load(8, load, 2000)
    for _ in range(3):
        rate = new.iops(8, load, new.slots // 32) * 131072
        assert rate == pytest.approx(600e6 / 3, rel=0.06)
    assert new.amplification() == pytest.approx(1, abs=0.001)
    new.now += SECOND
    assert new.iops(4, through(new, READ), 10_000) * 131072 == pytest.approx(3.2e9 / 3, rel=0.02)


def test_burst(flash: Flash) -> None:
    """Writes run at the link's rate until the buffer is full, then at that of the dies."""
    load = through(flash, WRITE)
    assert flash.iops(4, load, 56) * 131072 > 800e6
    flash.load(4, load, 100)
    assert flash.iops(4, load, 500) * 131072 < 200e6


@pytest.mark.parametrize("kind", [through, anywhere])
def test_a_writer_hurts_a_reader(flash: Flash, kind: type) -> None:
    """A read waits for the program, or in the worst case the erasure, that its die has begun."""
    idle = percentile(flash.load(1, anywhere(flash, READ), 500), 0.99)
    writes, reads = kind(flash, WRITE), anywhere(flash, READ, 2)
    times: list[int] = []
    for _ in range(32):
        flash.submit(*next(writes))
    flash.submit(*next(reads))
    while len(times) < 5000:
        command = flash.complete()
        if command.op == READ:
            times.append(command.done - command.arrived)
        flash.submit(*next(reads if command.op == READ else writes))
    assert percentile(times, 0.5) > 5 * idle
    assert 0.8 * MS < percentile(times, 0.99) < 4 * MS
    assert 3.8 * MS < max(times) < 6 * MS


def test_reads_don_t_starve_writes(flash: Flash) -> None:
    """A die serves a program after reads that take as long, so each kind has half of the drive."""
    reads, writes = anywhere(flash, READ), anywhere(flash, WRITE, 2)
    flash.load(32, writes, 10_000)
    for _ in range(128):
        flash.submit(*next(reads))
    count = {READ: 0, WRITE: 0}
    begin = flash.now
    while flash.now < begin + SECOND:
        command = flash.complete()
        count[command.op] += 1
        flash.submit(*next(reads if command.op == READ else writes))
    assert count[READ] == pytest.approx(0.5 * 279_500 / 3, rel=0.2)
    assert count[WRITE] == pytest.approx(0.5 * 30_500 / 3, rel=0.2)


def test_reads_from_the_buffer(flash: Flash) -> None:
    """Data that was just written is read without the dies."""
    flash.write(800)
    assert flash.read(800) < 10 * US
    assert flash.read(808) > 75 * US


def test_reads_of_unwritten_sectors(new: Flash) -> None:
    """Reads of sectors that were never written or were discarded do not reach the dies."""
    assert new.read(0) < 10 * US
    new.write(0, 256)
    new.now += SECOND
    assert new.read(0) > 75 * US
    assert new.serve(DISCARD, 0, 256) < 10 * US
    assert new.read(0) < 10 * US


def test_a_page_is_read_at_once(new: Flash) -> None:
    """16 KiB written together take one read; the rest is the channel's time."""
    new.write(0, 32)
    new.now += SECOND
    assert new.read(0, 8) == pytest.approx(82 * US, rel=0.01)
    assert new.read(0, 32) == pytest.approx(98 * US, rel=0.01)


@pytest.mark.parametrize("changes", [
    {"size_mb": 512}, {"size_mb": 512, "dies": 32}, {"size_mb": 600, "spare_permille": 70},
    {"size_mb": 2048, "page_kb": 64, "block_pages": 128, "dies": 1, "spare_permille": 70},
    {"size_mb": 512, "page_kb": 4, "block_pages": 64}, {"size_mb": 520, "page_kb": 64,
                                                        "block_pages": 64, "dies": 3},
])
@pytest.mark.parametrize("precondition", [False, True])
def test_any_load_leaves_it_sound(changes: dict[str, int], precondition: bool) -> None:
    """Small and odd drives, with unaligned and skewed commands of all kinds."""
    flash = Flash(precondition, **changes)
    rng = random.Random(4)
    sectors = flash.slots * 8

    def command() -> tuple[int, int, int]:
        operation = rng.choice([READ, WRITE, WRITE, WRITE, WRITE_FUA, FLUSH, DISCARD])
        count = 0 if operation == FLUSH else rng.choice([1, 7, 8, 9, 64, 2560])
        span = rng.choice([sectors, sectors, sectors // 50])
        return operation, rng.randrange(span - count), count

    for _ in range(2):
        flash.load(64, repeat(command), 10_000)
        assert flash.is_sound()


def reader_beside_a_writer(flash: Flash, number: int) -> tuple[list[int], int]:
    """Return the times of random reads, one at a time, and the number of writes beside them."""
    writes, reads = anywhere(flash, WRITE), anywhere(flash, READ, 2)
    flash.load(32, writes, 20_000)
    flash.submit(*next(reads))
    times: list[int] = []
    written = 0
    while len(times) < number:
        command = flash.complete()
        if command.op == READ:
            times.append(command.done - command.arrived)
        else:
            written += 1
        flash.submit(*next(reads if command.op == READ else writes))
    return times, written


def test_a_read_suspends_an_erasure() -> None:
    """The read waits until the erasure is suspended, or for a program, not for the erasure."""
    whole, _ = reader_beside_a_writer(Flash(), 10_000)
    suspended, _ = reader_beside_a_writer(Flash(suspend_ns=100 * US), 10_000)
    assert max(whole) > 3.8 * MS
    assert max(suspended) < 2.5 * MS


def test_a_suspended_erasure_takes_longer() -> None:
    """The reads and suspensions delay it, so writes are slower by some part, but are served."""
    flash, other = Flash(), Flash(suspend_ns=500 * US)
    times, written = reader_beside_a_writer(flash, 10_000)
    others, fewer = reader_beside_a_writer(other, 10_000)
    assert 0.5 * written / sum(times) < fewer / sum(others) < written / sum(times)
    assert other.is_sound()


def test_reads_don_t_keep_an_erasure_from_its_end() -> None:
    """Beside many readers the erasure proceeds between any two suspensions."""
    flash = Flash(suspend_ns=100 * US)
    reads, writes = anywhere(flash, READ), anywhere(flash, WRITE, 2)
    flash.load(32, writes, 20_000)
    for _ in range(128):
        flash.submit(*next(reads))
    begin, count = flash.now, 0
    while flash.now < begin + SECOND:
        command = flash.complete()
        count += command.op != READ
        flash.submit(*next(reads if command.op == READ else writes))
    assert count > 0.3 * 30_500 / 3


@pytest.mark.parametrize("dies", [1, 2, 32])
def test_number_of_dies(dies: int) -> None:
    """Deep random reads are as fast as all dies together."""
    flash = Flash(dies=dies, link_kbps=100_000_000)
    takes = flash.profile.read_ns + 4096 * MS // flash.profile.channel_kbps
    assert flash.iops(32 * dies, anywhere(flash, READ), 20_000) == pytest.approx(
        dies * SECOND / takes, rel=0.1)
