"""Counters for Prometheus, in the text format of node_exporter's textfile collector."""

import argparse
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from htbsctl import control, disks, keep
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.store import Store

SUMMARY = "print counters for Prometheus, or write them where node_exporter finds them"

_US = 1_000_000
_OP = {"r": "read", "w": "write", "d": "discard"}
# For each group, by the key of io.htbs.stat: metric, type, help, labels, divisor.
_COUNTERS = {
    **{
        f"{letter}bytes": ("bytes_total", "counter", "Bytes dispatched", {"op": op}, 1)
        for letter, op in _OP.items()
    },
    **{
        f"{letter}ios": ("ios_total", "counter", "Requests dispatched", {"op": op}, 1)
        for letter, op in _OP.items()
    },
    "conforming": ("conforming_total", "counter", "Requests that conformed", {}, 1),
    "missed": ("missed_total", "counter", "Conforming requests that completed late", {}, 1),
    "overdue": ("overdue", "gauge", "Conforming requests pending past their deadline", {}, 1),
    "late_max_us": ("late_max_seconds", "gauge", "Longest time by which one was late", {}, _US),
    "waits": ("waits_total", "counter", "Times the disk was idled for the group", {}, 1),
    "hits": ("hits_total", "counter", "Times that the next request came in time", {}, 1),
}
# For each group, by the key of io.htbs.
_PROMISES = {
    "bw": ("reserved_bytes_per_second", "Reserved bandwidth", 1),
    "burst": ("reserved_burst_bytes", "Reserved burst", 1),
    "latency": ("reserved_latency_seconds", "Reserved latency", _US),
    "iops": ("reserved_ios_per_second", "Reserved operations", 1),
    "max": ("max_bytes_per_second", "Cap", 1),
    "weight": ("weight", "Weight", 1),
}
# For each disk, by its file.
_DEVICES = {
    "iosched/promised_bw": ("promised_bytes_per_second", "Bandwidth of all reservations"),
    "iosched/capacity_bw": ("capacity_bytes_per_second", "Worst-case bandwidth, 0: unknown"),
    "iosched/promised_requests": ("needed_requests", "The nr_requests that reservations need"),
    "nr_requests": ("requests", "The queue's nr_requests"),
}

_Sample = tuple[str, str, str, dict[str, str], float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--output", type=Path, help="replace this file, instead of printing")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print the metrics, or replace the file as a whole."""
    text = _text(_samples(host))
    if not args.output:
        print(text, end="")
        return Exit.DONE
    if not args.output.name or args.output.is_dir():
        raise Failure(f"{args.output} is a directory", "name a file in it, as in htbs.prom")
    # node_exporter reads only *.prom. An existing name may be a link of another user.
    new = args.output.with_name(f".{args.output.name}.{secrets.token_hex(8)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(new, flags, 0o644), "w") as file:
            file.write(text)
        new.replace(args.output)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise host.failure("write", args.output, error) from None
    return Exit.DONE


def _samples(host: Host) -> Iterator[_Sample]:
    found = disks.every(host)
    on_htbs = {disk.number: disk for disk in found if disks.scheduler(host, disk) == "htbs"}
    wanted = {disk for word in Store(host).devices() for disk in keep.there(host, word)}
    for disk in found:
        labels = {"device": disk.name}
        yield "active", "gauge", "Whether the disk is on HTBS", labels, disk.number in on_htbs
        yield "wanted", "gauge", "Whether htbs.conf keeps the disk on HTBS", labels, disk in wanted
    for disk in on_htbs.values():
        yield from _of_disk(host, disk)
    if not on_htbs:
        return
    for group in Group.every(host):
        for number, stat in control.statistics(host, group).items():
            if number in on_htbs:
                labels = {"group": group.short(host), "device": on_htbs[number].name}
                # The kernel's count has pending requests until they are dispatched. It then falls,
                # and a counter that falls looks like a reset.
                stat["missed"] = stat.get("missed", 0) - stat.get("overdue", 0)
                for key, (name, kind, text, more, unit) in _COUNTERS.items():
                    yield name, kind, text, labels | more, stat.get(key, 0) / unit
    for group, disk, promised in control.own(host, list(on_htbs.values())):
        labels = {"group": group.short(host), "device": disk.name}
        for key, value in promised.keys().items():
            name, text, unit = _PROMISES[key]
            yield name, "gauge", text, labels, value / unit


def _of_disk(host: Host, disk: Disk) -> Iterator[_Sample]:
    for file, (name, text) in _DEVICES.items():
        value = disks.number(host, disk.queue / file)
        yield f"device_{name}", "gauge", text, {"device": disk.name}, value
    # On a device that does not seek the value is that beside writes, the weaker promise.
    seeks = disks.seeks(host, disk)
    text = "Whether HTBS treats the disk as one that seeks"
    yield "device_seeks", "gauge", text, {"device": disk.name}, seeks
    file = "late_one_in" if seeks else "late_one_in_writes"
    value = disks.number(host, disk.iosched / file)
    text = "One in this number of conforming requests may be late"
    yield "device_late_one_in", "gauge", text, {"device": disk.name}, value


def _text(samples: Iterator[_Sample]) -> str:
    """The format requires that all samples of a metric follow its help and type."""
    metrics: dict[str, list[str]] = {}
    for name, kind, text, labels, value in samples:
        head = [f"# HELP htbs_{name} {text}.", f"# TYPE htbs_{name} {kind}"]
        lines = metrics.setdefault(name, head)
        inside = ",".join(f'{key}="{_escaped(each)}"' for key, each in labels.items())
        lines.append(f"htbs_{name}{{{inside}}} {value:.15g}")
    return "".join(f"{line}\n" for lines in metrics.values() for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
