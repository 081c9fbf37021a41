"""Which disks a word means: a name, a link, a partition, a mount point, a logical volume."""

import errno
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from htbsctl.failure import Exit, Failure
from htbsctl.host import Host

#: Attributes of a device's queue that are set and kept, in this order: the reservation that groups
#: without one share counts against the capacity.
ATTRIBUTES = {
    key: f"iosched/{key}"
    for key in (
        "default_bw",
        "default_burst",
        "default_latency_us",
        "capacity_request",
        "capacity_bw",
        "t_wait_us",
        "late_one_in",
        "late_one_in_writes",
    )
} | {"nr_requests": "nr_requests"}

#: The attributes that the kernel refuses if they exceed the capacity; capacity_bw comes last.
TESTED = {"default_bw", "default_burst", "default_latency_us", "capacity_request", "capacity_bw"}

_SYSFS = Path("/sys/block")
_CLASS = Path("/sys/class/block")
_LINKS = Path("/dev/disk")
# Prefixes of the stable names of a disk, best first.
_STABLE = ("by-id", "by-path")
# Links that name a partition, or the content of a disk, which may be moved to another one.
_OTHER = re.compile("-part|^lvm-pv-uuid-")
_NO_REMEDY = "name a disk as lsblk does, a file below /dev, or a mount point"


@dataclass(frozen=True, order=True)
class Disk:
    """A whole disk with a request queue: its name in /sys/block and its number, MAJ:MIN."""

    name: str
    number: str

    @property
    def queue(self) -> Path:
        """The directory of the attributes of its queue."""
        return _SYSFS / self.name / "queue"

    @property
    def node(self) -> str:
        """Its device file: / in a name is ! in /sys."""
        return f"/dev/{self.name.replace('!', '/')}"

    @property
    def size(self) -> Path:
        """The file with its size in sectors."""
        return _SYSFS / self.name / "size"

    @property
    def iosched(self) -> Path:
        """The directory of its scheduler's tunables."""
        return self.queue / "iosched"


def every(host: Host) -> list[Disk]:
    """Return all disks that have a request queue, by name."""
    names = sorted(path.name for path in host.path(_SYSFS).glob("*"))
    found = [disk for name in names if (disk := _disk(host, name))]
    return [disk for disk in found if schedulers(host, disk) and number(host, disk.size)]


def resolve(host: Host, word: str) -> list[Disk]:
    """Return the disks that a word means: one, or those below a volume or file system.

    Raises Failure if there are none; with Exit.USAGE if the word can never mean any.
    """
    if not word or "\0" in word:
        raise Failure(f"{word!r} is not a device", _NO_REMEDY, Exit.USAGE)
    named = "/" not in word and word not in (".", "..")
    if named and host.exists(_CLASS / word):
        blocks = [word]
    elif ":" in word and host.exists(f"/sys/dev/block/{word}"):
        blocks = [_of_number(host, word)]
    else:
        blocks = _of_path(host, host.real(f"/dev/{word}" if named else word), word)
    found = sorted({disk for name in blocks for disk in _below(host, name)})
    without = [disk.name for disk in found if not schedulers(host, disk)]
    if without or not found:
        paths = ", ".join(sorted({name for block in blocks for name in _nvme_paths(host, block)}))
        if paths:
            raise Failure(
                f"{word}: NVMe multipath; its paths ({paths}) have no device number to reserve on",
                "boot with nvme_core.multipath=N if there is one path only",
            )
        raise Failure(
            f"{word}: {', '.join(without) or blocks[0]} has no I/O scheduler",
            "name the disks below it, as lsblk -s shows them",
        )
    return found


def above(host: Host, disk: Disk) -> set[str]:
    """Return the names of all volumes and arrays on a disk, or on a partition of it."""
    found, left = set(), [disk.name]
    while left:
        directory = host.path(_CLASS / left.pop()).resolve()
        names = {holder.name for holder in directory.glob("**/holders/*")} - found
        found |= names
        left += names
    return found


def one(host: Host, word: str) -> Disk:
    """Return the disk that a word means. Raises Failure if it means none or several."""
    found = resolve(host, word)
    if len(found) > 1:
        names = ", ".join(disk.name for disk in found)
        raise Failure(f"{word} is on several disks: {names}", "name one of them")
    return found[0]


