"""Devices and the reservations in force on them."""

import argparse

from htbsctl import control, disks, quantity, reservation
from htbsctl.disks import Disk
from htbsctl.failure import Exit
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.output import NOTHING, as_json, table
from htbsctl.reservation import Reservation

SUMMARY = "show devices, schedulers, reservations in force, promised and left"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", nargs="*", help="only these (default: all disks)")
    parser.add_argument("--json", action="store_true", help="JSON; sizes are bytes, times us")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print both tables."""
    if args.device:
        found = sorted({disk for word in args.device for disk in disks.resolve(host, word)})
    else:
        found = disks.every(host)
    devices = [device(host, disk) for disk in found]
    on_htbs = [disk for disk in found if disks.scheduler(host, disk) == "htbs"]
    kept = [
        promise(host, group, disk, promised)
        for group, disk, promised in (control.own(host, on_htbs) if on_htbs else ())
    ]
    if args.json:
        print(as_json({"devices": devices, "reservations": kept}))
        return Exit.DONE
    print(_devices_text(devices))
    if kept:
        print(f"\n{_reservations_text(kept)}")
    return Exit.DONE


def device(host: Host, disk: Disk) -> dict:
    """Return a disk; values that only HTBS has are None under another scheduler."""
    about: dict = {
        "device": disk.name,
        "number": disk.number,
        "scheduler": disks.scheduler(host, disk),
        "nr_requests": disks.number(host, disk.queue / "nr_requests"),
    }
    on_htbs = about["scheduler"] == "htbs"
    for name in ("capacity_bw", "promised_bw", "promised_requests"):
        about[name] = disks.number(host, disk.iosched / name) if on_htbs else None
    return about


def promise(host: Host, group: Group, disk: Disk, promised: Reservation) -> dict:
    """Return a group's reservation, and whether it was kept since the disk was put on HTBS."""
    stat = control.statistics(host, group).get(disk.number, {})
    return {
        "group": group.short(host),
        "device": disk.name,
        **promised.keys(),
        "conforming": stat.get("conforming", 0),
        "missed": stat.get("missed", 0),
    }


def _devices_text(devices: list[dict]) -> str:
    rows = []
    for each in devices:
        tags = str(each["nr_requests"])
        capacity, promised = each["capacity_bw"], each["promised_bw"]
        left = quantity.rate_text(max(0, capacity - promised)) if capacity else "not known"
        needs = each["promised_requests"]
        if each["scheduler"] != "htbs":
            rows.append([each["device"], each["scheduler"], NOTHING, NOTHING, tags])
            continue
        if needs > each["nr_requests"]:
            tags += f", needs {needs}"
        rows.append([each["device"], "htbs", quantity.rate_text(promised), left, tags])
    return table(("DEVICE", "SCHEDULER", "PROMISED", "LEFT", "REQUESTS"), rows)


def _reservations_text(kept: list[dict]) -> str:
    rows = []
    for each in kept:
        keys = {key: each[key] for key in reservation.KEYS if key in each}
        late = f"{each['missed']} of {each['conforming']}"
        rows.append([each["group"], each["device"], Reservation(**keys).exact(), late])
    return table(("GROUP", "DEVICE", "RESERVATION", "LATE"), rows)
