"""The policy in front of a simulated drive, with clients, in virtual time: `run()`.

A minute on a disk takes a tenth of a second to simulate. Units: bytes, seconds, and nanoseconds as
named.
"""

import ctypes
import os
import random
import subprocess
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_bool, c_uint32, c_uint64
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.model.reservation import SECOND, Params
from tests.sim.drives import Disk, Flash, install
from tests.unit.host import CORE, ROOT, CParams, compile_library

MS = 10**6
SIM = ROOT / "tests/sim"
SIMDISK = ROOT / "tests/simdisk"
LIBRARIES = ROOT / "build/host"
# The files that make the choice: the paper's rule, or that of the scheduler.
PAPER_RULE = ROOT / "tests/paper/paper.c"
RULE = tuple(ROOT / "htbs/core" / name for name in ("choose.c", "run.c"))
DRIVES = ("hd080hj", "nearline", "tlc", "plain", "drawn", "drawn flash")  # enum sim_drive
REGION = 2 << 30  # bytes of the disk for each client
EVER = (1 << 64) - 1
WAIT_NS = 20_000  # resolution of percentiles


class CClient(Structure):
    """struct sim_client."""

    _fields_ = [("promise", CParams), ("base", c_uint64), ("span", c_uint64),
                ("begin", c_uint64), ("end", c_uint64), ("stagger", c_uint64),
                ("think", c_uint64), ("period", c_uint64),
                ("times", POINTER(c_uint64)), ("count", c_uint64), ("size", c_uint32),
                ("depth", c_uint32), ("sequential", c_bool), ("write", c_bool),
                ("synced", c_bool), ("idle", c_bool), ("shares", c_bool),
                *((name, c_uint64)
                  for name in ("bytes", "ios", "conforming", "late", "late_max", "wait_max")),
                ("waits", c_uint32 * 8192)]

    def percentile(self, percent: float) -> int:
        """Return the latency that `percent` of its requests do not exceed, ns.

        164 ms stands for that and longer ones.
        """
        rank, seen = self.ios * percent / 100, 0
        for which, count in enumerate(self.waits, start=1):
            seen += count
            if seen >= rank:
                return which * WAIT_NS
        return len(self.waits) * WAIT_NS


class CPlain(Structure):
    """struct sim_plain."""

    _fields_ = [("depth", c_uint32), ("least", c_uint64), ("most", c_uint64),
                *((name, c_uint64) for name in ("each", "kib", "burst", "slower", "slow_at",
                                                "fast_at"))]


class CSetup(Structure):
    """struct sim_setup."""

    _fields_ = [("drive", c_uint32), ("b_max", c_uint32), ("t_wait", c_uint64),
                ("seek", c_uint64), ("seconds", c_uint64), ("seed", c_uint64), ("seeks", c_bool),
                ("window", c_uint32), ("quota", c_uint64), ("late", c_uint32),
                ("late_writes", c_uint32),
                ("plain", CPlain), *((name, c_uint64) for name in (
                    "stall_at", "stall", "stall_bytes", "stall_every"))]


class COutcome(Structure):
    """struct sim_outcome."""

    _fields_ = [(name, c_uint64) for name in ("overloads", "overload_ns", "overload_end",
                                              "switches", "waits", "hits", "seek", "seek_most",
                                              "seeks")]


@dataclass(frozen=True)
class Client:
    """A client that reads or writes, and its reservation. Its requests arrive at `times`.

    Without `times` it is a closed loop: it keeps `depth` requests in flight and thinks before each,
    with at most `rate` bytes/s.
    """

    promise: Params
    sequential: bool = False
    size: int = 4096
    depth: int = 1
    think: int = 30_000
    rate: int = 0
    times: Sequence[int] | None = None
    write: bool = False
    synced: bool = False  # a task waits for each write, as for each read
    idle: bool = False  # in the background; one client at most
    shares: bool = False  # shares one reservation with all clients that do
    begin: int = 0
    stagger: int = 0  # between its first `depth` requests
    end: int = EVER
    region: int | None = None  # its region; by default the place in the list of clients
    span: int = REGION  # bytes from the region on


@dataclass(frozen=True)
class Knobs:
    """The policy's tunables and the initial estimate of a positioning.

    With `b_max` the paper's rule chooses. Without `seeks` the policy does not take a disk for a
    rotational device. `window` and `quota` fix the limits of surplus: reads in flight, and bytes/s
    that are written. One conforming request in `late` may be late, and one in `late_writes` beside
    writes on flash. `changed` replaces the file of the core with the same name.
    """

    b_max: int = 0
    t_wait: int = 10 * MS
    seek: int = 20 * MS
    seeks: bool = True
    window: int = 0
    quota: int = 0
    late: int = 1000
    late_writes: int = 100
    changed: Path | None = None


@dataclass(frozen=True)
class Plain:
    """A plain drive: a queue of `depth` commands, each of which takes a random time, ns.

    A cloud volume serves at most one command in `each` ns, and a KiB in `kib` ns, plus the credit
    for up to `burst` ns that it saved up. From `slow_at` to `fast_at`, ns, each command takes
    `slower` times as long, as if others that the scheduler does not see used the device, or it were
    too hot.
    """

    depth: int
    least: int
    most: int
    each: int = 0
    kib: int = 0
    burst: int = 0
    slower: int = 1
    slow_at: int = 0
    fast_at: int = 0


