"""The kept state: which line means which disk and group, and how it is applied."""

from collections.abc import Iterator
from pathlib import Path

from htbsctl import control, disks, groups
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.reservation import Reservation
from htbsctl.store import Store

#: The beginning of the lines of apply() that report failures.
FAILED = "failed: "


def target(host: Host, group: Group, word: str) -> str:
    """Return the name of a group that survives a reboot.

    A unit's name does. The scope of a container or of a virtual machine has another name after each
    start, so the name is the word by which the group was found.
    """
    if not group.unit:
        outside = Path(word).is_absolute() or host.exists(groups.hierarchy(host) / word)
        return str(group.directory) if outside else word
    said = host.ask("systemctl", "show", "--property=Transient", "--value", group.unit)
    return word if said == "yes" else group.unit


def of_disks(host: Host, kept: Store, found: list[Disk], word: str) -> set[str]:
    """Return the devices in the file that are `word`, or that mean some of the disks."""
    devices = {*kept.devices(), *(device for _, device in kept.reservations())}
    return {
        device
        for device in devices
        if device == word or set(there(host, device)) & set(found)
    }


def of_group(host: Host, kept: Store, group: Group | None, names: set[str]) -> set[str]:
    """Return the targets in the file that mean a group, or that are among some names."""
    return {
        word
        for word, _ in kept.reservations()
        if word in names or (group and _directory(host, word) == group.directory)
    }


def split_devices(host: Host, kept: Store, found: list[Disk]) -> None:
    """If a line means several disks and some of them are changed, write a line for each disk."""
    for word, attributes in kept.devices().items():
        every = _several(host, word, found)
        if every:
            kept.forget_device(word)
        for name in every:
            kept.set_device(name, attributes | kept.devices().get(name, {}))


def split_reservations(host: Host, kept: Store, targets: set[str], found: list[Disk]) -> None:
    """Do the same for the reservations of some targets."""
    for (target, word), promised in kept.reservations().items():
        every = _several(host, word, found) if target in targets else []
        if every:
            kept.set_reservation(target, word, None)
        for name in every:
            if (target, name) not in kept.reservations():
                kept.set_reservation(target, name, promised)


def enable(host: Host, kept: Store, disk: Disk, attributes: dict[str, str]) -> dict[str, str]:
    """Replace the lines that mean a disk by one line; return its attributes, old and new."""
    split_devices(host, kept, [disk])
    name, every = disks.stable(host, disk), attributes
    for word in of_disks(host, kept, [disk], disk.name) & kept.devices().keys():
        every = kept.devices()[word] | every
        if word != name:
            kept.forget_device(word)
    kept.set_device(name, every)
    return every


def reserve(host: Host, kept: Store, name: str, disk: Disk, promised: Reservation) -> None:
    """Replace the lines that mean a group and a disk by one line."""
    group, stable = _directory(host, name), disks.stable(host, disk)
    targets = of_group(host, kept, Group(group) if group else None, {name})
    split_reservations(host, kept, targets, [disk])
    devices = of_disks(host, kept, [disk], disk.name)
    for word, device in list(kept.reservations()):
        if word in targets and device in devices and (word, device) != (name, stable):
            kept.set_reservation(word, device, None)
    kept.set_reservation(name, stable, promised)


def before(host: Host, kept: Store, name: str, disk: Disk) -> Reservation | None:
    """Return the kept reservation of a group on a disk."""
    devices = of_disks(host, kept, [disk], disk.name)
    for (word, device), promised in kept.reservations().items():
        if word == name and device in devices:
            return promised
    return None


def there(host: Host, word: str) -> list[Disk]:
    """Return the disks of a device; none while it is absent."""
    try:
        return disks.resolve(host, word)
    except Failure:
        return []


def contradictions(host: Host, kept: Store) -> Iterator[tuple[str, str]]:
    """Yield pairs of lines that set the same by different names, but to different values."""
    first: dict[object, tuple[str, object]] = {}
    for what, value, line in _meant(host, kept):
        other, had = first.setdefault(what, (line, value))
        if had != value:
            yield other, line


def _meant(host: Host, kept: Store) -> Iterator[tuple[object, object, str]]:
    """Yield what each line sets, its value, and the beginning of the line."""
    for word, attributes in kept.devices().items():
        for disk in there(host, word):
            for key, value in attributes.items():
                yield (disk, key), int(value), f"device {word}"
    for (target, word), promised in kept.reservations().items():
        directory = _directory(host, target)
        for disk in there(host, word) if directory else ():
            yield (directory, disk), promised, f"reserve {target} {word}"


def apply(host: Host, kept: Store) -> Iterator[str]:
    """Apply the kept state. Yield what was done and, beginning with FAILED, what failed."""
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
    # A disk that was taken off HTBS keeps its reservations until it is put on HTBS again.
    if disks.scheduler(host, disk) != "htbs":
        return
    try:
        group = groups.resolve(host, word)
    except Failure as failure:
        if failure.code is Exit.USAGE:
            raise
        # It is applied when the group exists.
        return
    control.prepare(host, group)
    if not _has(control.of_group(host, group, disk), promised):
        control.write(host, group, disk, promised.whole())
        yield f"{group.directory}: {promised.text()} on {disk.name}"


def _several(host: Host, word: str, found: list[Disk]) -> list[str]:
    """Return the names of a device's disks if it means several, some of which are in `found`."""
    every = there(host, word)
    some = len(every) > 1 and set(every) & set(found)
    return [disks.stable(host, disk) for disk in every] if some else []


def _directory(host: Host, word: str) -> Path | None:
    try:
        return groups.resolve(host, word).directory
    except Failure:
        return None


def _has(own: Reservation | None, promised: Reservation) -> bool:
    """Return true if a reservation is in force, with the kernel's values for keys not kept."""
    if not own:
        return False
    filled_in = {"burst": own.burst, "latency": own.latency} | promised.keys()
    return own == promised.merged(filled_in)


def differs(host: Host, disk: Disk, attributes: dict[str, str]) -> bool:
    """Return true if a disk is not on HTBS, or has other attributes."""
    if disks.scheduler(host, disk) != "htbs":
        return True
    return any(
        disks.number(host, disk.queue / disks.ATTRIBUTES[key]) != int(value)
        for key, value in attributes.items()
    )

