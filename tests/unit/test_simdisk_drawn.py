"""Drives drawn at random, in tests/sim/drives.py: the models accept them, and the range is wide."""

import random
from statistics import mean

import pytest

from tests.sim.drives import Disk, Flash, draw, draw_flash, draw_plain, draw_plain_flash
from tests.simdisk import model
from tests.simdisk.model import MS

NUMBER = 400


@pytest.fixture(scope="module")
def disks() -> list[Disk]:
    """Draw many disks."""
    rng = random.Random(1)
    return [draw(rng) for _ in range(NUMBER)]


@pytest.fixture(scope="module")
def flashes() -> list[Flash]:
    """Draw many flash drives."""
    rng = random.Random(1)
    return [draw_flash(rng) for _ in range(NUMBER)]


def made(disk: Disk) -> model.Disk:
    """The model of a drive that was drawn."""
    profile = disk.profile()
    changes = {name: getattr(profile, name) for name, *_ in profile._fields_}
    return model.Disk(write_cache=disk.write_cache, **changes)


def test_the_models_take_every_drive(disks: list[Disk], flashes: list[Flash]) -> None:
    for disk in disks:
        made(disk)
    lib = model.library()
    for flash in flashes:
        assert lib.flash_check(model.byref(flash.profile())) is None, str(flash)


@pytest.mark.parametrize("number", range(12))
def test_a_disk_reads_as_its_data_sheet_says(disks: list[Disk], number: int) -> None:
    """The mean of random reads is the sum of seek, half a revolution and command."""
    disk, rng = disks[number], random.Random(2)
    its = made(disk)
    times = [its.read(rng.randrange(its.profile.sectors // 8) * 8) for _ in range(4000)]
    expected = disk.mean_seek + its.revolution / 2 + disk.command
    assert mean(times) == pytest.approx(expected, rel=0.1), str(disk)


def test_each_kind_of_disk_is_drawn(disks: list[Disk]) -> None:
    """A census of about ten drives has some of each kind."""
    queueing = [disk for disk in disks if disk.depth > 1]
    assert {4, 8, 16, 32, 64, 128, 256} == {disk.depth for disk in queueing}
    assert any(disk.age for disk in queueing) and not all(disk.age for disk in queueing)
    cached = [disk for disk in disks if disk.write_cache]
    assert 0.4 < len(cached) / NUMBER < 0.6
    assert {0, 5 * MS, 20 * MS, 100 * MS} == {disk.destage for disk in cached}
    assert 0.1 < sum(disk.clean_writes > 0 for disk in disks) / NUMBER < 0.3
    assert all(30 * MS <= disk.clean <= 530 * MS for disk in disks if disk.clean_writes)
    assert 0.2 < sum(disk.hypervisor is not None for disk in disks) / NUMBER < 0.3


def test_each_kind_of_flash_is_drawn(flashes: list[Flash]) -> None:
    assert {flash.dies for flash in flashes} == {1, 2, 4, 8, 16, 32}
    assert 0.4 < sum(flash.suspend > 0 for flash in flashes) / NUMBER < 0.6
    assert 0.2 < sum(flash.hypervisor is not None for flash in flashes) / NUMBER < 0.3


def test_plain_drives_are_regular() -> None:
    """Regular drives, for which the tests of the rule were made."""
    rng = random.Random(1)
    for disk in (draw_plain(rng) for _ in range(NUMBER)):
        assert not (disk.write_cache or disk.destage or disk.age)
        assert not (disk.clean_writes or disk.hypervisor)
        assert disk.depth <= 32
    for flash in (draw_plain_flash(rng) for _ in range(NUMBER)):
        assert not (flash.suspend or flash.hypervisor)
