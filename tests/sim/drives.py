"""Drives drawn at random, for the models of tests/simdisk.

Constants of the scheduler must not fit one drive only. Numbers of data sheets are drawn, each from
the range that drives of the last twenty years cover; the parameters of the model follow from them.
`draw()` and `draw_flash()` add to `draw_plain()` and `draw_plain_flash()` what makes the service
times of a drive less regular: a volatile cache, cleaning, ageing of commands, suspended erasures, a
hypervisor.
"""

import ctypes
import random
from ctypes import Structure, byref, c_uint32
from dataclasses import dataclass, replace
from math import sqrt

from tests.simdisk.model import DiskProfile, FlashProfile

MS = 10**6
# Tags of virtio-blk: QEMU's queue has 256 descriptors, and a request takes at least two.
VIRTIO_TAGS = 128


class CHost(Structure):
    """struct sim_host."""

    _fields_ = [(name, c_uint32) for name in (
        "tags", "write_cache", "jitter_ns", "tail_ns", "tail_one_in")]


@dataclass(frozen=True)
class Hypervisor:
    """The delay added to each command, ns: up to `most`, and one in `one_in` times a `tail`."""

    most: int
    tail: int
    one_in: int

    def __str__(self) -> str:
        return (f"behind virtio-blk, {self.most / 1e3:.0f} us, "
                f"{self.tail / 1e6:.1f} ms for 1 in {self.one_in}")

    @property
    def mean(self) -> float:
        """The mean delay, ns: a tail has two slices on average."""
        return self.most / 2 + 2 * self.tail / self.one_in

    @property
    def longest(self) -> int:
        """Five slices: only one in 32 of the commands with a tail takes longer."""
        return self.most + 5 * self.tail


