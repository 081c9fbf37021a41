"""Take disks off HTBS."""

import argparse

from htbsctl import control, disks, keep, store
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.host import Host

SUMMARY = "give a device's disks another scheduler, now and after a reboot"

# The kernel's own choices, in order of preference.
_OTHERS = ("mq-deadline", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", help="a disk, a link below /dev, a mount point, a volume")
    parser.add_argument("--scheduler", help="the new scheduler (default: mq-deadline, or none)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def run(host: Host, args: argparse.Namespace) -> int:
    """Switch each disk. Its reservations are kept in /etc/htbs for the next enable."""
    if args.scheduler == "htbs":
        raise Failure("disable takes a disk off HTBS", "name another scheduler", Exit.USAGE)
    with store.locked(host, args.dry_run) as kept:
        try:
            found = disks.resolve(host, args.device)
        except Failure:
            # A disk that is gone can still be forgotten.
            if args.device not in kept.devices():
                raise
            found = []
        chosen = {disk: _choice(host, disk, args.scheduler) for disk in found}
        if not args.dry_run:
            keep.split_devices(host, kept, found)
            for device in keep.of_disks(host, kept, found, args.device):
                kept.forget_device(device)
            with kept.saved():
                control.leave_all(host, chosen)
    for disk, name in chosen.items():
        print(f"would put {disk.name} on {name}" if args.dry_run else f"{disk.name}: {name}")
    return Exit.DONE


def _choice(host: Host, disk: Disk, wanted: str | None) -> str:
    there = disks.schedulers(host, disk)
    for name in [wanted] if wanted else _OTHERS:
        if name in there:
            return name
    raise Failure(f"{disk.name} has no scheduler {wanted}", f"available: {', '.join(there)}")
