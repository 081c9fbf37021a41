"""A live table of the groups on HTBS: what each reserved, what it gets, how late it is."""

import argparse
import json
import select
import sys
import termios
import time
import tty
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import TextIO

from htbsctl import control, disks, quantity
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.latency import Latencies, percentile
from htbsctl.output import NOTHING, table

SUMMARY = "show live what each group reserved, what it gets, and how late it is"

_CLEAR = "\x1b[H\x1b[2J"
_HEAD = ("GROUP", "DEVICE", "RESERVED", "GOT", "IO/S", "P50", "P99", "MAX", "LATE", "WAITS", "HITS")
_RIGHT = tuple(range(2, len(_HEAD)))


@dataclass(frozen=True)
class Row:
    """A group on a disk in an interval. Rates are per second, times in us, None: not known.

    late: how many of its conforming requests missed their deadline in the interval.
    """

    group: str
    device: str
    reserved_bw: int
    reserved_iops: int
    bw: float
    iops: float
    conforming: int
    late: int
    waits: int
    hits: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


_KEYS: dict[str, tuple[str, Callable[[Row], object]]] = {
    "b": ("bandwidth", lambda row: -row.bw),
    "l": ("late", lambda row: (-row.late, -row.bw)),
    "p": ("p99", lambda row: -(row.p99_us or 0)),
    "g": ("group", lambda row: row.group),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    names = [name for name, _ in _KEYS.values()]
    parser.add_argument("device", nargs="*", help="only these (default: all disks)")
    parser.add_argument(
        "--interval", type=quantity.seconds, default=1, metavar="SECONDS", help="how long (1)"
    )
    text = f"one of {', '.join(names)}"
    parser.add_argument("--sort", default="bandwidth", metavar="KEY", choices=names, help=text)
    parser.add_argument("--once", action="store_true", help="one interval only, as plain text")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each interval")
    parser.add_argument(
        "--no-latency", action="store_true", help="do not measure latencies, which needs ftrace"
    )


def run(host: Host, args: argparse.Namespace) -> int:
    """Print until q or ^C, or once."""
    words = {name: key for key, (name, _) in _KEYS.items()}
    found = {disk for word in args.device for disk in disks.resolve(host, word)}
    chosen = [
        disk
        for disk in sorted(found) or disks.every(host)
        if disks.scheduler(host, disk) == "htbs"
    ]
    if not chosen:
        raise Failure("no disk is on HTBS", "htbsctl enable")
    live = not (args.once or args.json) and _terminal(sys.stdout) and _terminal(sys.stdin)
    with (
        nullcontext() if args.no_latency else Latencies(host) as latencies,
        _keyboard() if live else nullcontext(),
    ):
        key = words[args.sort]
        sleep = _until_key if live else time.sleep
        for rows in _intervals(host, chosen, latencies, lambda: sleep(args.interval)):
            if args.json:
                print(json.dumps([asdict(row) for row in rows]), flush=True)
            else:
                text = _text(sorted(rows, key=_KEYS[key][1]))
                print((_CLEAR + text + _help(key)) if live else text, flush=True)
            if args.once:
                break
            pressed = _pressed() if live else ""
            if pressed == "q":
                break
            key = pressed if pressed in _KEYS else key
    return Exit.DONE


def _intervals(
    host: Host, chosen: list[Disk], latencies: Latencies | None, sleep: Callable[[], None]
) -> Iterator[list[Row]]:
    """Yield the rows of each interval; the first interval begins now."""
    before, began = _sample(host, chosen), time.monotonic()
    if latencies:
        latencies.since_last()
    while True:
        sleep()
        after, now = _sample(host, chosen), time.monotonic()
        counts = latencies.since_last() if latencies else {}
        yield [
            _row(host, key, _new(after[key], before.get(key, {})), now - began, counts)
            for key in sorted(after)
        ]
        before, began = after, now


def _sample(host: Host, chosen: list[Disk]) -> dict[tuple[Group, Disk], dict[str, int]]:
    return {
        (group, disk): stat[disk.number]
        for group in Group.every(host)
        if (stat := control.statistics(host, group))
        for disk in chosen
        if disk.number in stat
    }


def _new(after: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    """Return what was counted meanwhile; a group that was created again begins at 0."""
    return {name: max(0, value - before.get(name, 0)) for name, value in after.items()}


def _row(
    host: Host,
    key: tuple[Group, Disk],
    new: dict[str, int],
    seconds: float,
    counts: dict[tuple[str, int], Counter],
) -> Row:
    group, disk = key
    line = control.in_force(host, group, disk)
    own = line.reservation if line and not line.origin else None
    counter = counts.get((disk.number, group.inode(host)), Counter())
    p50, p99, most = (
        None if (value := percentile(counter, part)) is None else value / 1000
        for part in (0.5, 0.99, 1)
    )
    return Row(
        group=group.short(host),
        device=disk.name,
        reserved_bw=own.bw if own else 0,
        reserved_iops=own.iops if own else 0,
        bw=sum(new[name] for name in ("rbytes", "wbytes", "dbytes")) / seconds,
        iops=sum(new[name] for name in ("rios", "wios", "dios")) / seconds,
        p50_us=p50,
        p99_us=p99,
        max_us=most,
        conforming=new["conforming"],
        late=new["missed"],
        waits=new["waits"],
        hits=new["hits"],
    )


def _text(rows: list[Row]) -> str:
    cells = [
        (
            row.group,
            row.device,
            _reserved(row),
            quantity.rate_text(round(row.bw)),
            f"{row.iops:.0f}",
            *(_time(value) for value in (row.p50_us, row.p99_us, row.max_us)),
            f"{row.late} of {row.conforming}",
            str(row.waits),
            str(row.hits),
        )
        for row in rows
    ]
    return table(_HEAD, cells, _RIGHT)


def _reserved(row: Row) -> str:
    bandwidth = quantity.rate_text(row.reserved_bw) if row.reserved_bw else ""
    operations = f"{row.reserved_iops} io/s" if row.reserved_iops else ""
    return ", ".join(filter(None, (bandwidth, operations))) or NOTHING


def _time(value: float | None) -> str:
    return NOTHING if value is None else quantity.time_text(value)


def _help(key: str) -> str:
    keys = ", ".join(f"{letter} {name}" for letter, (name, _) in _KEYS.items())
    return f"\n\nsorted by {_KEYS[key][0]}; {keys}, q quit"


@contextmanager
def _keyboard() -> Iterator[None]:
    """Read single keys, without echo."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _until_key(seconds: float) -> None:
    select.select([sys.stdin], [], [], seconds)


def _pressed() -> str:
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return sys.stdin.read(1) if ready else ""
