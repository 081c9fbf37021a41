"""Drives drawn at random, for the models of tests/simdisk.

No constant of the scheduler may fit one drive only. What is drawn are the numbers of data sheets,
each over the range that drives of the last twenty years have; the model's own follow from them.
"""

import ctypes
import random
from dataclasses import dataclass
from math import sqrt

from tests.simdisk.model import DiskProfile, FlashProfile


@dataclass(frozen=True)
class Disk:
    """What a data sheet says of a drive, in ns, bytes and bytes/s."""

    rpm: int
    size: int
    rate: int  # outer edge; half of it at the inner one
    heads: int
    track_seek: int
    mean_seek: int
    command: int
    cache: int
    segments: int
    depth: int
    patience: int

    def __str__(self) -> str:
        return (f"{self.rpm} rpm, {self.size // 10**9} GB, {self.rate // 10**6} MB/s, "
                f"seeks {self.track_seek / 1e6:.1f}-{self.mean_seek / 1e6:.1f} ms, "
                f"{self.cache >> 20} MiB in {self.segments}, depth {self.depth}")

    def profile(self) -> DiskProfile:
        """The model's parameters.

        The seek curve is that of the drives in disk.c: a root below a knee at 30 % of the
        cylinders, then a line without a kink, twice the mean at full stroke.
        """
        outer = max(64, self.rate * 60 // self.rpm // 512)
        zones = 16
        cylinders = self.size // 512 // (self.heads * outer * 3 // 4)
        knee = max(4, cylinders * 3 // 10)
        full = 2 * self.mean_seek
        # short + sqrt(knee) * root = knee's time; the line has the root's slope there.
        root = (full - self.track_seek) / (sqrt(knee) + (cylinders - knee) / (2 * sqrt(knee)))
        slope = root / (2 * sqrt(knee))
        at_knee = self.track_seek + root * sqrt(knee)
        return DiskProfile(
            sectors=self.size // 512, rpm=self.rpm, heads=self.heads, zones=zones, outer_spt=outer,
            inner_spt=outer // 2, head_switch_ns=self.track_seek,
            track_skew_ns=int(self.track_seek + root) + 50_000, seek_short_ns=int(self.track_seek),
            seek_sqrt_ns=int(root), seek_knee=knee, seek_long_ns=int(at_knee - slope * knee),
            seek_cyl_ps=int(slope * 1000), write_settle_ns=1_000_000, command_ns=self.command,
            bus_kbps=max(190_000, 2 * self.rate // 1000), cache_kb=self.cache >> 10,
            segments=self.segments, depth=self.depth, patience_ms=self.patience // 10**6)


def draw(rng: random.Random, depth: int | None = None) -> Disk:
    """A drive: 5400 to 15000 rpm, 80 GB to 20 TB, with or without command queueing."""
    rpm = rng.choice([5400, 5400, 7200, 7200, 7200, 10_000, 15_000])
    return Disk(
        rpm=rpm, size=int(80e9 * 250 ** rng.random()), rate=int(rng.uniform(50, 270) * 1e6),
        heads=rng.choice([1, 2, 4, 8, 16]), track_seek=int(rng.uniform(0.2, 1.2) * 1e6),
        mean_seek=int(rng.uniform(3.5, 5) * 1e6 if rpm >= 10_000 else rng.uniform(7, 13) * 1e6),
        command=int(rng.uniform(30, 300) * 1e3), cache=rng.choice([2, 8, 16, 64, 256]) << 20,
        segments=rng.choice([4, 8, 16, 32, 64]),
        depth=depth or rng.choice([1, 1, 2, 4, 8, 16, 32]),
        patience=int(rng.choice([100, 300, 1000, 3000]) * 1e6))


@dataclass(frozen=True)
class Flash:
    """What is known of a flash drive, in ns, bytes and bytes/s."""

    dies: int
    page: int
    read: int
    program: int
    erase: int
    channel: int
    link: int
    controller: int
    buffer: int
    spare: float  # part of the capacity
    read_run: int  # reads that a die serves before a program that waits

    def __str__(self) -> str:
        return (f"{self.dies} dies of {self.page >> 10} KiB pages, read {self.read / 1e3:.0f} us, "
                f"program {self.program / 1e6:.1f} ms, erase {self.erase / 1e6:.1f} ms, "
                f"link {self.link / 1e6:.0f} MB/s, buffer {self.buffer >> 20} MiB, "
                f"spare {self.spare:.0%}, {self.read_run} reads in a row")

    @property
    def size(self) -> int:
        """Bytes: no more than the tables of the model need to collect garbage in seconds."""
        return 8 << 30

    def profile(self) -> FlashProfile:
        """The model's parameters."""
        return FlashProfile(
            size_mb=self.size >> 20, spare_permille=int(1000 * self.spare), dies=self.dies,
            page_kb=self.page >> 10, block_pages=256 if self.page <= 32 << 10 else 128,
            read_ns=self.read, program_ns=self.program, erase_ns=self.erase,
            channel_kbps=self.channel // 1000, link_kbps=self.link // 1000,
            controller_ns=self.controller, buffer_ns=10_000, buffer_kb=self.buffer >> 10,
            read_run=self.read_run)


def draw_flash(rng: random.Random) -> Flash:
    """A drive: from SATA to PCIe 4.0, from MLC to QLC, with a buffer of 1 to 64 MiB."""
    program = int(rng.choice([350, 650, 1000, 2000]) * 1000 * rng.uniform(0.7, 1.3))
    return Flash(
        dies=rng.choice([2, 4, 8, 16, 32]), page=rng.choice([8, 16, 32, 64]) << 10,
        read=int(rng.uniform(40, 140) * 1000), program=program,
        erase=int(rng.uniform(2, 10) * 1e6), channel=int(rng.choice([200, 400, 800, 1200]) * 1e6),
        link=int(rng.choice([530, 1067, 3200, 6500]) * 1e6),
        controller=int(rng.uniform(1, 15) * 1000), buffer=rng.choice([1, 2, 8, 16, 64]) << 20,
        spare=rng.uniform(0.07, 0.3), read_run=rng.choice([2, 4, 8, 16, 64]))


def install(lib: ctypes.CDLL, drive: Disk | Flash) -> None:
    """Make it the drive "drawn", or "drawn flash", of the simulation."""
    profile = drive.profile()
    function = lib.sim_drive_profile if isinstance(drive, Disk) else lib.sim_drive_flash_profile
    function.restype = ctypes.c_char_p
    wrong = function(ctypes.byref(profile), ctypes.sizeof(profile))
    if wrong:
        raise ValueError(f"{drive}: {wrong.decode()}")
