"""What is kept: which line means which disk and group, and having all of it in force."""

from collections.abc import Iterator
from pathlib import Path

from htbsctl import control, disks, groups
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.reservation import Reservation
from htbsctl.store import Store

#: How lines of apply() begin that are of failures.
FAILED = "failed: "


def target(host: Host, group: Group, word: str) -> str:
    """The name of a group that outlives a reboot.

    A unit's is its own. The scope of a container or of a virtual machine has another name after
    each start, so there the word is it, by which the group was found.
    """
    if not group.unit:
        outside = Path(word).is_absolute() or host.exists(groups.hierarchy(host) / word)
        return str(group.directory) if outside else word
    said = host.ask("systemctl", "show", "--property=Transient", "--value", group.unit)
    return word if said == "yes" else group.unit


def of_disks(host: Host, kept: Store, found: list[Disk], word: str) -> set[str]:
    """The devices of the file that mean some of the disks; word is as good if it means none."""
    devices = {*kept.devices(), *(device for _, device in kept.reservations())}
    return {
        device
        for device in devices
        if device == word or set(there(host, device)) & set(found)
    }


def of_group(host: Host, kept: Store, group: Group | None, names: set[str]) -> set[str]:
    """The targets of the file that mean a group, or are one of some names."""
    return {
        word
        for word, _ in kept.reservations()
        if word in names or (group and _directory(host, word) == group.directory)
    }


def split_devices(host: Host, kept: Store, found: list[Disk]) -> None:
    """Have a line for each disk in place of one that means several, of which some are changed."""
    for word, attributes in kept.devices().items():
        every = _several(host, word, found)
        if every:
            kept.forget_device(word)
        for name in every:
            kept.set_device(name, attributes | kept.devices().get(name, {}))


def split_reservations(host: Host, kept: Store, targets: set[str], found: list[Disk]) -> None:
    """The same for the reservations of some targets."""
    for (target, word), promised in kept.reservations().items():
        every = _several(host, word, found) if target in targets else []
        if every:
            kept.set_reservation(target, word, None)
        for name in every:
            if (target, name) not in kept.reservations():
                kept.set_reservation(target, name, promised)


def enable(host: Host, kept: Store, disk: Disk, attributes: dict[str, str]) -> dict[str, str]:
    """Have a line for a disk, in place of those that mean it; its attributes, old and new."""
    split_devices(host, kept, [disk])
    name, every = disks.stable(host, disk), attributes
    for word in of_disks(host, kept, [disk], disk.name) & kept.devices().keys():
        every = kept.devices()[word] | every
        if word != name:
            kept.forget_device(word)
    kept.set_device(name, every)
    return every


def reserve(host: Host, kept: Store, name: str, disk: Disk, promised: Reservation) -> None:
    """Have a line for a group and a disk, in place of those that mean the same."""
    group, stable = _directory(host, name), disks.stable(host, disk)
    targets = of_group(host, kept, Group(group) if group else None, {name})
    split_reservations(host, kept, targets, [disk])
    devices = of_disks(host, kept, [disk], disk.name)
    for word, device in list(kept.reservations()):
        if word in targets and device in devices and (word, device) != (name, stable):
            kept.set_reservation(word, device, None)
    kept.set_reservation(name, stable, promised)


def before(host: Host, kept: Store, name: str, disk: Disk) -> Reservation | None:
    """What is kept for a group and a disk."""
    devices = of_disks(host, kept, [disk], disk.name)
    for (word, device), promised in kept.reservations().items():
        if word == name and device in devices:
            return promised
    return None


def there(host: Host, word: str) -> list[Disk]:
    """The disks of a device; none while it is away."""
    try:
        return disks.resolve(host, word)
    except Failure:
        return []


def contradictions(host: Host, kept: Store) -> Iterator[tuple[str, str]]:
    """Two lines that mean the same by different names, with different values."""
    first: dict[object, tuple[str, object]] = {}
    for what, value, line in _meant(host, kept):
        other, had = first.setdefault(what, (line, value))
        if had != value:
            yield other, line


def _meant(host: Host, kept: Store) -> Iterator[tuple[object, object, str]]:
    """What each line sets, to what value, and how it begins."""
    for word, attributes in kept.devices().items():
        for disk in there(host, word):
            for key, value in attributes.items():
                yield (disk, key), int(value), f"device {word}"
    for (target, word), promised in kept.reservations().items():
        directory = _directory(host, target)
        for disk in there(host, word) if directory else ():
            yield (directory, disk), promised, f"reserve {target} {word}"


def apply(host: Host, kept: Store) -> Iterator[str]:
    """Make it so. Yields what was done and, beginning with FAILED, what could not be."""
    for word, attributes in kept.devices().items():
        for disk in there(host, word):
            try:
                if differs(host, disk, attributes):
                    control.switch_all(host, {disk: attributes})
                    yield f"{disk.name}: htbs"
            except Failure as failure:
                yield f"{FAILED}{failure}"
    for (word, device), promised in kept.reservations().items():
        for disk in there(host, device):
            try:
                yield from _reserve(host, word, disk, promised)
            except Failure as failure:
                yield f"{FAILED}{failure}"


def _reserve(host: Host, word: str, disk: Disk, promised: Reservation) -> Iterator[str]:
    # A disk that was taken off HTBS keeps its reservations until it is on it again.
    if disks.scheduler(host, disk) != "htbs":
        return
    try:
        group = groups.resolve(host, word)
    except Failure as failure:
        if failure.code is Exit.USAGE:
            raise
        # It comes back to this when the group is there.
        return
    control.prepare(host, group)
    if not _has(control.of_group(host, group, disk), promised):
        control.write(host, group, disk, promised.whole())
        yield f"{group.directory}: {promised.text()} on {disk.name}"


def _several(host: Host, word: str, found: list[Disk]) -> list[str]:
    """The names of the disks of a device, if it means several, and some of these."""
    every = there(host, word)
    some = len(every) > 1 and set(every) & set(found)
    return [disks.stable(host, disk) for disk in every] if some else []


def _directory(host: Host, word: str) -> Path | None:
    try:
        return groups.resolve(host, word).directory
    except Failure:
        return None


def _has(own: Reservation | None, promised: Reservation) -> bool:
    """Whether a reservation is in force; keys that are not kept are as the kernel fills them in."""
    if not own:
        return False
    filled_in = {"burst": own.burst, "latency": own.latency} | promised.keys()
    return own == promised.merged(filled_in)


def differs(host: Host, disk: Disk, attributes: dict[str, str]) -> bool:
    """Whether a disk is not on HTBS, or not with these attributes."""
    if disks.scheduler(host, disk) != "htbs":
        return True
    return any(
        disks.number(host, disk.queue / disks.ATTRIBUTES[key]) != int(value)
        for key, value in attributes.items()
    )

