"""Which cgroup a word means."""

import ctypes
import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

from htbsctl import groups
from htbsctl.failure import Failure
from htbsctl.groups import NotRunning
from htbsctl.inotify import Directories

TOP = Path("/sys/fs/cgroup")


def show(host, unit, path, state="loaded", active="inactive"):
    """Let systemd report a unit."""
    host.answers[f"systemctl show --property=LoadState,ActiveState,ControlGroup {unit}"] = (
        f"LoadState={state}\nActiveState={active}\nControlGroup={path}\n"
    )
    host.answers[f"systemctl show --property=LoadState --value {unit}"] = f"{state}\n"
    if path:
        host.group(path)


def machine(host, name, unit):
    """Let machinectl report a virtual machine."""
    host.answers["machinectl list --no-legend --no-pager"] = f"{name} vm libvirt-qemu - - -\n"
    host.answers[f"machinectl show --property=Unit --value {name}"] = unit
    show(host, unit, f"/machine.slice/{unit}")


def container(host, cgroup, name="web", number="db12ef", pid=42):
    """Let podman report a container; it accepts a prefix of its number, too."""
    said = json.dumps([{"Name": name, "Id": number, "State": {"Pid": pid}}])
    for word in (name, number, number[:2]):
        host.answers[f"podman inspect --type container {word}"] = said
    host.put("/proc/42/cgroup", f"0::{cgroup}\n")


@pytest.mark.parametrize(
    "word",
    ["app", "/app", "/sys/fs/cgroup/app", "/app/", "app/", "./app", "a/../app", "/app/../app"]
    + ["/app/./", "/../app", "/sys/fs/cgroup/../cgroup/app"],
)
def test_a_path(host, word):
    assert groups.resolve(host, word).directory == TOP / "app"


def test_a_path_that_leaves_the_hierarchy(host):
    """For example, to another hierarchy that is mounted beside it."""
    host.put("/sys/fs/other/cgroup.procs")
    for word in ("../other", "..", "app/../../other"):
        with pytest.raises(Failure, match="no such cgroup"):
            groups.resolve(host, word)


def test_the_root(host):
    assert groups.resolve(host, "/").directory == TOP


def test_a_unit(host):
    show(host, "db.service", "/system.slice/db.service")
    for word in ("db.service", "db"):
        group = groups.resolve(host, word)
        assert (group.directory, group.unit) == (TOP / "system.slice/db.service", "db.service")


def test_a_unit_that_is_up_without_a_process(host):
    """For example postgresql.service and nfs-server.service, which start others and exit."""
    show(host, "db.service", "", active="active")
    with pytest.raises(NotRunning, match="no process: name the unit that does its work") as raised:
        groups.resolve(host, "db.service")
    assert raised.value.active


def test_a_unit_without_a_process(host):
    show(host, "db.service", "")
    with pytest.raises(NotRunning, match="db.service has no process: systemctl start db.service"):
        groups.resolve(host, "db.service")
    show(host, "db.service", "/system.slice/db.service")
    host.path("/sys/fs/cgroup/system.slice/db.service").rename(host.root / "gone")
    with pytest.raises(NotRunning):
        groups.resolve(host, "db.service")


def test_without_systemd_a_unit_is_not_taken_for_stopped(host):
    with pytest.raises(Failure, match="systemctl: unknown") as raised:
        groups.resolve(host, "db.service")
    assert not isinstance(raised.value, NotRunning)


def test_a_unit_that_systemd_does_not_know(host):
    show(host, "db.service", "", "not-found")
    with pytest.raises(Failure, match="systemd knows no db.service"):
        groups.resolve(host, "db.service")


@pytest.mark.parametrize("matches", ["", "one", "one two"])
def test_a_pattern_is_no_unit(host, matches):
    """Systemctl answers for all matching units, with an empty line between them."""
    for word in ("db@*.service", "db@*"):
        unit = f"{word.removesuffix('.service')}.service"
        show(host, unit, "")
        for command in [each for each in host.answers if each.endswith(unit)]:
            host.answers[command] = "\n".join(host.answers[command] for _ in matches.split())
        with pytest.raises(Failure, match="is a pattern: name one|no such cgroup") as raised:
            groups.resolve(host, word)
        assert not isinstance(raised.value, NotRunning)


