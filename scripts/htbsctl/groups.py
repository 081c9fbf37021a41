"""Which cgroup a word means: a path, a systemd unit, a container, a virtual machine."""

import errno
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from htbsctl.failure import Exit, Failure
from htbsctl.host import Host, printable

_UNIT = re.compile(r"[^/]+\.(service|slice|scope|socket|mount|swap)")
# systemctl takes such a word for a pattern, and answers for each matching unit, or not at all.
_PATTERN = re.compile(r"[*?[]")
# A user's systemd; the user's units are below it.
_USER = re.compile(r"user@\d+\.service")
_ENGINES = ("podman", "docker")
# Where libvirt keeps the process number of each domain's QEMU.
_DOMAINS = Path("/run/libvirt/qemu")
# Where libvirt keeps the definition of each domain, running or not.
_DEFINED = Path("/etc/libvirt/qemu")
_V1 = (
    "boot with systemd.unified_cgroup_hierarchy=1; io.htbs exists in cgroup v2 only",
    "boot without cgroup_no_v1, or mount -t cgroup2 cgroup2 /sys/fs/cgroup",
)


@dataclass(frozen=True, order=True)
class Group:
    """A cgroup: its directory, and the unit of systemd that it belongs to, if any."""

    directory: Path
    unit: str = ""

    @staticmethod
    def every(host: Host, file: str = "io.htbs") -> Iterator["Group"]:
        """Yield all cgroups that have a file, the root first; skip those that disappear.

        A cgroup whose path is longer than the kernel accepts is skipped, too.
        """
        left = [str(host.path(hierarchy(host)))]
        while left:
            directory = left.pop()
            try:
                with os.scandir(directory) as entries:
                    found = sorted(entries, key=lambda each: each.name, reverse=True)
            except OSError:
                continue
            if any(each.name == file for each in found):
                yield Group(Path(host.name(Path(directory))))
            left += [each.path for each in found if each.is_dir(follow_symlinks=False)]

    def inode(self, host: Host) -> int:
        """The number by which tracepoints name it; 0, which no group has, if it is gone."""
        try:
            return host.path(self.directory).stat().st_ino
        except OSError:
            return 0

    def short(self, host: Host) -> str:
        """Its path below the hierarchy, for people; / is the root."""
        path = str(self.directory.relative_to(hierarchy(host))).removeprefix(".")
        return printable(f"/{path}")

    def managed(self, host: Host) -> str:
        """The unit of systemd that it is or is below of; system.slice if it is outside of all.

        The io controller is enabled from the root down to that unit while the unit requests it.
        system.slice requests it at the root.
        """
        parts = self.directory.relative_to(hierarchy(host)).parts
        found = "system.slice"
        for part in parts:
            if not _UNIT.fullmatch(part):
                break
            found = part
            # Cgroups below a service or a scope belong to another systemd: of a user or a
            # container.
            if not part.endswith(".slice"):
                break
        return found


@lru_cache(maxsize=1)
def hierarchy(host: Host) -> Path:
    """Return where cgroup v2 is mounted, with the io controller. Raises Failure if it is not."""
    mounts = list(host.mounts())
    found = [mount.point for mount in mounts if mount.kind == "cgroup2"]
    v1 = any(mount.kind == "cgroup" and "blkio" in mount.options.split(",") for mount in mounts)
    if not found or v1:
        what = "the io controller is mounted as cgroup v1" if v1 else "no cgroup v2 is mounted"
        raise Failure(what, _V1[0] if v1 else _V1[1])
    return Path(found[0])


def resolve(host: Host, word: str) -> Group:
    """Return the cgroup that a word means.

    Raises Failure if it means none, or several; with Exit.USAGE if it can never mean any.
    """
    if not word or "\0" in word:
        raise Failure(
            f"{word!r} is not a target",
            "name a cgroup, unit, container or virtual machine",
            Exit.USAGE,
        )
    top = hierarchy(host)
    if word.startswith("/"):
        path = Path(os.path.normpath(word))
        below = path if path.is_relative_to(top) else top / str(path).lstrip("/")
        return _at(host, below, word)
    if _UNIT.fullmatch(word):
        return _of_unit(host, word)
    found = _named(host, word)
    if len({group.directory for group in found}) > 1:
        names = ", ".join(group.unit or str(group.directory) for group in found)
        raise Failure(f"{word} is ambiguous: {names}", "use one of these names")
    if found:
        return found[0]
    if host.exists(_DEFINED / f"{word}.xml"):
        raise Failure(f"virtual machine {word} is not running", f"virsh start {word}")
    return _at(host, Path(os.path.normpath(top / word)), word)


def enable_io(host: Host, group: Group) -> list[Path]:
    """Enable the io controller down to a cgroup; return the files that were written.

    systemd keeps it enabled for its units if IOAccounting= is set, see htbsctl.service.
    """
    top, written = hierarchy(host), []
    parents = group.directory.parents
    for parent in reversed([each for each in parents if each == top or top in each.parents]):
        file = parent / "cgroup.subtree_control"
        if "io" not in host.read(file).split():
            host.write(
                file,
                "+io",
                {
                    errno.EBUSY: f"move the processes of {parent} to a cgroup below it",
                    errno.ENOENT: "the kernel has no io controller: htbsctl doctor",
                },
            )
            written.append(file)
    return written


