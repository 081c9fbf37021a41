"""Put disks on HTBS, and keep them there over reboots."""

import argparse
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from htbsctl import control, disks, keep, quantity, service, store
from htbsctl.disks import Disk
from htbsctl.failure import Exit
from htbsctl.host import Host
from htbsctl.output import as_json

SUMMARY = "put a device's disks on HTBS, now and after a reboot"


class _Attribute(NamedTuple):
    """A word of the command line as the kernel's value, and a description of the attribute."""

    read: Callable[[str], int]
    what: str


_ATTRIBUTES = {
    "capacity_bw": _Attribute(
        quantity.rate, "worst-case bytes/s of each disk, as htbsctl calibrate measures them"
    ),
    "capacity_request": _Attribute(
        quantity.size, "bytes of the largest request for which capacity_bw holds"
    ),
    "nr_requests": _Attribute(
        quantity.requests, "length of each disk's queue in requests, at least 4"
    ),
    "default_bw": _Attribute(
        quantity.rate, "bytes/s that all groups without a reservation share; it counts as reserved"
    ),
    "default_burst": _Attribute(quantity.size, "bytes of these groups that may arrive at once"),
    "default_latency_us": _Attribute(
        quantity.number, "us from the arrival of their requests to their completion"
    ),
    "late_one_in": _Attribute(
        quantity.number, "one conforming request in N may be late"
    ),
    "late_one_in_writes": _Attribute(
        quantity.number, "the same on flash, beside writes of other groups"
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", help="a disk, a link below /dev, a mount point, a volume")
    for name, attribute in _ATTRIBUTES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="N", help=attribute.what)
    parser.add_argument("--now", action="store_true", help="only now, not after a reboot")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument(
        "--json", action="store_true", help="JSON: the disks, and whether anything changes"
    )


def run(host: Host, args: argparse.Namespace) -> int:
    """Switch all disks, or none."""
    found = disks.resolve(host, args.device)
    attributes = {
        name: str(attribute.read(text))
        for name, attribute in _ATTRIBUTES.items()
        if (text := getattr(args, name)) is not None
    }
    with store.locked(host, args.dry_run) as kept:
        wanted = dict.fromkeys(found, attributes)
        if not args.now:
            wanted = {disk: keep.enable(host, kept, disk, attributes) for disk in found}
        changed = kept.changed or any(keep.differs(host, *each) for each in wanted.items())
        had = {disk: disks.scheduler(host, disk) for disk in found}
        if not args.dry_run:
            with nullcontext() if args.now else kept.saved():
                control.switch_all(host, wanted)
    if args.json:
        print(as_json({"changed": changed, "devices": [disk.name for disk in found]}))
    else:
        _say(args, wanted, had)
    return Exit.DONE if args.now or args.dry_run else service.start(host)


def _say(
    args: argparse.Namespace, wanted: dict[Disk, dict[str, str]], had: dict[Disk, str]
) -> None:
    names = [disk.name for disk in wanted]
    if names != [args.device]:
        print(f"{args.device}: {', '.join(names)}")
    for disk, attributes in wanted.items():
        keys = "".join(f", {key} {value}" for key, value in attributes.items())
        if args.dry_run:
            print(f"would put {disk.name} on htbs{keys}")
        else:
            print(f"{disk.name}: htbs{keys}, was {had[disk]}")