def stable(host: Host, disk: Disk) -> str:
    """Return a name of a disk that survives a reboot: a link below /dev/disk, else its own."""
    for directory in _STABLE:
        links = host.path(_LINKS / directory)
        names = [
            link.name
            for link in sorted(links.glob("*"))
            if not _OTHER.search(link.name) and link.resolve().name == disk.name
        ]
        if names:
            return str(_LINKS / directory / min(names, key=_rank))
    return disk.name


def schedulers(host: Host, disk: Disk) -> list[str]:
    """Return the schedulers that a disk can have; empty if it has no request queue."""
    words = host.read_or(disk.queue / "scheduler").split()
    # Queues with only bios show none, without brackets, and accept no other.
    return [] if words == ["none"] else [word.strip("[]") for word in words]


def scheduler(host: Host, disk: Disk) -> str:
    """Return the scheduler of a disk."""
    words = host.read(disk.queue / "scheduler").split()
    return next((word.strip("[]") for word in words if word.startswith("[")), "none")


def number(host: Host, path: Path) -> int:
    """Return a number in a file."""
    return int(host.read(path).split()[0])


def seeks(host: Host, disk: Disk) -> bool:
    """Return true if HTBS takes a disk to seek; on another scheduler, if the disk claims to."""
    on_htbs = scheduler(host, disk) == "htbs"
    file = disk.iosched / "seeks" if on_htbs else disk.queue / "rotational"
    return number(host, file) == 1


def _rank(name: str) -> tuple[bool, str]:
    """A name with the disk's model is easier to read than its wwn."""
    return name.startswith(("wwn-", "nvme-eui", "nvme-uuid")), name


def _disk(host: Host, name: str) -> Disk | None:
    found = host.read_or(_SYSFS / name / "dev").strip()
    return Disk(name, found) if found else None


def _of_number(host: Host, found: str) -> str:
    return host.path(f"/sys/dev/block/{found}").resolve().name


def _of_path(host: Host, path: str, word: str) -> list[str]:
    """Return the block device that a file is, or those that it is on."""
    try:
        status = host.path(path).stat()
    except OSError as error:
        what = f"{word}: no such device or mount point"
        if error.errno != errno.ENOENT:
            what = f"{word}: {os.strerror(error.errno or 0)}"
        raise Failure(what, _NO_REMEDY) from None
    if stat.S_ISBLK(status.st_mode):
        device = status.st_rdev
    elif os.major(status.st_dev):
        device = status.st_dev
    else:
        return _of_mount(host, path, word)
    return [_of_number(host, f"{os.major(device)}:{os.minor(device)}")]


def _of_mount(host: Host, path: str, word: str) -> list[str]:
    """Return the block devices of a file system with a device number of its own, such as btrfs."""
    inside = [
        mount
        for mount in host.mounts()
        if path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
    ]
    # Of several mounts at the same path, the last one covers the others.
    best = max(enumerate(inside), key=lambda each: (len(each[1].point), each[0]))[1]
    if not best.source.startswith("/dev/"):
        raise Failure(f"{word} is on {best.kind}, which is not backed by a disk", _NO_REMEDY)
    blocks = _of_path(host, host.real(best.source), word)
    for members in host.path("/sys/fs/btrfs").glob("*/devices"):
        names = [member.name for member in members.glob("*")]
        if best.kind == "btrfs" and set(blocks) & set(names):
            return names
    return blocks


def _nvme_paths(host: Host, block: str) -> list[str]:
    """Return the paths of an NVMe disk with several, or the only path itself."""
    if re.fullmatch(r"nvme\d+c\d+n\d+", block):
        return [block]
    found = re.fullmatch(r"nvme(\d+)n(\d+)", block)
    pattern = f"nvme{found[1]}c*n{found[2]}" if found else ""
    return [path.name for path in host.path(_CLASS).glob(pattern)] if pattern else []


def _below(host: Host, block: str) -> list[Disk]:
    """Return the disks below a block device, or itself if it is a disk or has a scheduler."""
    path = host.path(_CLASS / block).resolve()
    if (path / "partition").exists():
        return _below(host, path.parent.name)
    disk = _disk(host, path.name)
    # Request-based multipath has a scheduler; the schedulers of its paths see no request.
    scheduled = disk and schedulers(host, disk)
    under = [] if scheduled else sorted(each.name for each in path.glob("slaves/*"))
    if under:
        return [disk for name in under for disk in _below(host, name)]
    return [disk] if disk else []