def _at(host: Host, directory: Path, word: str) -> Group:
    below = directory.is_relative_to(hierarchy(host))
    if not below or not host.exists(directory / "cgroup.procs"):
        raise Failure(
            f"{word}: no such cgroup, unit, container or virtual machine",
            f"systemd-cgls lists them; mkdir {directory} creates a cgroup",
        )
    return Group(directory)


def _of_unit(host: Host, unit: str) -> Group:
    if _PATTERN.search(unit):
        raise Failure(f"{unit} is a pattern", "name one unit, as systemctl list-units shows it")
    said = host.do("systemctl", "show", "--property=LoadState,ActiveState,ControlGroup", unit)
    keys = dict(line.split("=", 1) for line in said.splitlines())
    if keys.get("LoadState") == "not-found":
        raise Failure(f"systemd knows no {unit}", "systemctl list-units lists all units")
    path = keys.get("ControlGroup", "")
    directory = hierarchy(host) / path.lstrip("/")
    if not path or not host.exists(directory):
        raise NotRunning(unit, keys.get("ActiveState") == "active")
    return Group(directory, unit)


class Stopped(Failure):
    """The thing that a word means is not running."""


class NotRunning(Stopped):
    """A unit that systemd knows, but which has no process at present.

    active: it is up without a process, because it has started others and exited: Debian's
    postgresql.service has started units, nfs-server.service threads of the kernel.
    """

    def __init__(self, unit: str, active: bool) -> None:
        remedy = "name the unit that does its work"
        if not active:
            remedy = f"systemctl start {unit}, or {remedy}"
        super().__init__(f"{unit} has no process", remedy)
        self.unit, self.active = unit, active


def _named(host: Host, word: str) -> list[Group]:
    """Return the service, container or virtual machine of that name.

    Raises Stopped if there are some, but none of them is running.
    """
    found, stopped = [], []
    for find in (_service, _machine, *(partial(_container, engine) for engine in _ENGINES)):
        try:
            found += find(host, word)
        except Stopped as failure:
            stopped.append(failure)
    if stopped and not found:
        raise stopped[0]
    return found


def _service(host: Host, word: str) -> Iterator[Group]:
    command = ("systemctl", "show", "--property=LoadState", "--value", f"{word}.service")
    state = None if _PATTERN.search(word) else host.ask(*command)
    if state not in (None, "", "not-found"):
        yield _of_unit(host, f"{word}.service")


def _machine(host: Host, word: str) -> Iterator[Group]:
    domain = _domain(host, word)
    if domain:
        yield domain
    for machine in [] if domain else _machines(host, word):
        unit = host.ask("machinectl", "show", "--property=Unit", "--value", machine)
        if unit:
            yield _of_unit(host, unit)


def _container(engine: str, host: Host, word: str) -> Iterator[Group]:
    said = host.ask(engine, "inspect", "--type", "container", word)
    if not said:
        return
    try:
        found = json.loads(said)[0]
        # An engine accepts a prefix of a number as a name.
        named = word in (found.get("Name", "").lstrip("/"), found.get("Id"))
        pid = found["State"]["Pid"] if named else 0
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Failure(
            f"{engine} inspect {word} reports no process", f"check that {engine} works"
        ) from None
    if named:
        yield _of_process(host, pid, word)


def _machines(host: Host, word: str) -> list[str]:
    """Return the machines of that name; libvirt registers them as qemu-NUMBER-NAME."""
    said = host.ask("machinectl", "list", "--no-legend", "--no-pager") or ""
    names = [line.split()[0] for line in said.splitlines() if line.split()]
    pattern = re.compile(rf"(?:[a-z]+-\d+-)?{re.escape(word)}")
    return [name for name in names if pattern.fullmatch(name)]


def _domain(host: Host, word: str) -> Group | None:
    """Return the group of libvirt's domain of that name, found by its QEMU.

    Its machine may have another name: a machine's name has no _, as in web_1, and at most 64
    characters.
    """
    pid = host.read_or(_DOMAINS / f"{word}.pid").strip()
    if not pid or not host.exists(f"/proc/{pid}/cgroup"):
        return None
    group = _of_process(host, int(pid), word)
    # While it is being started it is in the cgroup of libvirtd.
    return group if group.unit.startswith("machine-") else None


def _of_process(host: Host, pid: int, word: str) -> Group:
    """Return a container's cgroup: that made by its engine or systemd, not one inside of it."""
    if not pid:
        raise Stopped(f"container {word} is not running", f"start {word}")
    line = host.read(f"/proc/{pid}/cgroup").strip().split("::", 1)[1]
    parts = line.strip("/").split("/")
    ends = [
        at
        for at, part in enumerate(parts)
        if part.endswith((".scope", ".service")) and not _USER.fullmatch(part)
    ]
    if not ends:
        return Group(hierarchy(host).joinpath(*parts))
    return Group(hierarchy(host).joinpath(*parts[: ends[0] + 1]), parts[ends[0]])