@dataclass(frozen=True)
class Stalls:
    """A drive that completes nothing from `at` on, for as long as it `lasts`, ns.

    It stalls again each time `written` more bytes were written, and each `every` ns.
    """

    drive: str | Plain | Disk | Flash
    at: int
    lasts: int
    written: int = 0
    every: int = 0


PAPER = Knobs(20)
PCLOCK = Knobs(1, 0)
HTBS = Knobs()


@dataclass(frozen=True)
class Run:
    """The outcome of a run: for each client, in order, and for the whole."""

    clients: list[CClient]
    whole: COutcome
    seconds: int

    @property
    def total(self) -> float:
        """Bytes/s of all clients."""
        return sum(self.rates())

    def rates(self) -> list[float]:
        """Bytes/s of each client."""
        return [client.bytes / self.seconds for client in self.clients]

    def late(self) -> int:
        """Conforming requests that were late."""
        return sum(client.late for client in self.clients)


@cache
def library(paper: bool = False, changed: Path | None = None) -> ctypes.CDLL:
    """Build the library of the scheduler's policy, or of the paper's rule, once.

    changed: replaces the file of the core with the same name.
    """
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    name = "libsim-paper" if paper else f"libsim-{changed.stem}" if changed else "libsim"
    path = LIBRARIES / f"{name}.so"
    # Compiled separately, because it has other headers in place of the kernel's.
    drive = path.with_name(f"drive-{os.getpid()}.o")
    subprocess.run(["gcc", "-r", "-fPIC", "-std=gnu11", "-fgnu89-inline", "-O2", "-Wall",
                    "-Werror", f"-I{SIMDISK}", f"-I{SIMDISK / 'host'}", SIM / "drive.c",
                    SIMDISK / "disk.c", SIMDISK / "disk_profile.c", SIMDISK / "flash.c",
                    SIMDISK / "blocks.c", SIMDISK / "jitter.c", "-o", drive], check=True)
    core = [PAPER_RULE, *(file for file in CORE if file not in RULE)] if paper else CORE
    if changed:
        core = [changed, *(file for file in CORE if file.name != changed.name)]
    compile_library(path, [SIM / "sim.c", drive], [SIM], ["SIM_PAPER"] if paper else [], core)
    drive.unlink()
    lib = ctypes.CDLL(str(path))
    lib.sim_run.argtypes = [POINTER(CSetup), POINTER(CClient), c_uint32, POINTER(COutcome)]
    lib.sim_run.restype = c_uint32
    lib.sim_drive_sectors.restype = c_uint64
    lib.sim_drive_submit.argtypes = [c_uint32, c_uint64, c_bool, c_uint64, c_uint32]
    lib.sim_drive_reset.argtypes = [c_uint32, POINTER(CPlain)]
    lib.sim_drive_decide.argtypes = [c_uint64, POINTER(c_uint32), POINTER(c_uint64)]
    lib.sim_drive_decide.restype = c_bool
    return lib


@cache
def worst_read() -> int:
    """Return the longest time of random reads of 4096 bytes, ns, as a calibration would find it."""
    lib, rng = library(), random.Random(0)
    lib.sim_drive_reset(0, byref(CPlain()))
    now = worst = 0
    which, done = c_uint32(), c_uint64()
    for _ in range(20_000):
        lib.sim_drive_submit(0, now, False, 8 * rng.randrange(lib.sim_drive_sectors() // 8), 8)
        assert lib.sim_drive_decide(now, byref(which), byref(done))
        now, worst = done.value, max(worst, done.value - now)
    return worst


def run(clients: Sequence[Client], knobs: Knobs = HTBS, seconds: int = 60, seed: int = 1,
        drive: str | Plain | Disk | Flash | Stalls = "hd080hj") -> Run:
    """Run some clients on a drive for some seconds."""
    lib = library(paper=bool(knobs.b_max), changed=knobs.changed)
    plain, stall = CPlain(), (0, 0, 0, 0)
    if isinstance(drive, Stalls):
        stall, drive = (drive.at, drive.lasts, drive.written, drive.every), drive.drive
    if isinstance(drive, Plain):
        plain, drive = CPlain(*(getattr(drive, name) for name, _ in CPlain._fields_)), "plain"
    elif isinstance(drive, Disk | Flash):
        install(lib, drive)
        drive = "drawn" if isinstance(drive, Disk) else "drawn flash"
    inside = (CClient * len(clients))(*(c_client(client, i) for i, client in enumerate(clients)))
    setup = CSetup(DRIVES.index(drive), knobs.b_max, knobs.t_wait, knobs.seek, seconds, seed,
                   knobs.seeks, knobs.window, knobs.quota, knobs.late, knobs.late_writes, plain,
                   *stall)
    outcome = COutcome()
    if lib.sim_run(byref(setup), inside, len(clients), byref(outcome)):
        raise OverflowError("more requests are outstanding than the simulation has room for: "
                            "use slower clients")
    return Run(list(inside), outcome, seconds)


def c_client(client: Client, place: int) -> CClient:
    """Return a client in the form of the C code."""
    region = place if client.region is None else client.region
    times = (c_uint64 * len(client.times))(*client.times) if client.times is not None else None
    period = client.size * SECOND // client.rate if client.rate else 0
    return CClient(promise=CParams(*client.promise), base=region * REGION // 512,
                   span=client.span // 512, begin=client.begin, end=client.end,
                   stagger=client.stagger, think=client.think, period=period, times=times,
                   count=len(times or ()), size=client.size,
                   depth=client.depth, sequential=client.sequential, write=client.write,
                   synced=client.synced, idle=client.idle, shares=client.shares)
