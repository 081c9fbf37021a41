"""Explain why a group gets what it gets on a disk."""

import argparse
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from htbsctl import control, disks, groups, quantity
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host

SUMMARY = "say why a group gets what it gets on a device"

_DEBUGFS = Path("/sys/kernel/debug/block")
# RAID levels for which a thread of md submits the I/O, so that the thread's cgroup is charged.
_PARITY = ("raid4", "raid5", "raid6")
# How often sched/state is read.
_PERIOD = 0.02


@dataclass
class _Seen:
    """What was seen in some seconds: a group's numbers, and the active group at each look."""

    seconds: float = 0
    numbers: dict[str, int] = field(default_factory=dict)
    looks: int = 0
    holders: Counter = field(default_factory=Counter)
    overloaded: int = 0
    idled: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("target", help="a cgroup's path, a unit, a container, a virtual machine")
    parser.add_argument("device", help="a disk, a link below /dev, a mount point, a volume")
    parser.add_argument("--seconds", type=quantity.seconds, default=2, help="how long (2)")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print sentences, the general ones first."""
    found = disks.resolve(host, args.device)
    group = groups.resolve(host, args.target)
    for disk in found:
        if disks.scheduler(host, disk) != "htbs":
            raise Failure(f"{disk.name} is not on HTBS", f"htbsctl enable {args.device}")
        seen = _look(host, counted(host, group, disk), disk, args.seconds)
        for sentence in (
            *_reservation(host, group, disk),
            *_rates(seen),
            *_disk(host, disk, seen),
            *_charging(host, group, disk),
        ):
            print(f"{disk.name}: {sentence}")
    return Exit.DONE


def payer(host: Host, group: Group, disk: Disk) -> Group | None:
    """Return the group whose reservation applies to a group; None: the default one."""
    line = control.in_force(host, group, disk)
    while line and line.origin == "inherited":
        group = Group(group.directory.parent)
        line = control.in_force(host, group, disk)
    return None if line is None or line.origin else group


def counted(host: Host, group: Group, disk: Disk) -> Group:
    """Return the group that has a group's numbers: itself, if it has a line, or an ancestor.

    Groups that share the root's reservation have their own numbers, unless the root has a max.
    """
    own = disk.number in control.statistics(host, group)
    return group if own else payer(host, group, disk) or group


def _reservation(host: Host, group: Group, disk: Disk) -> list[str]:
    name = group.short(host)
    if not host.exists(group.directory / "io.htbs"):
        return [
            f"{name} has no io.htbs: the io controller is not enabled in its parent, so its"
            " requests count as its parent's (htbsctl reserve enables it)"
        ]
    line = control.in_force(host, group, disk)
    if line is None:
        return [f"{name} has done no I/O on this disk, and has no reservation"]
    text = line.reservation.text()
    pays = payer(host, group, disk)
    if pays is None:
        return [
            f"neither {name} nor a group above it has a reservation; {name} shares the default"
            f" reservation of the disk, {text}, with all such groups"
        ]
    if pays != group:
        return [f"{name} shares the reservation of {pays.short(host)}: {text}"]
    return [f"{name} has a reservation of its own: {text}"]


def _look(host: Host, pays: Group, disk: Disk, seconds: float) -> _Seen:
    """Watch a disk, and the numbers of the group that is charged."""
    seen = _Seen()
    before, began = control.statistics(host, pays).get(disk.number, {}), time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        _look_once(host.read_or(_DEBUGFS / disk.name / "sched/state"), seen)
        time.sleep(max(0, min(_PERIOD, began + seconds - now)))
    after = control.statistics(host, pays).get(disk.number, {})
    seen.seconds = time.monotonic() - began
    # The number of missed requests may fall when a pending one is dispatched.
    seen.numbers = {key: max(0, value - before.get(key, 0)) for key, value in after.items()}
    return seen


def _look_once(state: str, seen: _Seen) -> None:
    keys = dict(re.findall(r"(?m)^(\S+(?: \S+)?) {2,}(.*)$", state))
    if not keys:
        return
    seen.looks += 1
    active = re.match(r"group (\d+)", keys.get("active", ""))
    if active:
        seen.holders[int(active[1])] += 1
    seen.overloaded += keys.get("overload") == "yes"
    seen.idled += keys.get("kept idle", "no") != "no"


def _rates(seen: _Seen) -> list[str]:
    """Describe what arrived, and how much of it conformed."""
    new = seen.numbers
    if not new:
        return ["it has no counters of its own: the io.htbs.stat of a group above counts its I/O"]
    came = new["inserted"] - new["merged"]
    if not came:
        return ["it submitted no requests in that time: it is idle, or waits for tags"]
    rate = (new["rbytes"] + new["wbytes"] + new["dbytes"]) / seen.seconds
    parts = [f"{quantity.rate_text(round(rate))}, {came / seen.seconds:.0f} requests/s"]
    share = new["conforming"] / came
    parts.append(f"{min(1, share):.0%} of them conform to the reservation")
    parts.append(f"{new['missed']} of these were late" if new["missed"] else "none was late")
    sentences = [", ".join(parts)]
    if share < 1 / 2:
        sentences.append(
            "it submits more than it reserved, or larger bursts: the rest is surplus, and gets what"
            " other groups leave (more bw or burst makes it conform)"
        )
    if new["waits"]:
        sentences.append(
            f"the disk was idled for it {new['waits']} times; {new['hits']} times its next"
            " request came in time"
        )
    return sentences


def _disk(host: Host, disk: Disk, seen: _Seen) -> list[str]:
    """Describe which groups are active, and whether tags are scarce."""
    sentences = []
    needs = disks.number(host, disk.iosched / "promised_requests")
    has = disks.number(host, disk.queue / "nr_requests")
    if needs > has:
        sentences.append(
            f"reservations need {needs} requests and nr_requests is {has}: requests wait"
            f" before the scheduler sees them (htbsctl enable {disk.name} --nr-requests {needs})"
        )
    if not seen.looks:
        return [*sentences, "the active group is in debugfs: mount it, and run this as root"]
    names = {group.inode(host): group.short(host) for group in Group.every(host)}
    for inode, count in seen.holders.most_common(3):
        name = names.get(inode, "the background, or a removed group")
        sentences.append(f"{name} was the active group in {count / seen.looks:.0%} of the samples")
    if not seen.holders:
        sentences.append("no group was active")
    if seen.overloaded:
        sentences.append(
            "more is reserved than the disk can do now: requests are late (reserve less;"
            " htbsctl check)"
        )
    return sentences


def _charging(host: Host, group: Group, disk: Disk) -> list[str]:
    """Describe whether I/O of the group is charged to another one."""
    sentences = []
    for name in sorted(disks.above(host, disk)):
        level, thread = _parity(host, name)
        if level:
            sentences.append(
                f"{name} is {level}: the thread {thread} submits its writes, and its reads while"
                f" degraded; they are charged to the cgroup of {thread} (the root, unless {thread}"
                " was moved)"
            )
    # If the kernel has that controller, it enables it together with io, shown or not.
    if "memory" not in host.read_or(groups.hierarchy(host) / "cgroup.controllers").split():
        sentences.append(
            "there is no memory controller in cgroup v2 (cgroup_disable=memory?): its buffered"
            " writes are charged to the root, when they are written back"
        )
    return sentences


def _parity(host: Host, name: str) -> tuple[str, str]:
    """Return the level of an array with parity, and its thread; "" for other devices.

    An array of LVM has no md name, and the kernel gives its thread none.
    """
    sysfs = Path("/sys/class/block") / name
    level, array = host.read_or(sysfs / "md/level").strip(), name
    volume = host.read_or(sysfs / "dm/name").strip()
    if volume:
        # For example "0 131072 raid raid5_ls 3 128 …"
        words = (host.ask("dmsetup", "table", "--target", "raid", volume) or "").split()
        level, array = (words[3].partition("_")[0] if len(words) > 3 else ""), "mdX"
    return (level, f"{array}_{level}") if level in _PARITY else ("", "")
