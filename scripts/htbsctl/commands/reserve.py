"""Give a cgroup a reservation, and keep it over reboots."""

import argparse
import sys
from contextlib import nullcontext

from htbsctl import control, disks, groups, keep, reservation, service, store
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import NotRunning
from htbsctl.host import Host
from htbsctl.output import as_json

SUMMARY = "give a cgroup, unit, container or virtual machine a reservation on a device's disks"

_HELP = {
    "bw": "bandwidth per second, as in 400M",
    "burst": "bytes that may arrive at once, as in 1M (default: the disk's default_burst)",
    "latency": "time from a request's arrival to its completion, as in 10ms",
    "weight": "share of surplus device time, 1 to 10000",
    "max": "upper limit of its bandwidth, even on an idle disk, as in 1G",
    "iops": "operations per second, of any size",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("target", help="a cgroup's path, a unit, a container, a virtual machine")
    parser.add_argument("device", help="a disk, a link below /dev, a mount point, a volume")
    for key in reservation.KEYS:
        parser.add_argument(f"--{key}", help=_HELP[key], metavar=key.upper())
    parser.add_argument("--now", action="store_true", help="only now, not after a reboot")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written")
    parser.add_argument(
        "--json", action="store_true", help="JSON: its lines in the file, whether anything changes"
    )


def run(host: Host, args: argparse.Namespace) -> int:
    """Write it to all disks, or to none, and keep what is then in force."""
    keys = _keys(args)
    found = disks.resolve(host, args.device)
    _on_htbs(host, found, args.device)
    what = f"{reservation.text(keys)} on {', '.join(disk.name for disk in found)}"
    code = Exit.DONE
    try:
        group = groups.resolve(host, args.target)
    except NotRunning as stopped:
        if args.now:
            raise
        where = f"{stopped.unit} has no process: {what} from its next start on"
        group, name = None, stopped.unit
        code = _without_process(stopped)
    else:
        where = f"{group.directory}: {what}"
        name = keep.target(host, group, args.target)
    if not args.json:
        print(where)
    with store.locked(host, args.dry_run) as kept:
        writes, changed = {}, False
        for disk in found:
            in_force = control.of_group(host, group, disk) if group else None
            own = in_force or (None if args.now else keep.before(host, kept, name, disk))
            after = control.expected(host, own, disk, keys)
            # If the kept reservation is not in force, its other keys have to be written, too.
            writes[disk] = after.whole() if own and not in_force else keys
            changed |= group is not None and in_force != after
            if not args.now:
                keep.reserve(host, kept, name, disk, after)
        changed |= kept.changed
        if group and not args.dry_run:
            control.prepare(host, group)
        with nullcontext() if args.now or args.dry_run else kept.saved():
            if group and not args.dry_run:
                control.write_all(host, group, writes)
    if args.json:
        lines = [{"target": name, "device": disks.stable(host, disk)} for disk in found]
        print(as_json({"changed": changed, "kept": [] if args.now else lines}))
    elif args.dry_run:
        for disk in found if group else ():
            line = f"{disk.number} {reservation.words(writes[disk])}"
            print(f"would write {line!r} to {group.directory / 'io.htbs'}")
    return code if args.now or args.dry_run else service.start(host) or code


def _keys(args: argparse.Namespace) -> dict[str, int]:
    keys = {
        key: reservation.value_of(key, text)
        for key in reservation.KEYS
        if (text := getattr(args, key)) is not None
    }
    if not keys:
        raise Failure("no reservation is given", "as in --bw 400M --latency 10ms", Exit.USAGE)
    return keys


def _without_process(stopped: NotRunning) -> Exit:
    """Return Exit.FOUND, and print a line, if a unit is up although it has no process."""
    if not stopped.active:
        return Exit.DONE
    print(
        f"htbsctl: {stopped.unit} is active, but other units or kernel threads do its I/O:"
        " reserve for those",
        file=sys.stderr,
    )
    return Exit.FOUND


def _on_htbs(host: Host, found: list[Disk], word: str) -> None:
    others = [disk.name for disk in found if disks.scheduler(host, disk) != "htbs"]
    if others:
        raise Failure(f"{', '.join(others)} is not on HTBS", f"htbsctl enable {word}")
