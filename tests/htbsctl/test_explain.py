"""Requests that are charged to another group than the one that explain was asked about."""

from pathlib import Path

import pytest

from htbsctl import disks
from htbsctl.commands import explain, fit
from htbsctl.failure import Failure
from htbsctl.groups import Group, resolve
from htbsctl.reservation import Line, Reservation


@pytest.fixture
def stack(host):
    """md5 on sda and on a volume on sdb1, a partition of sdb."""
    host.put("/sys/devices/sdb/sdb1/partition", "1\n")
    host.disk("dm-0", "253:0", "none")
    host.disk("md5", "9:5", "none")
    for below, above in (("sdb/sdb1", "dm-0"), ("dm-0", "md5"), ("sda", "md5")):
        host.link(f"/sys/devices/{below}/holders/{above}", f"/sys/devices/{above}")
    return host


def test_volumes_and_arrays_above_a_disk(stack):
    assert disks.above(stack, disks.one(stack, "sdb")) == {"dm-0", "md5"}
    assert disks.above(stack, disks.one(stack, "sda")) == {"md5"}


def test_the_payer_of_a_group_that_is_deep(monkeypatch):
    top = Group(Path("/sys/fs/cgroup/app"))

    def in_force(_, group, __):
        return Line("8:16", Reservation(bw=4096), "" if group == top else "inherited")

    monkeypatch.setattr(explain.control, "in_force", in_force)
    assert explain.payer(None, Group(top.directory.joinpath(*["a"] * 1100)), None) == top


def charging(host, word="app"):
    return explain._charging(host, resolve(host, word), disks.one(host, "sdb"))


def test_parity_above_a_volume(stack):
    stack.put("/sys/devices/md5/md/level", "raid5\n")
    [sentence] = charging(stack)
    assert sentence.startswith("md5 is raid5: ")
    assert "the thread md5_raid5 " in sentence


def test_parity_of_lvm(stack):
    """The kernel does not name its thread after an array."""
    stack.put("/sys/devices/dm-0/dm/name", "vg-own\n")
    command = "dmsetup table --target raid vg-own"
    stack.answers[command] = "0 131072 raid raid5_ls 3 128 region_size 4096 3 253:0 253:1\n"
    [sentence] = charging(stack)
    assert sentence.startswith("dm-0 is raid5: ")
    assert "the thread mdX_raid5 " in sentence
    stack.answers[command] = "0 131072 raid raid1 2 0 2 253:0 253:1\n"
    assert charging(stack) == []


def test_buffered_writes(host):
    """The kernel enables the memory controller together with io, but does not show that."""
    host.put("/sys/fs/cgroup/app/cgroup.controllers", "io\n")
    assert charging(host) == []
    host.put("/sys/fs/cgroup/cgroup.controllers", "io\n")
    [sentence] = charging(host)
    assert "its buffered writes are charged to the root" in sentence


LINE = "8:16 bw=4194304 burst=1048576 latency=1000000"


@pytest.mark.parametrize("cap", ["", " max=8388608"])
def test_a_group_that_shares_the_roots_reservation_has_its_own_numbers(host, cap):
    """The kernel counts a group at the root only if the root has a max: the group has no line."""
    host.put("/sys/fs/cgroup/io.htbs", f"{LINE}{cap}\n")
    host.put("/sys/fs/cgroup/io.htbs.stat", "8:16 inserted=0\n")
    host.group("/app", f"{LINE}{cap} inherited\n")
    host.put("/sys/fs/cgroup/app/io.htbs.stat", "" if cap else "8:16 inserted=9\n")
    app, disk = resolve(host, "app"), disks.one(host, "sdb")
    assert explain.counted(host, app, disk) == (resolve(host, "/") if cap else app)
    [sentence] = explain._reservation(host, app, disk)
    assert sentence.startswith("/app shares the reservation of /: ")
    if cap:
        with pytest.raises(Failure, match="shares the reservation of a group above it"):
            fit._alone(host, app, disk)
    else:
        fit._alone(host, app, disk)
