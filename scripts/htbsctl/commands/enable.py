"""Put disks on HTBS, and keep them there over reboots."""

import argparse

from htbsctl import control, disks, keep, service, store
from htbsctl.failure import Exit
from htbsctl.host import Host

SUMMARY = "put a device's disks on HTBS, now and after a reboot"

def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", help="a disk, a link below /dev, a mount point, a volume")
    for name, what in (
        ("capacity-bw", "bytes/s that each disk serves at worst, as htbsctl calibrate finds"),
        ("capacity-request", "bytes of the largest request for which that is so"),
        ("nr-requests", "requests that each disk's queue has room for, 4 at least"),
    ):
        parser.add_argument(f"--{name}", type=int, metavar="N", help=what)
    parser.add_argument("--now", action="store_true", help="only now: not after a reboot")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def run(host: Host, args: argparse.Namespace) -> int:
    """Switch each disk, or none."""
    found = disks.resolve(host, args.device)
    names = ("capacity_request", "capacity_bw", "nr_requests")
    values = {name: getattr(args, name) for name in names}
    attributes = {key: str(value) for key, value in values.items() if value is not None}
    if len(found) > 1 or found[0].name != args.device:
        print(f"{args.device}: {', '.join(disk.name for disk in found)}")
    if args.dry_run:
        for disk in found:
            print(f"would put {disk.name} on htbs{_with(attributes)}")
        return Exit.DONE
    with store.locked(host) as kept:
        wanted = dict.fromkeys(found, attributes)
        if args.now:
            had = control.switch_all(host, wanted)
        else:
            for disk in found:
                wanted[disk] = keep.enable(host, kept, disk, attributes)
            with kept.saved():
                had = control.switch_all(host, wanted)
    for disk, before in had.items():
        print(f"{disk.name}: htbs{_with(wanted[disk])}, was {before}")
    return Exit.DONE if args.now else service.start(host)


def _with(attributes: dict[str, str]) -> str:
    return "".join(f", {key} {value}" for key, value in attributes.items())
