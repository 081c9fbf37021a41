"""The reservations of a disk, as admission counts them."""

from typing import NamedTuple

from htbsctl import control, disks
from htbsctl.disks import Disk
from htbsctl.host import Host
from htbsctl.reservation import Reservation

#: The name of the reservation that all groups without one share.
DEFAULT = "the default reservation"


class Promise(NamedTuple):
    """A reservation as admission counts it; latency in ns."""

    name: str
    bw: int
    burst: int
    latency: int
    iops: int = 0


def of(name: str, each: Reservation) -> Promise:
    """Return a reservation with its name."""
    return Promise(name, each.bw, each.burst, each.latency * 1000, each.iops)


def in_force(host: Host, disk: Disk) -> list[Promise]:
    """Return a disk's reservations: each group's own, and the root's, which is the default one."""
    found = [of(group.short(host), each) for group, _, each in control.own(host, [disk])]
    if "/" not in {each.name for each in found}:
        numbers = (
            disks.number(host, disk.iosched / f"default_{key}")
            for key in ("bw", "burst", "latency_us")
        )
        found.append(of(DEFAULT, Reservation(*numbers)))
    return found
