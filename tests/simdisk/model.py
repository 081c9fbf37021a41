"""The models of drives, built for the host: a library, and a clock to run them by."""

import ctypes
import heapq
import subprocess
from collections.abc import Callable, Iterator
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parents[1] / "build/host/libsimdisk.so"
FLAGS = ("-shared", "-fPIC", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")
SOURCES = ("disk.c", "disk_profile.c", "flash.c", "blocks.c", "jitter.c", "host/api.c")

READ, WRITE, WRITE_FUA, FLUSH, DISCARD = range(5)
NEVER = 2**64 - 1
MS = 1_000_000
SECOND = 1000 * MS


class Command(Structure):
    """struct drive_cmd."""

    _fields_ = [("next", c_void_p), ("sector", c_uint64), ("arrived", c_uint64),
                ("done", c_uint64), ("nr", c_uint32), ("op", c_int)]


class DiskProfile(Structure):
    """struct disk_profile."""

    _fields_ = [("sectors", c_uint64), *((name, c_uint32) for name in (
        "rpm", "heads", "zones", "outer_spt", "inner_spt", "head_switch_ns", "track_skew_ns",
        "seek_short_ns", "seek_sqrt_ns", "seek_knee", "seek_long_ns", "seek_cyl_ps",
        "write_settle_ns", "command_ns", "bus_kbps", "cache_kb", "segments", "depth",
        "patience_ms", "age_permille", "clean_writes", "clean_ms",
        "destage_ms"))]


class FlashProfile(Structure):
    """struct flash_profile."""

    _fields_ = [(name, c_uint32) for name in (
        "size_mb", "spare_permille", "dies", "page_kb", "block_pages", "read_ns",
        "program_ns", "erase_ns", "channel_kbps", "link_kbps", "controller_ns", "buffer_ns",
        "buffer_kb", "read_run", "suspend_ns")]


class Jitter(Structure):
    """struct jitter."""

    _fields_ = [("most_ns", c_uint32), ("tail_ns", c_uint32), ("tail_one_in", c_uint32),
                ("state", c_uint64)]

    def draw(self) -> int:
        """What the next command takes longer, ns."""
        return library().jitter_ns(byref(self))


@cache
def library() -> ctypes.CDLL:
    """Build the models and load them."""
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", *FLAGS, "-I", HERE / "host", *(HERE / name for name in SOURCES),
                    "-o", LIBRARY], check=True)
    lib = ctypes.CDLL(str(LIBRARY))
    lib.disk_init.argtypes = [c_void_p, POINTER(DiskProfile), c_bool]
    lib.disk_init.restype = c_char_p
    lib.disk_seek_ns.argtypes = [c_void_p, c_uint32]
    lib.disk_seek_ns.restype = c_uint64
    lib.host_disk_cylinders.argtypes = [c_void_p]
    lib.host_disk_size.restype = ctypes.c_size_t
    lib.flash_check.argtypes = [POINTER(FlashProfile)]
    lib.flash_check.restype = c_char_p
    lib.flash_size.argtypes = [POINTER(FlashProfile)]
    lib.flash_size.restype = ctypes.c_size_t
    lib.flash_init.argtypes = [c_void_p, POINTER(FlashProfile), c_bool]
    lib.flash_init.restype = None
    lib.host_flash_pages.argtypes = [c_void_p, POINTER(c_uint64), POINTER(c_uint64)]
    lib.host_flash_is_sound.argtypes = [c_void_p]
    lib.host_flash_is_sound.restype = c_bool
    lib.host_jitter_size.restype = ctypes.c_size_t
    assert lib.host_jitter_size() == ctypes.sizeof(Jitter)
    lib.jitter_ns.argtypes = [POINTER(Jitter)]
    lib.jitter_ns.restype = c_uint64
    for kind in ("disk", "flash"):
        submit, decide, wake = verbs(lib, kind)
        submit.argtypes = [c_void_p, POINTER(Command)]
        submit.restype = None
        decide.argtypes = [c_void_p, c_uint64]
        decide.restype = c_void_p
        wake.argtypes = [c_void_p]
        wake.restype = c_uint64
    return lib


def verbs(lib: ctypes.CDLL, kind: str) -> list[Callable]:
    """What drive.h says that a model is asked."""
    return [getattr(lib, f"{kind}_{verb}") for verb in ("submit", "decide", "wake")]


