"""HTBS's files in the kernel: what is in force, and changes of it.

A change that is refused leaves everything as it was.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from htbsctl import disks, groups, service
from htbsctl.disks import Disk
from htbsctl.failure import Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.reservation import Line, Reservation, parse, words

_REMEDIES = {
    errno.EINVAL: "see io.htbs(5) for the range of each key",
    errno.ENODEV: "the disk or the cgroup no longer exists",
    errno.EOPNOTSUPP: "put the disk on HTBS first: htbsctl enable",
    errno.ENOSPC: "the disk cannot keep it beside the others: htbsctl check says what would fit",
    errno.ENOMEM: "no memory: try again",
    errno.ENOENT: "load the module and enable the io controller: htbsctl doctor",
}
_LOAD = {
    errno.EINVAL: "the kernel has no such scheduler: is the module installed? htbsctl doctor",
    errno.ENOENT: "the kernel has no such scheduler: is the module installed? htbsctl doctor",
    errno.ENOMEM: "no memory: try again",
}


def in_force(host: Host, group: Group, disk: Disk) -> Line | None:
    """Return a group's line for a disk; None if it has none yet."""
    found = parse(host.read_or(group.directory / "io.htbs"))
    return next((line for line in found if line.number == disk.number), None)


def of_group(host: Host, group: Group, disk: Disk) -> Reservation | None:
    """Return a group's own reservation on a disk, or None."""
    line = in_force(host, group, disk)
    return line.reservation if line and not line.origin else None


def expected(
    host: Host, before: Reservation | None, disk: Disk, keys: dict[str, int]
) -> Reservation:
    """Return a group's reservation after keys are written, with what the kernel fills in.

    Raises Failure, with Exit.USAGE, if the kernel would refuse it.
    """
    if not before:
        burst, latency = (
            disks.number(host, disk.iosched / f"default_{key}") for key in ("burst", "latency_us")
        )
        before = Reservation(burst=burst, latency=latency)
    return before.merged(keys).checked()


def own(host: Host, found: list[Disk]) -> Iterator[tuple[Group, Disk, Reservation]]:
    """Yield all reservations of groups on some disks, by directory."""
    by_number = {disk.number: disk for disk in found}
    for group in Group.every(host):
        for line in parse(host.read_or(group.directory / "io.htbs")):
            if not line.origin and line.number in by_number:
                yield group, by_number[line.number], line.reservation


def statistics(host: Host, group: Group) -> dict[str, dict[str, int]]:
    """Return the numbers of io.htbs.stat, by the disk's number."""
    found = {}
    for line in host.read_or(group.directory / "io.htbs.stat").splitlines():
        number, *words = line.split()
        found[number] = {key: int(value) for key, value in (each.split("=") for each in words)}
    return found


def write(host: Host, group: Group, disk: Disk, keys: dict[str, int] | None) -> None:
    """Write keys to io.htbs, or none if keys is None. Raises Failure with the errno's remedy."""
    if not host.exists(group.directory):
        raise Failure(f"the cgroup {group.directory} no longer exists", "start its service again")
    what = "none" if keys is None else words(keys)
    host.write(group.directory / "io.htbs", f"{disk.number} {what}", _REMEDIES)


def prepare(host: Host, group: Group) -> None:
    """Enable the io controller, and so io.htbs, in a cgroup. Raises Failure."""
    service.account(host, group)
    groups.enable_io(host, group)
    if not host.exists(group.directory / "io.htbs"):
        raise Failure(
            f"no io.htbs in {group.directory}",
            "load the module with htbsctl enable; htbsctl doctor says more",
        )


def write_all(host: Host, group: Group, wanted: dict[Disk, dict[str, int] | None]) -> None:
    """Write keys, or none, to each disk; if one refuses, all are restored. Raises Failure."""
    with _all_or_none() as undo:
        for disk, keys in wanted.items():
            before = of_group(host, group, disk)
            write(host, group, disk, keys)
            undo(write, host, group, disk, before.whole() if before else None)


def switch_all(host: Host, wanted: dict[Disk, dict[str, str]]) -> dict[Disk, str]:
    """Put disks on HTBS with their attributes, or restore all; return their old schedulers.

    Raises Failure.
    """
    had = {}
    with _all_or_none() as undo:
        for disk, attributes in wanted.items():
            had[disk] = disks.scheduler(host, disk)
            if had[disk] != "htbs":
                host.write(disk.queue / "scheduler", "htbs", _LOAD)
                undo(host.write, disk.queue / "scheduler", had[disk])
            for key, value in _steps(host, disk, attributes):
                _set(host, disk, key, value, undo)
    return had


def _steps(host: Host, disk: Disk, attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what to write, in order.

    The kernel checks each write against the capacity in force. If several values are checked, only
    all of them together have to fit, so the capacity is removed first and written last.
    """
    wanted = dict(attributes)
    tested = [key for key in disks.TESTED & wanted.keys() if _differs(host, disk, key, wanted[key])]
    before = disks.number(host, disk.iosched / "capacity_bw") if len(tested) > 1 else 0
    if before:
        yield "capacity_bw", "0"
        wanted.setdefault("capacity_bw", str(before))
    yield from ((key, wanted[key]) for key in disks.ATTRIBUTES if key in wanted)


def _differs(host: Host, disk: Disk, key: str, value: str) -> bool:
    return disks.number(host, disk.queue / disks.ATTRIBUTES[key]) != int(value)


def _set(host: Host, disk: Disk, key: str, value: str, undo: Callable[..., None]) -> None:
    file = disk.queue / disks.ATTRIBUTES[key]
    before = disks.number(host, file)
    if int(value) != before:
        host.write(file, value, _remedies(key))
        undo(host.write, file, str(before))


def leave_all(host: Host, chosen: dict[Disk, str]) -> None:
    """Switch disks to other schedulers, or restore all. Raises Failure."""
    with _all_or_none() as undo:
        for disk, name in chosen.items():
            before = disks.scheduler(host, disk)
            host.write(disk.queue / "scheduler", name)
            undo(host.write, disk.queue / "scheduler", before)


@contextmanager
def _all_or_none() -> Iterator[Callable[..., None]]:
    """If the context fails, undo what was done, last first; what cannot be undone is left."""
    done: list[tuple[Callable[..., None], tuple]] = []
    try:
        yield lambda function, *arguments: done.append((function, arguments))
    except BaseException:
        for function, arguments in reversed(done):
            with suppress(Failure):
                function(*arguments)
        raise


def _remedies(key: str) -> dict[int, str]:
    """Return what to do about an errno of an attribute."""
    return {
        errno.EINVAL: f"{key} is out of its range, see htbs(4)",
        errno.ENOSPC: "the reservations in force, or the default one, do not fit: htbsctl check, or"
        " a smaller --default-bw, --default-burst",
    }
