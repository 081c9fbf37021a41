"""Record a disk's requests with blktrace, and show for each group where their time went.

It works with every I/O scheduler, so HTBS can be compared with another.
"""

import argparse
import glob
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from htbsctl import blktrace, disks, quantity
from htbsctl.blktrace import Record
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.output import NOTHING, as_json, table

SUMMARY = "record a device with blktrace, and show where the time of each group's requests went"

_HEAD = ("GROUP", "IO/S", "READ", "WRITTEN", "MERGED")
_TIMES = ("P50", "P99", "MAX")
_SECTOR = 512


@dataclass
class Sums:
    """A group's requests; times in ns.

    queued: from the insertion into the scheduler to the issue to the driver; served: from there to
    the completion. Requests that bypass the scheduler have only the second.
    """

    requests: int = 0
    read: int = 0
    written: int = 0
    merged: int = 0
    queued: array = field(default_factory=lambda: array("Q"))
    served: array = field(default_factory=lambda: array("Q"))


#: The key of a request: its first sector, and whether it writes.
_Key = tuple[int, int]


class Requests:
    """Requests in flight, from the records of a disk; sums: by the id of a cgroup."""

    def __init__(self) -> None:
        self.sums: dict[int, Sums] = defaultdict(Sums)
        self._inserted: dict[_Key, list[int]] = defaultdict(list)
        self._issued: dict[_Key, list[tuple[Record, int | None]]] = defaultdict(list)

    def add(self, record: Record) -> None:
        """Add the next record by time."""
        key = (record.sector, record.category & blktrace.WRITE)
        match record.kind:
            case blktrace.INSERT:
                self._inserted[key].append(record.time)
            case blktrace.BACK_MERGE:
                self.sums[record.cgroup].merged += 1
                # A merged request may have been inserted before: it is not issued any more.
                _first(self._inserted, key)
            case blktrace.FRONT_MERGE:
                self.sums[record.cgroup].merged += 1
                old = (record.sector + record.size // _SECTOR, key[1])
                if (since := _first(self._inserted, old)) is not None:
                    self._inserted[key].append(since)
            case blktrace.ISSUE:
                since = _first(self._inserted, key)
                wait = None if since is None else record.time - since
                self._issued[key].append((record, wait))
            case blktrace.REQUEUE:
                _first(self._issued, key)
            case blktrace.COMPLETE:
                if found := _first(self._issued, key):
                    self._complete(*found, record.time)

    def _complete(self, issued: Record, wait: int | None, now: int) -> None:
        sums = self.sums[issued.cgroup]
        sums.requests += 1
        if issued.category & blktrace.WRITE:
            # A discard writes nothing.
            sums.written += 0 if issued.category & blktrace.DISCARD else issued.size
        else:
            sums.read += issued.size
        sums.served.append(now - issued.time)
        if wait is not None:
            sums.queued.append(wait)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", help="a disk, a link below /dev, a mount point")
    parser.add_argument(
        "--seconds", type=quantity.seconds, default=10, help="how long (10); ^C ends it early"
    )
    parser.add_argument(
        "--output", metavar="PREFIX", help="keep PREFIX.blktrace.*, for blkparse 1.3 or later"
    )
    parser.add_argument("--json", action="store_true", help="JSON; sizes are bytes, times us")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print a line for each group; Exit.FOUND if events were lost."""
    disk = disks.one(host, args.device)
    names = _names(host)
    requests = Requests()
    with TemporaryDirectory(prefix="htbsctl-") as temporary:
        directory, name = _place(args.output, Path(temporary))
        recorded = blktrace.record(host, disk, directory, name, args.seconds)
        for record in blktrace.read(directory, name):
            requests.add(record)
    names |= _names(host)
    rows = [
        _row(names.get(number, _unknown(number)), sums, recorded.seconds)
        for number, sums in requests.sums.items()
    ]
    rows.sort(key=lambda row: (-row["read_bw"] - row["write_bw"], row["group"]))
    answer = {
        "device": disk.name,
        "scheduler": disks.scheduler(host, disk),
        "seconds": recorded.seconds,
        "lost": recorded.lost,
        "groups": rows,
    }
    print(as_json(answer) if args.json else _text(answer, disk))
    return Exit.FOUND if recorded.lost else Exit.DONE


def _place(output: str | None, temporary: Path) -> tuple[Path, str]:
    """Return where blktrace writes, and the names of its files. Raises Failure if they exist."""
    if output is None:
        return temporary, "trace"
    path = Path(output).absolute()
    if not path.parent.is_dir() or not path.name:
        raise Failure(f"{output} is not a file in a directory that exists", "as in --output trace")
    if found := sorted(path.parent.glob(f"{glob.escape(path.name)}.blktrace.*")):
        raise Failure(f"{found[0]} exists", "remove it, or name another")
    return path.parent, path.name


def _names(host: Host) -> dict[int, str]:
    return {group.inode(host): group.short(host) for group in Group.every(host)}


def _unknown(number: int) -> str:
    return f"cgroup {number}, removed" if number else "(no cgroup)"


def _first(lists: dict[_Key, list], key: _Key) -> object | None:
    """Take the oldest element of a key's list, or None."""
    found = lists.get(key)
    if not found:
        return None
    first = found.pop(0)
    if not found:
        del lists[key]
    return first


def _row(name: str, sums: Sums, seconds: float) -> dict:
    return {
        "group": name,
        "requests": sums.requests,
        "iops": sums.requests / seconds,
        "read_bw": sums.read / seconds,
        "write_bw": sums.written / seconds,
        "merged": sums.merged,
        **{f"queued_{key}_us": value for key, value in _percentiles(sums.queued).items()},
        **{f"served_{key}_us": value for key, value in _percentiles(sums.served).items()},
    }


def _percentiles(times: Iterable[int]) -> dict[str, float | None]:
    ordered = sorted(times)
    if not ordered:
        return {"p50": None, "p99": None, "max": None}
    last = len(ordered) - 1
    return {
        name: ordered[round(part * last)] / 1000
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


def _text(answer: dict, disk: Disk) -> str:
    keys = [f"{part}_{name.lower()}_us" for part in ("queued", "served") for name in _TIMES]
    head = (*_HEAD, *(f"QUEUED {name}" for name in _TIMES), *(f"SERVED {name}" for name in _TIMES))
    rows = [
        (
            row["group"],
            f"{row['iops']:.0f}",
            quantity.rate_text(round(row["read_bw"])),
            quantity.rate_text(round(row["write_bw"])),
            str(row["merged"]),
            *(NOTHING if row[key] is None else quantity.time_text(row[key]) for key in keys),
        )
        for row in answer["groups"]
    ]
    lines = [
        f"{disk.name} on {answer['scheduler']}, {answer['seconds']:.1f} s",
        table(head, rows, tuple(range(1, len(head)))),
        "QUEUED: from insertion into the scheduler to issue; SERVED: from there to completion",
    ]
    if answer["lost"]:
        lines.append(f"{answer['lost']} events were lost: repeat while the disk is less busy")
    return "\n".join(lines)