@dataclass(frozen=True)
class Disk:
    """The data sheet of a disk, in ns, bytes and bytes/s."""

    rpm: int
    size: int
    rate: int  # at the outer edge; half of it at the inner edge
    heads: int
    track_seek: int
    mean_seek: int
    command: int
    cache: int
    segments: int
    depth: int
    patience: int
    write_cache: bool = False
    destage: int = 0  # idle time before it destages; 0: it destages at once and in order
    age: int = 0  # ms of positioning that a command gains for each second that it waits
    clean_writes: int = 0  # scattered writes after which it cleans; 0: not shingled
    clean: int = 0
    hypervisor: Hypervisor | None = None

    def __str__(self) -> str:
        words = [f"{self.rpm} rpm", f"{self.size // 10**9} GB", f"{self.rate // 10**6} MB/s",
                 f"seeks {self.track_seek / 1e6:.1f}-{self.mean_seek / 1e6:.1f} ms",
                 f"{self.cache >> 20} MiB in {self.segments}", f"depth {self.depth}"]
        if self.age:
            words.append(f"ageing {self.age / 1000:g}")
        if self.write_cache:
            words.append("write cache" + (f" for {self.destage // MS} ms" if self.destage else ""))
        if self.clean_writes:
            words.append(f"cleans {self.clean // MS} ms after {self.clean_writes} writes")
        return ", ".join([*words, *([str(self.hypervisor)] if self.hypervisor else [])])

    def stops(self, writes: bool) -> int:
        """Return the longest time of a read that is alone, ns; with writes the disk may clean."""
        return (2 * self.mean_seek + 60 * 10**9 // self.rpm + self.command
                + (self.hypervisor.longest if self.hypervisor else 0)
                + (self.clean if writes else 0))

    def profile(self) -> DiskProfile:
        """Return the model's parameters.

        The seek curve has the form of those in disk_profile.c: a square root up to a knee at 30 %
        of the cylinders, then a line that continues it without a kink. A full-stroke seek takes
        twice the mean.
        """
        outer = max(64, self.rate * 60 // self.rpm // 512)
        zones = 16
        cylinders = self.size // 512 // (self.heads * outer * 3 // 4)
        knee = max(4, cylinders * 3 // 10)
        full = 2 * self.mean_seek
        # short + sqrt(knee) * root is the time at the knee, where the line has the slope of the
        # root.
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
            segments=self.segments, depth=self.depth, patience_ms=self.patience // 10**6,
            age_permille=self.age, clean_writes=self.clean_writes, clean_ms=self.clean // MS,
            destage_ms=self.destage // MS)


def draw_plain(rng: random.Random, depth: int | None = None) -> Disk:
    """Draw a disk: 5400 to 15000 rpm, 80 GB to 20 TB, with or without command queueing."""
    rpm = rng.choice([5400, 5400, 7200, 7200, 7200, 10_000, 15_000])
    return Disk(
        rpm=rpm, size=int(80e9 * 250 ** rng.random()), rate=int(rng.uniform(50, 270) * 1e6),
        heads=rng.choice([1, 2, 4, 8, 16]), track_seek=int(rng.uniform(0.2, 1.2) * 1e6),
        mean_seek=int(rng.uniform(3.5, 5) * 1e6 if rpm >= 10_000 else rng.uniform(7, 13) * 1e6),
        command=int(rng.uniform(30, 300) * 1e3), cache=rng.choice([2, 8, 16, 64, 256]) << 20,
        segments=rng.choice([4, 8, 16, 32, 64]),
        depth=depth or rng.choice([1, 1, 2, 4, 8, 16, 32]),
        patience=int(rng.choice([100, 300, 1000, 3000]) * 1e6))


def draw_hypervisor(rng: random.Random) -> Hypervisor | None:
    """Draw a hypervisor: one drive in four is behind virtio-blk.

    An exit, the thread that does the I/O and the interrupt take some ten microseconds each. If a
    CPU runs another task, it is free when the slice of that task is over: after 1 to 10 ms on
    Linux.
    """
    if rng.random() >= 0.25:
        return None
    return Hypervisor(int(rng.uniform(20, 300) * 1e3), int(rng.uniform(1, 10) * 1e6),
                      rng.choice([100, 1000, 10_000]))


def draw(rng: random.Random, depth: int | None = None) -> Disk:
    """Draw a disk of draw_plain(), with what makes its service times less regular.

    Serial ATA has 32 tags; SAS drives queue up to 256 commands. How commands age is not published
    for any drive. With a bound on the wait that a full queue exceeds anyway, the only order left
    would be that of arrival, so a drive tolerates 10 ms for each command in its queue. Consumer
    drives are shipped with the write cache on, server drives with the cache off. When a drive
    destages is not published either: at once, or when it is idle. One slow drive in four is
    shingled: its bands have 15 to 40 MB (Skylight, FAST 2015), which take 200 to 530 ms to read and
    write again at 150 MB/s. Firmware that cleans in parts stalls for less.
    """
    disk = draw_plain(rng, depth)
    shingled = disk.rpm <= 7200 and rng.random() < 0.25
    queue = disk.depth if depth or disk.depth == 1 else rng.choice([4, 8, 16, 32, 32, 64, 128, 256])
    disk = replace(
        disk, depth=queue, patience=max(disk.patience, 10 * queue * MS),
        age=rng.choice([0, 0, 30, 100, 300]) if queue > 1 else 0,
        write_cache=rng.random() < 0.5,
        clean_writes=rng.choice([50, 200, 1000]) if shingled else 0,
        clean=int(rng.uniform(30, 530)) * MS if shingled else 0,
        hypervisor=draw_hypervisor(rng))
    return replace(disk, destage=rng.choice([0, 5, 20, 100]) * MS if disk.write_cache else 0)


@dataclass(frozen=True)
class Flash:
    """The known properties of a flash drive, in ns, bytes and bytes/s."""

    dies: int
    page: int
    read: int
    program: int
    erase: int
    channel: int
    link: int
    controller: int
    buffer: int
    spare: float  # as a part of the capacity
    read_run: int  # reads that a die serves before a waiting program
    suspend: int = 0  # time to suspend an erasure for a read; 0: it cannot
    hypervisor: Hypervisor | None = None

    def __str__(self) -> str:
        words = [f"{self.dies} dies of {self.page >> 10} KiB pages",
                 f"read {self.read / 1e3:.0f} us", f"program {self.program / 1e6:.1f} ms",
                 f"erase {self.erase / 1e6:.1f} ms", f"link {self.link / 1e6:.0f} MB/s",
                 f"buffer {self.buffer >> 20} MiB", f"spare {self.spare:.0%}",
                 f"{self.read_run} reads in a row"]
        if self.suspend:
            words.append(f"suspends in {self.suspend / 1e3:.0f} us")
        return ", ".join([*words, *([str(self.hypervisor)] if self.hypervisor else [])])

    @property
    def size(self) -> int:
        """Bytes. A larger drive would not collect garbage within seconds in the model."""
        return 8 << 30

    def profile(self) -> FlashProfile:
        """Return the model's parameters."""
        return FlashProfile(
            size_mb=self.size >> 20, spare_permille=int(1000 * self.spare), dies=self.dies,
            page_kb=self.page >> 10, block_pages=256 if self.page <= 32 << 10 else 128,
            read_ns=self.read, program_ns=self.program, erase_ns=self.erase,
            channel_kbps=self.channel // 1000, link_kbps=self.link // 1000,
            controller_ns=self.controller, buffer_ns=10_000, buffer_kb=self.buffer >> 10,
            read_run=self.read_run, suspend_ns=self.suspend)


def draw_plain_flash(rng: random.Random) -> Flash:
    """Draw a flash drive: SATA to PCIe 4.0, MLC to QLC, with a buffer of 1 to 64 MiB."""
    program = int(rng.choice([350, 650, 1000, 2000]) * 1000 * rng.uniform(0.7, 1.3))
    return Flash(
        dies=rng.choice([2, 4, 8, 16, 32]), page=rng.choice([8, 16, 32, 64]) << 10,
        read=int(rng.uniform(40, 140) * 1000), program=program,
        erase=int(rng.uniform(2, 10) * 1e6), channel=int(rng.choice([200, 400, 800, 1200]) * 1e6),
        link=int(rng.choice([530, 1067, 3200, 6500]) * 1e6),
        controller=int(rng.uniform(1, 15) * 1000), buffer=rng.choice([1, 2, 8, 16, 64]) << 20,
        spare=rng.uniform(0.07, 0.3), read_run=rng.choice([2, 4, 8, 16, 64]))


def draw_flash(rng: random.Random) -> Flash:
    """Draw a drive of draw_plain_flash(); half of them suspend erasures, some have a single die.

    Data sheets that give the time to suspend an erasure have 500 us at most (Samsung OneNAND
    KFG2816), and 20 us for NOR flash.
    """
    flash = draw_plain_flash(rng)
    return replace(
        flash, dies=rng.choice([1, flash.dies, flash.dies, flash.dies, flash.dies]),
        suspend=int(rng.uniform(20, 500) * 1000) if rng.random() < 0.5 else 0,
        hypervisor=draw_hypervisor(rng))


def host(drive: Disk | Flash) -> CHost:
    """Return the parameters of what is between the scheduler and a drive."""
    its = drive.hypervisor
    cached = isinstance(drive, Disk) and drive.write_cache
    if not its:
        return CHost(write_cache=cached)
    return CHost(VIRTIO_TAGS, cached, its.most, its.tail, its.one_in)


def install(lib: ctypes.CDLL, drive: Disk | Flash) -> None:
    """Let the simulation use it as its drive "drawn" or "drawn flash"."""
    profile = drive.profile()
    lib.sim_drive_host(byref(host(drive)))
    function = lib.sim_drive_profile if isinstance(drive, Disk) else lib.sim_drive_flash_profile
    function.restype = ctypes.c_char_p
    wrong = function(byref(profile), ctypes.sizeof(profile))
    if wrong:
        raise ValueError(f"{drive}: {wrong.decode()}")
