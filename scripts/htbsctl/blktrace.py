"""Record with blktrace, and read its output.

The kernel puts the id of a cgroup into each record if the option blk_cgroup of ftrace is set.
blkparse can read such records since version 1.3.
"""

import heapq
import re
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from htbsctl.disks import Disk
from htbsctl.failure import Failure
from htbsctl.host import Host
from htbsctl.output import countdown
from htbsctl.tracing import TRACEFS

_OPTION = TRACEFS / "options/blk_cgroup"
# struct blk_io_trace of linux/blktrace_api.h: magic, sequence, time in ns, sector, bytes, action,
# pid, device, CPU, error, and the number of bytes that follow.
_RECORD = struct.Struct("<IIQQIIIIIHH")
_MAGIC, _VERSION = 0x65617400, 7
_ID = struct.Struct("<Q")
_WITH_ID, _NOTE = 1 << 8, 1 << 26
# blktrace's own buffers, for each CPU.
_BUFFERS = ("-b", "1024", "-n", "16")

#: The kinds of record that htbsctl knows: __BLK_TA_*.
QUEUE, BACK_MERGE, FRONT_MERGE, REQUEUE, ISSUE, COMPLETE, INSERT = 1, 2, 3, 6, 7, 8, 12
#: Bits of a record's category, above the kind: BLK_TC_*.
WRITE, DISCARD = 1 << 17, 1 << 29


class Record(NamedTuple):
    """A record; time in ns, size in bytes; cgroup: its id, or 0 if the record has none."""

    time: int
    kind: int
    category: int
    sector: int
    size: int
    cgroup: int


class Recorded(NamedTuple):
    """The duration, s, and the number of events lost because blktrace's buffers were full."""

    seconds: float
    lost: int


def record(host: Host, disk: Disk, directory: Path, name: str, seconds: float) -> Recorded:
    """Let blktrace write DIRECTORY/NAME.blktrace.CPU; ^C ends it early. Raises Failure."""
    if not host.has("blktrace"):
        raise Failure("no blktrace", "apt install blktrace")
    command = ["blktrace", "-d", disk.node, "-D", str(directory), "-o", name, *_BUFFERS]
    began = time.monotonic()
    with _with_cgroups(host):
        said, code = _run(command, seconds)
    if code or not list(directory.glob(f"{name}.blktrace.*")):
        raise _failure(disk, said)
    lost = sum(int(number) for number in re.findall(r"dropped (\d+)", said))
    return Recorded(time.monotonic() - began, lost)


def read(directory: Path, name: str) -> Iterator[Record]:
    """Yield the records of all CPUs, by time. Raises Failure if a file has another format."""
    files = sorted(directory.glob(f"{name}.blktrace.*"))
    return heapq.merge(*(_records(path) for path in files))


def _records(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        while len(head := file.read(_RECORD.size)) == _RECORD.size:
            magic, _, when, sector, size, action, _, _, _, _, more = _RECORD.unpack(head)
            if magic != _MAGIC | _VERSION:
                raise Failure(f"{path} is not a blktrace file", "use blktrace 1.2 or later")
            cgroup = _cgroup(file, action, more)
            if not action & _NOTE:
                kind = action & (_WITH_ID - 1)
                yield Record(when, kind, action & ~0xFFFF, sector, size, cgroup)


def _cgroup(file: BinaryIO, action: int, more: int) -> int:
    data = file.read(more)
    return _ID.unpack_from(data)[0] if action & _WITH_ID and len(data) >= _ID.size else 0


@contextmanager
def _with_cgroups(host: Host) -> Iterator[None]:
    """Set the option blk_cgroup, and restore it afterwards."""
    if not host.exists(_OPTION):
        raise Failure(
            f"no {_OPTION}",
            "run it as root, on a kernel with CONFIG_BLK_DEV_IO_TRACE and CONFIG_BLK_CGROUP",
        )
    before = host.read(_OPTION).strip()
    try:
        host.write(_OPTION, "1")
        yield
    finally:
        with suppress(Failure):
            host.write(_OPTION, before)


def _run(command: list[str], seconds: float) -> tuple[str, int]:
    """Return blktrace's output and exit code; show the time left on a terminal.

    It is ended by SIGINT: after SIGKILL the kernel would continue to trace the disk.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            with suppress(KeyboardInterrupt):
                for _ in countdown("recording", seconds):
                    if process.poll() is not None:
                        break
        finally:
            early = process.poll() is not None
            if not early:
                process.send_signal(signal.SIGINT)
            said, _ = process.communicate()
    return said, process.returncode if early else 0


def _failure(disk: Disk, said: str) -> Failure:
    lines = said.strip().splitlines() or ["it wrote nothing"]
    # Another blktrace of the disk, or one that was killed, keeps it busy.
    return Failure(
        f"blktrace: {lines[0]}", f"blktrace -d {disk.node} -k ends a stale trace"
    )
