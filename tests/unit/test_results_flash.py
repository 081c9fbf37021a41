"""The limits of the flash drive that the pages name, compared with the model of the drive."""

import random

import pytest

from results.experiments.guarantee import flash as experiment
from results.experiments.guarantee.flash import WRITER, erasures, late_at_least
from tests.simdisk.model import READ, SECOND, WRITE, Flash, repeat

US = 1000


@pytest.fixture
def drive() -> Flash:
    """Return a drive in the steady state of random writes."""
    return Flash()


def test_numbers_are_the_drives(drive: Flash) -> None:
    profile = drive.profile
    move_ns = 2 * profile.page_kb * 1024 * 1_000_000 // profile.channel_kbps
    collect_ns = 4 * profile.read_ns + move_ns + profile.program_ns
    assert (profile.dies, profile.block_pages) == (experiment.DIES, experiment.BLOCK_PAGES)
    assert profile.read_ns == experiment.READ_US * US
    assert profile.erase_ns == experiment.ERASE_US * US
    assert pytest.approx(collect_ns, rel=0.001) == experiment.COLLECT_US * US
    assert drive.read(0) == pytest.approx(experiment.ALONE_US * US, rel=0.05)


def test_a_deep_writer_makes_it_erase_as_often_as_the_page_says(drive: Flash) -> None:
    rng, sectors, writes = random.Random(1), WRITER.block // 512, 800

    def write() -> tuple[int, int, int]:
        place = rng.randrange(WRITER.size // WRITER.block)
        return WRITE, WRITER.offset // 512 + place * sectors, sectors

    begin = drive.now
    drive.load(64, repeat(write), writes)
    written_kb = writes * WRITER.block // 1024 - drive.profile.buffer_kb
    pages = drive.amplification() * written_kb / drive.profile.page_kb
    found = pages / drive.profile.block_pages * SECOND / (drive.now - begin)
    assert erasures() <= found <= 1.5 * erasures()


def test_late_ones_are_no_fewer_than_is_said(drive: Flash) -> None:
    """A reader beside a writer that keeps the buffer full, so that no die is ever idle."""
    rng, sectors, times = random.Random(1), WRITER.block // 512, []

    def write() -> None:
        place = rng.randrange(WRITER.size // WRITER.block)
        drive.submit(WRITE, WRITER.offset // 512 + place * sectors, sectors)

    def read() -> None:
        drive.submit(READ, rng.randrange(WRITER.offset // 4096) * 8)

    for _ in range(64):
        write()
    read()
    while len(times) < 5000:
        command = drive.complete()
        if command.op == READ:
            times.append(command.done - command.arrived)
            read()
        else:
            write()
    late = sum(time > 2_000 * US for time in times)
    *_, share = late_at_least(2_000)
    assert late >= share * len(times)
