"""Remove a reservation."""

import argparse
import sys

from htbsctl import control, disks, groups, keep, store
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group, NotRunning
from htbsctl.host import Host
from htbsctl.store import Store

SUMMARY = "remove a reservation, now and after a reboot"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("target", help="a cgroup's path, a unit, a container, a virtual machine")
    parser.add_argument("device", help="a disk, a link below /dev, a mount point, a volume")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written")


def run(host: Host, args: argparse.Namespace) -> int:
    """Remove it from the group, if that exists, and from the kept state."""
    dry = args.dry_run
    did, forgot = ("would release", "would forget") if dry else ("released", "forgot")
    with store.locked(host, dry) as kept:
        found = _disks(host, args.device, kept)
        group, names, failure = _group(host, args.target)
        released = [disk for disk in found if group and control.of_group(host, group, disk)]
        targets = keep.of_group(host, kept, group, names)
        keep.split_reservations(host, kept, targets, found)
        devices = keep.of_disks(host, kept, found, args.device)
        lines = [key for key in kept.reservations() if key[0] in targets and key[1] in devices]
        if not released and not lines:
            raise failure or Failure(
                f"{args.target} has no reservation of its own on {args.device}",
                "htbsctl status lists them",
            )
        off = [disk for disk in found if group and disks.scheduler(host, disk) != "htbs"]
        for target, device in lines:
            kept.set_reservation(target, device, None)
        if not dry:
            with kept.saved():
                if group:
                    control.write_all(host, group, dict.fromkeys(released))
    for disk in released:
        print(f"{did} {group.directory} on {disk.name}")
    for target, device in lines:
        print(f"{forgot} {target} on {device}")
    for disk in off:
        what = f"{disk.name} is not on HTBS, so the kernel still stores the reservation"
        print(f"htbsctl: {what}; run release again after htbsctl enable", file=sys.stderr)
    return Exit.FOUND if off else Exit.DONE


def _disks(host: Host, word: str, kept: Store) -> list[disks.Disk]:
    """Return the disks of a word; none if only the file has it, such as a disk that is gone."""
    try:
        return disks.resolve(host, word)
    except Failure:
        if word not in {device for _, device in kept.reservations()}:
            raise
        return []


def _group(host: Host, word: str) -> tuple[Group | None, set[str], Failure | None]:
    """Return the group, if it exists and has io.htbs, and the names that the file may have for it.

    The file may have a word that means no group at present. If it has not, the failure says why.
    """
    try:
        group = groups.resolve(host, word)
    except NotRunning as stopped:
        return None, {word, stopped.unit}, None
    except Failure as failure:
        return None, {word}, failure
    there = host.exists(group.directory / "io.htbs")
    return (group if there else None), {word, keep.target(host, group, word)}, None