@pytest.mark.parametrize(
    ("cgroup", "directory", "unit"),
    [
        ("/machine.slice/libpod-1.scope/container/nginx", "machine.slice/libpod-1.scope", None),
        ("/machine.slice/libpod-1.scope/c/init.scope", "machine.slice/libpod-1.scope", None),
        ("/system.slice/web.service/libpod-payload-1", "system.slice/web.service", None),
        (
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-1.scope/container",
            "user.slice/user-1000.slice/user@1000.service/user.slice/libpod-1.scope",
            None,
        ),
        ("/docker/db12ef", "docker/db12ef", ""),
    ],
)
def test_a_container(host, cgroup, directory, unit):
    container(host, cgroup)
    for word in ("web", "db12ef"):
        group = groups.resolve(host, word)
        assert group.directory == TOP / directory
        assert group.unit == (directory.rpartition("/")[2] if unit is None else unit)


@pytest.mark.parametrize("said", ['[{"Name": "web"}]', "[]", "{}", "[1]", "Error: no"])
def test_an_engine_that_names_no_process(host, said):
    host.answers["podman inspect --type container web"] = said
    with pytest.raises(Failure, match="podman inspect web reports no process: check that podman"):
        groups.resolve(host, "web")


def test_a_name_that_is_too_long(host):
    for word in ("x" * 300, "/" + "x" * 300):
        with pytest.raises(Failure, match="no such cgroup"):
            groups.resolve(host, word)


def test_the_beginning_of_a_number_is_no_name(host):
    container(host, "/machine.slice/libpod-1.scope")
    host.group("/db")
    assert groups.resolve(host, "db").directory == TOP / "db"


@pytest.mark.parametrize("name", ["vm1", "qemu-7-vm1"])
def test_a_machine(host, name):
    """libvirt's have a number before the name, which changes with each start."""
    machine(host, name, "machine-vm1.scope")
    assert groups.resolve(host, "vm1").unit == "machine-vm1.scope"


def domain(host, name, cgroup, pid="77"):
    """Add libvirt's record of a domain's QEMU."""
    host.put(f"/run/libvirt/qemu/{name}.pid", pid)
    host.put(f"/proc/{pid}/cgroup", f"0::{cgroup}\n")


def test_a_domain_whose_machine_has_another_name(host):
    """A machine's name has no underscore: web_1 is qemu-3-web1, but web1 is not."""
    machine(host, "qemu-3-web1", "machine-qemu-3.scope")
    domain(host, "web_1", "/machine.slice/machine-qemu-3.scope/libvirt/emulator")
    domain(host, "web1", "/machine.slice/machine-qemu-4.scope/libvirt/emulator", "78")
    for name, unit in (("web_1", "machine-qemu-3.scope"), ("web1", "machine-qemu-4.scope")):
        group = groups.resolve(host, name)
        assert (group.directory, group.unit) == (TOP / "machine.slice" / unit, unit)


def test_a_domain_that_is_being_started(host):
    """Until it has its scope, QEMU is in the cgroup of libvirtd."""
    domain(host, "web_1", "/system.slice/libvirtd.service")
    with pytest.raises(Failure, match="web_1: no such cgroup"):
        groups.resolve(host, "web_1")


def test_a_domain_that_is_off(host):
    host.put("/etc/libvirt/qemu/web_1.xml")
    with pytest.raises(Failure, match="web_1 is not running: virsh start web_1"):
        groups.resolve(host, "web_1")


def test_a_domain_that_ended(host):
    """QEMU was killed, and its record is left."""
    host.put("/run/libvirt/qemu/web_1.pid", "78")
    with pytest.raises(Failure, match="web_1: no such cgroup"):
        groups.resolve(host, "web_1")


def test_an_ambiguous_name(host):
    show(host, "db.service", "/system.slice/db.service")
    machine(host, "db", "machine-db.scope")
    with pytest.raises(Failure, match="db is ambiguous: db.service, machine-db.scope"):
        groups.resolve(host, "db")


