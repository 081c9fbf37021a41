"""Which disks a word means."""

from pathlib import Path

import pytest

from htbsctl import disks
from htbsctl.failure import Failure


def names(host, word):
    return [disk.name for disk in disks.resolve(host, word)]


def volume(host, name, number, *slaves):
    """Add a device mapper or md device on other devices: only bios, no scheduler."""
    host.disk(name, number, "none")
    for slave in slaves:
        host.link(f"/sys/devices/{name}/slaves/{slave}", f"/sys/class/block/{slave}")


def partition(host, name, number, disk):
    host.put(f"/sys/devices/{disk}/{name}/partition", "1\n")
    host.put(f"/sys/devices/{disk}/{name}/dev", f"{number}\n")
    host.link(f"/sys/class/block/{name}", f"/sys/devices/{disk}/{name}")
    host.link(f"/sys/dev/block/{number}", f"/sys/devices/{disk}/{name}")


@pytest.mark.parametrize("word", ["sdb", "8:16", "sdb1", "8:17"])
def test_a_disk(host, word):
    partition(host, "sdb1", "8:17", "sdb")
    assert names(host, word) == ["sdb"]


def test_a_volume_means_the_disks_below_it(host):
    partition(host, "sdb1", "8:17", "sdb")
    volume(host, "md0", "9:0", "sda", "sdb1")
    volume(host, "dm-0", "253:0", "md0")
    assert names(host, "dm-0") == ["sda", "sdb"]
    with pytest.raises(Failure, match="several disks: sda, sdb: name one"):
        disks.one(host, "dm-0")


def test_multipath_is_a_disk_if_it_has_a_scheduler(host):
    """Requests that request-based multipath sends to its paths bypass their schedulers."""
    volume(host, "dm-0", "253:0", "sda", "sdb")
    volume(host, "dm-1", "253:1", "dm-0")
    assert names(host, "dm-1") == ["sda", "sdb"]
    host.put("/sys/devices/dm-0/queue/scheduler", "[none] mq-deadline htbs\n")
    for word in ("dm-0", "dm-1"):
        assert names(host, word) == ["dm-0"]


@pytest.mark.parametrize("on_htbs", [True, False])
@pytest.mark.parametrize("claims", [True, False])
@pytest.mark.parametrize("found", [True, False])
def test_whether_a_disk_seeks_is_what_htbs_found_out(host, on_htbs, claims, found):
    scheduler = "none mq-deadline [htbs]" if on_htbs else "[none] mq-deadline htbs"
    host.disk("sdz", "65:144", scheduler)
    host.put("/sys/devices/sdz/queue/rotational", f"{claims:d}\n")
    host.put("/sys/devices/sdz/queue/iosched/seeks", f"{found:d}\n")
    assert disks.seeks(host, disks.one(host, "sdz")) == (found if on_htbs else claims)


def test_a_disk_without_a_scheduler(host):
    volume(host, "dm-1", "253:1")
    with pytest.raises(Failure, match="no I/O scheduler: name the disks below it"):
        names(host, "dm-1")
    assert [disk.name for disk in disks.every(host)] == ["sda", "sdb"]


def btrfs(host, monkeypatch, point, *members):
    """Add a file system with a device number of its own, on some disks."""
    mounts = host.read("/proc/self/mountinfo")
    root = "1 0 0:1 / / rw - btrfs /dev/root rw\n"
    line = f"2 1 0:40 / {point} rw - btrfs /dev/{members[0]} rw\n"
    host.put("/proc/self/mountinfo", root + mounts + line)
    host.put("/dev/root")
    for name in members:
        host.put(f"/dev/{name}")
        host.link(f"/sys/fs/btrfs/1/devices/{name}", f"/sys/devices/{name}")
    monkeypatch.setattr(disks, "_of_path", path_of(host, disks._of_path))


def path_of(host, real):
    """The test's files are on one file system: those in /dev count as devices here."""

    def of_path(its, path, word):
        if path.startswith("/dev/"):
            return [path.removeprefix("/dev/")]
        host.path(path).stat()
        return disks._of_mount(its, path, word)

    return of_path


def test_each_member_of_a_btrfs(host, monkeypatch):
    btrfs(host, monkeypatch, "/mnt/b", "sda", "sdb")
    host.put("/mnt/b/pg/file")
    assert names(host, "/mnt/b/pg/file") == ["sda", "sdb"]


@pytest.mark.parametrize("word", [".", "..", "./file"])
def test_a_word_from_the_current_directory(host, monkeypatch, word):
    btrfs(host, monkeypatch, "/mnt/b", "sdb")
    host.put("/mnt/b/pg/file")
    monkeypatch.setattr(Path, "cwd", lambda: Path("/mnt/b/pg"))
    assert names(host, word) == ["sdb"]


def test_a_link_and_a_blank(host, monkeypatch):
    btrfs(host, monkeypatch, r"/mnt/my\040data", "sdb")
    host.put("/mnt/my data/file")
    host.link("/var/lib/pg", "/mnt/my data")
    assert names(host, "/var/lib/pg") == names(host, "/mnt/my data/file") == ["sdb"]


def test_nvme_with_several_paths(host):
    host.disk("nvme0n1", "259:0", "none")
    host.put("/sys/devices/nvme0c0n1/size", "8\n")
    host.link("/sys/class/block/nvme0c0n1", "/sys/devices/nvme0c0n1")
    for word in ("nvme0n1", "nvme0c0n1"):
        with pytest.raises(Failure, match="NVMe multipath"):
            names(host, word)


def test_an_empty_disk_is_not_listed(host):
    host.put("/sys/devices/sda/size", "0\n")
    assert [disk.name for disk in disks.every(host)] == ["sdb"]


def test_no_disk(host):
    for word in ("sdz", "/nowhere", "9:9"):
        with pytest.raises(Failure, match="no such device or mount point: name a disk"):
            names(host, word)


def test_the_stable_name(host):
    disk = disks.one(host, "sdb")
    assert disks.stable(host, disk) == "sdb"
    # LVM's name depends on the content of the disk.
    host.link("/dev/disk/by-id/lvm-pv-uuid-1", "/sys/devices/sdb")
    assert disks.stable(host, disk) == "sdb"
    for link in ("wwn-0x5000", "scsi-DISK_1", "scsi-DISK_1-part1"):
        host.link(f"/dev/disk/by-id/{link}", "/sys/devices/sdb")
    assert disks.stable(host, disk) == "/dev/disk/by-id/scsi-DISK_1"


def test_a_slash_in_a_name(host):
    """It is ! in /sys."""
    host.disk("cciss!c0d0", "104:0")
    assert disks.one(host, "cciss!c0d0").node == "/dev/cciss/c0d0"