class Drive:
    """A drive with one client, which has a clock, `now`."""

    def __init__(self, kind: str, memory: ctypes.Array) -> None:
        self.memory = memory
        self._submit, self._decide, self._wake = verbs(library(), kind)
        self._owned: dict[int, Command] = {}
        self._decided: list[tuple[int, int, Command]] = []
        self._count = 0
        self.now = SECOND

    def submit(self, operation: int, sector: int, count: int = 8) -> Command:
        """Give it a command now."""
        command = Command(None, sector, self.now, 0, count, operation)
        self._owned[ctypes.addressof(command)] = command
        self._submit(self.memory, byref(command))
        self._run()
        return command

    def complete(self) -> Command:
        """Go on to the next completion."""
        while not self._decided or self._wake(self.memory) < self._decided[0][0]:
            wake = self._wake(self.memory)
            assert wake != NEVER, "the drive has forgotten a command"
            self.now = max(self.now, wake)
            self._run()
        done, _, command = heapq.heappop(self._decided)
        self.now = max(self.now, done)
        self._run()
        return command

    def oldest(self) -> int:
        """How long a command has been in the drive for which no completion is known."""
        return self.now - min(command.arrived for command in self._owned.values())

    def _run(self) -> None:
        while address := self._decide(self.memory, self.now):
            command = self._owned.pop(address)
            assert command.done >= command.arrived
            self._count += 1
            heapq.heappush(self._decided, (command.done, self._count, command))

    def serve(self, operation: int, sector: int, count: int = 8) -> int:
        """Do one command alone and return how long it took, in nanoseconds."""
        begin = self.now
        self.submit(operation, sector, count)
        self.complete()
        return self.now - begin

    def read(self, sector: int, count: int = 8) -> int:
        """Read and return the time it took."""
        return self.serve(READ, sector, count)

    def write(self, sector: int, count: int = 8) -> int:
        """Write and return the time it took."""
        return self.serve(WRITE, sector, count)

    def load(self, depth: int, commands: Iterator[tuple[int, int, int]], number: int) -> list[int]:
        """Keep `depth` commands in the drive until `number` are complete; return their times."""
        for _ in range(depth):
            self.submit(*next(commands))
        times = []
        while len(times) < number:
            command = self.complete()
            times.append(command.done - command.arrived)
            self.submit(*next(commands))
        return times

    def iops(self, depth: int, commands: Iterator[tuple[int, int, int]], number: int) -> float:
        """Commands per second under that load."""
        begin = self.now
        self.load(depth, commands, number)
        return number * SECOND / (self.now - begin)


class Disk(Drive):
    """A disk of a profile, with changes to it."""

    def __init__(self, profile: str = "hd080hj", write_cache: bool = False,
                 **changes: int) -> None:
        lib = library()
        self.profile = DiskProfile.from_buffer_copy(DiskProfile.in_dll(lib, f"disk_{profile}"))
        for name, value in changes.items():
            setattr(self.profile, name, value)
        memory = ctypes.create_string_buffer(lib.host_disk_size())
        wrong = lib.disk_init(memory, byref(self.profile), write_cache)
        if wrong:
            raise ValueError(wrong.decode())
        super().__init__("disk", memory)
        self.cylinders = lib.host_disk_cylinders(memory)
        self.revolution = 60 * SECOND // self.profile.rpm

    def seek(self, distance: int) -> int:
        """Time to move the arm."""
        return library().disk_seek_ns(self.memory, distance)

    def hit(self, count: int = 8) -> int:
        """Time of a read served from the buffer."""
        return self.profile.command_ns + count * 512 * MS // self.profile.bus_kbps

    def sequential(self, operation: int, start: int, count: int, commands: int) -> float:
        """Bytes per second of commands one after another."""
        begin = self.now
        for number in range(commands):
            self.serve(operation, start + number * count, count)
        return commands * count * 512 * SECOND / (self.now - begin)


class Flash(Drive):
    """A flash drive of the profile, with changes to it."""

    def __init__(self, precondition: bool = True, **changes: int) -> None:
        lib = library()
        self.profile = FlashProfile.from_buffer_copy(FlashProfile.in_dll(lib, "flash_tlc"))
        for name, value in changes.items():
            setattr(self.profile, name, value)
        wrong = lib.flash_check(byref(self.profile))
        if wrong:
            raise ValueError(wrong.decode())
        memory = ctypes.create_string_buffer(lib.flash_size(byref(self.profile)))
        lib.flash_init(memory, byref(self.profile), precondition)
        super().__init__("flash", memory)
        self.slots = self.profile.size_mb * 256

    def amplification(self) -> float:
        """Pages programmed for each page from the host."""
        host, every = c_uint64(), c_uint64()
        library().host_flash_pages(self.memory, byref(host), byref(every))
        return every.value / host.value

    def is_sound(self) -> bool:
        """Whether the mapping's tables agree with each other and with the counts."""
        return library().host_flash_is_sound(self.memory)


def repeat(make: Callable[[], tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Commands for ever."""
    while True:
        yield make()