def test_a_running_group_comes_before_a_stopped_one(host):
    """An unused service of a package beside a container of that name, or the reverse."""
    container(host, "/machine.slice/libpod-1.scope")
    show(host, "web.service", "")
    assert groups.resolve(host, "web").unit == "libpod-1.scope"
    container(host, "", pid=0)
    with pytest.raises(NotRunning, match="web.service has no process"):
        groups.resolve(host, "web")
    show(host, "web.service", "/system.slice/web.service")
    assert groups.resolve(host, "web").unit == "web.service"


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("app", "system.slice"),
        ("system.slice/db.service", "db.service"),
        ("system.slice/db.service/worker", "db.service"),
        ("user.slice/user-1000.slice/user@1000.service/app.slice/db.service", "user@1000.service"),
        ("system.slice/docker-1.scope/system.slice/db.service", "docker-1.scope"),
        ("docker/1", "system.slice"),
    ],
)
def test_which_unit_asks_for_the_controller(host, path, unit):
    assert groups.Group(TOP / path).managed(host) == unit


def test_names_that_others_chose(host):
    """Invalid UTF-8 and control sequences for terminals are not printed."""
    host.group("/a\x1b[2J")
    host.group("/b\udcff")
    names = [group.short(host) for group in groups.Group.every(host)]
    assert names == ["/", "/a\\x1b[2J", "/app", "/b\\xff"]


def test_a_group_that_goes_away_is_skipped(host, app_goes_away):
    assert [group.short(host) for group in groups.Group.every(host)] == ["/"]


@pytest.fixture
def nested(host, monkeypatch):
    """Create nested cgroups below app; rm(1) removes them where Python's recursion fails."""
    top = host.path("/sys/fs/cgroup/app")

    def make(name, count):
        monkeypatch.chdir(top)
        for _ in range(count):
            Path(name).mkdir()
            os.chdir(name)
            Path("io.htbs").touch()
        monkeypatch.chdir(top)

    yield make
    subprocess.run(["rm", "-rf", top], check=True)


def test_groups_that_are_deeper_than_the_stack(host, nested):
    nested("a", 1100)
    host.group("/app/a/b")
    host.link("/sys/fs/cgroup/app/a/again", "/sys/fs/cgroup")
    names = [group.short(host) for group in groups.Group.every(host)]
    assert names[:4] == ["/", "/app", "/app/a", "/app/a/a"]
    assert names[-1] == "/app/a/b"
    assert len(names) == 1103


def test_groups_that_are_deeper_than_a_path(host, nested):
    """The kernel creates them by relative paths, but accepts no path to them."""
    nested("d" * 250, 20)
    host.group("/db")
    names = [group.short(host) for group in groups.Group.every(host)]
    assert names[-1] == "/db"
    assert 10 < len(names) < 20
    with Directories(host.path("/sys/fs/cgroup")):
        pass


def test_a_limit_of_inotify_is_named(tmp_path, monkeypatch):
    for number, words in (
        (errno.ENOSPC, "raise fs.inotify.max_user_watches by sysctl"),
        (errno.ENOMEM, "Cannot allocate memory: try again"),
    ):
        with Directories(tmp_path) as cgroups:
            monkeypatch.setattr(cgroups._libc, "inotify_add_watch", lambda *_: -1)
            ctypes.set_errno(number)
            with pytest.raises(Failure, match=words):
                cgroups.settle(0)


def test_mounts_with_odd_names(host):
    """A blank, which the kernel writes as \\040, and a line separator, which it does not escape."""
    host.put(
        "/proc/self/mountinfo",
        "9 1 0:9 / /mnt/a\\040b\u2028c rw - fuse x rw\n" + host.read("/proc/self/mountinfo"),
    )
    assert [mount.point for mount in host.mounts()] == ["/mnt/a b\u2028c", "/sys/fs/cgroup"]


def test_no_group(host):
    with pytest.raises(Failure, match="nogroup: no such cgroup, unit, container or virtual"):
        groups.resolve(host, "nogroup")


@pytest.mark.parametrize(
    ("mounts", "words"),
    [
        ("30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", "no cgroup v2 is mounted"),
        ("30 23 0:26 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n", "cgroup v1"),
    ],
)
def test_cgroup_v1(host, mounts, words):
    host.put("/proc/self/mountinfo", mounts)
    with pytest.raises(Failure, match=words):
        groups.resolve(host, "app")


def test_the_io_controller_is_enabled_on_the_way(host):
    host.group("/a/b")
    host.put("/sys/fs/cgroup/cgroup.subtree_control", "cpu\n")
    host.put("/sys/fs/cgroup/a/cgroup.subtree_control", "io\n")
    written = groups.enable_io(host, groups.resolve(host, "a/b"))
    assert written == [TOP / "cgroup.subtree_control"]
    assert host.read(TOP / "cgroup.subtree_control") == "+io\n"
