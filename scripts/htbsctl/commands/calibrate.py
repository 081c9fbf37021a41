"""Measure a disk's worst-case throughput for its capacity_bw, with random I/O by fio."""

import argparse
import errno
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from htbsctl import admission, disks, promise, quantity
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.host import Host
from htbsctl.output import as_json, countdown

SUMMARY = "measure a device's worst-case throughput, and propose its capacity_bw"

_SECONDS = {True: 300, False: 60}
_DEPTH = {True: 1, False: 32}
# Limits of a plausible service time, us: below the first the reads came from a cache, above the
# second something is wrong.
_PLAUSIBLE = {True: (1_000, 2_000_000), False: (5, 500_000)}
# The largest part of the disk's work that may not be from this measurement.
_OTHERS = 0.01
# Default reservation of a disk that is put on HTBS, see htbs(4); latency in ns.
_DEFAULT = promise.Promise(promise.DEFAULT, 1 << 20, 1 << 20, 1_000_000_000)
# The default reservation that is proposed if that one does not fit, and the next one.
_LESS: tuple[dict[str, int], ...] = ({}, *({"bw": n, "burst": n} for n in (65536, 4096)))
_READ_ONLY = "measure reads instead: leave out --write-and-destroy-data"


@dataclass(frozen=True)
class Measured:
    """fio's results; times in us."""

    requests: int
    mean: float
    p999: float
    longest: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", help="a disk, a link below /dev, a mount point")
    parser.add_argument(
        "--seconds", type=quantity.seconds, help="how long (300 on a disk that seeks, else 60)"
    )
    parser.add_argument(
        "--depth", type=quantity.count, help="requests in flight (1 on a disk that seeks, else 32)"
    )
    parser.add_argument("--size", default="4K", help="size of a request (4K)")
    parser.add_argument(
        "--write-and-destroy-data",
        action="store_true",
        help="measure writes, which destroy all data on the disk (default: only reads)",
    )
    parser.add_argument("--json", action="store_true", help="JSON; sizes are bytes, times us")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print the result and the command that sets it; Exit.FOUND if it is implausible."""
    disk = disks.one(host, args.device)
    seeks = disks.seeks(host, disk)
    seconds = args.seconds or _SECONDS[seeks]
    depth = args.depth or _DEPTH[seeks]
    size = quantity.size(args.size)
    # The kernel splits larger requests, and each part counts as a request.
    most = 1024 * disks.number(host, disk.queue / "max_sectors_kb")
    if 0 < most < size:
        raise Failure(
            f"{disk.name} takes requests of at most {quantity.size_text(most)}",
            "give a smaller --size",
        )
    on_htbs = disks.scheduler(host, disk) == "htbs"
    promises = promise.in_force(host, disk) if on_htbs else [_DEFAULT]
    before = _served(host, disk)
    with _claimed(host, disk, args) if args.write_and_destroy_data else nullcontext():
        measured = _fio(host, disk, _options(args, seconds, depth, size), seconds)
    others = max(0, _served(host, disk) - before - measured.requests) / max(1, measured.requests)
    # As admission counts: each request takes the longest time, with `depth` requests at once.
    capacity = round(depth * size * 1_000_000 / measured.longest)
    doubts = list(_doubts(measured, seeks, others))
    answer = {
        "device": disk.name,
        "requests": measured.requests,
        "mean_us": measured.mean,
        "p999_us": measured.p999,
        "longest_us": measured.longest,
        "depth": depth,
        "capacity_bw": capacity,
        "capacity_request": size,
        "default": _default(promises, capacity, size),
        "implausible": doubts,
    }
    print(as_json(answer) if args.json else _text(answer))
    return Exit.FOUND if doubts else Exit.DONE


def _default(
    promises: list[promise.Promise], capacity: int, size: int
) -> dict[str, int] | None:
    """Return the keys of the default reservation to change so that it fits; None if none helps."""
    for keys in _LESS:
        less = {promise.DEFAULT: keys}
        every = [each._replace(**less.get(each.name, {})) for each in promises]
        if admission.shortfall(every, capacity, size) is None:
            return keys
    return None


def _options(args: argparse.Namespace, seconds: float, depth: int, size: int) -> list[str]:
    writes = args.write_and_destroy_data
    return [
        *(("--rw=randwrite",) if writes else ("--rw=randread", "--readonly")),
        *("--name=worst", "--ioengine=libaio", "--direct=1", "--time_based", "--norandommap"),
        *(f"--iodepth={depth}", f"--bs={size}", f"--runtime={seconds * 1000:.0f}ms"),
        *("--output-format=json", "--eta=never", "--randrepeat=0"),
    ]


def _fio(host: Host, disk: Disk, options: list[str], seconds: float) -> Measured:
    """Run fio, and show the time left on a terminal."""
    if not host.has("fio"):
        raise Failure("no fio", "apt install fio")
    # fio ends with this process, however that ends.
    command = ["setpriv", "--pdeathsig", "TERM", "fio", f"--filename={disk.node}", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            for _ in countdown("measuring", seconds):
                if process.poll() is not None:
                    break
            out, errors = process.communicate()
        except BaseException:
            # Popen waits for it.
            process.terminate()
            raise
    if process.returncode:
        said = (errors or out).decode(errors="replace").strip().splitlines() or ["it failed"]
        raise Failure(f"fio: {said[0]}", "run it as root, and do not remove the disk meanwhile")
    # fio prints warnings before the JSON.
    [job] = json.loads(out[out.index(b"{") :])["jobs"]
    side = job["write" if "--rw=randwrite" in options else "read"]
    times = side["clat_ns"]
    if not side["total_ios"]:
        raise Failure(f"{disk.name} completed no request in {seconds:g} s", "measure for longer")
    return Measured(
        side["total_ios"],
        times["mean"] / 1000,
        times["percentile"]["99.900000"] / 1000,
        times["max"] / 1000,
    )


def _served(host: Host, disk: Disk) -> int:
    """Return the number of reads and writes that the disk has completed."""
    words = host.read(Path("/sys/block") / disk.name / "stat").split()
    return int(words[0]) + int(words[4])


@contextmanager
def _claimed(host: Host, disk: Disk, args: argparse.Namespace) -> Iterator[None]:
    """Claim a disk that nothing else uses: no file system, volume, array or swap, in any namespace.

    Raises Failure if it is used, or if the disk was not named itself.
    """
    if args.device not in (disk.name, disk.node):
        raise Failure(f"{args.device} is not a whole disk's name", f"name {disk.name} itself")
    block = host.path("/sys/block") / disk.name
    parts = sorted(path.parent.name for path in block.glob("*/partition"))
    if parts:
        raise Failure(f"{disk.name} is in use: it has {', '.join(parts)}", _READ_ONLY)
    name = disk.node
    try:
        handle = os.open(host.path(name), os.O_RDWR | os.O_EXCL)
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise Failure(f"{disk.name} is in use", _READ_ONLY) from None
        raise host.failure("open", name, error) from None
    try:
        yield
    finally:
        os.close(handle)


def _doubts(measured: Measured, seeks: bool, others: float) -> Iterator[str]:
    least, most = _PLAUSIBLE[seeks]
    kind = "a disk that seeks" if seeks else "flash"
    if measured.mean < least:
        mean = quantity.time_text(measured.mean)
        claims = ", or it only claims to seek" if seeks else ""
        cached = f"the reads were served from a cache{claims}"
        yield f"{mean} on average is too fast for {kind}: {cached}"
    if measured.longest > most:
        longest = quantity.time_text(measured.longest)
        yield f"{longest} is too slow for {kind}: look for errors in the kernel's log"
    if others > _OTHERS:
        yield f"other I/O was {others:.0%} of the measured I/O; repeat on an idle disk"


def _text(answer: dict) -> str:
    times = " ".join(
        f"{name} {quantity.time_text(answer[key])}"
        for name, key in (("mean", "mean_us"), ("99.9 %", "p999_us"), ("longest", "longest_us"))
    )
    capacity = answer["capacity_bw"]
    name, default = answer["device"], answer["default"]
    less = "".join(f" --default-{key} {value}" for key, value in (default or {}).items())
    lines = [
        f"{name}: {answer['requests']} requests, {answer['depth']} in flight: {times}",
        f"in the worst case it serves {quantity.rate_text(capacity)} of such requests; this makes"
        " HTBS refuse reservations that the disk cannot keep:",
        f"    htbsctl enable {name} --capacity-bw {capacity}"
        f" --capacity-request {answer['capacity_request']}{less}",
    ]
    if default is None:
        lines.append(
            "the kernel refuses it while more is reserved: htbsctl check"
            f" {name} --capacity {capacity}"
        )
    return "\n".join([*lines, *(f"implausible: {doubt}" for doubt in answer["implausible"])])
