"""The kept state is applied to what exists, and to nothing else."""

import pytest

from htbsctl import disks, keep
from htbsctl.store import FILE, Store

CONF = """device sda nr_requests=128
device sdz
reserve app sdb bw=4M burst=64K latency=50ms
reserve nogroup sdb bw=4M
"""


@pytest.fixture
def kept(host):
    host.put(str(FILE), CONF)
    host.put("/sys/devices/sda/queue/iosched/capacity_bw", "0\n")
    return host


def test_disks_and_groups_that_exist_are_changed(kept):
    said = list(keep.apply(kept, Store(kept)))
    assert said == [
        "sda: htbs",
        "/sys/fs/cgroup/app: bw 4 MiB/s, burst 64 KiB, latency 50 ms on sdb",
    ]
    assert kept.read("/sys/block/sda/queue/scheduler") == "htbs\n"
    assert kept.read("/sys/block/sda/queue/nr_requests") == "128\n"
    assert kept.read("/sys/fs/cgroup/app/io.htbs") == (
        "8:16 bw=4194304 max=max iops=max weight=default burst=65536 latency=50000\n"
    )


def test_state_that_is_already_right_is_left(kept):
    kept.disk("sdc", "8:32")
    kept.put(str(FILE), "device sdc nr_requests=64\nreserve app sdb bw=4M latency=50ms burst=64K\n")
    kept.group("/app", "8:16 bw=4194304 burst=65536 latency=50000\n")
    assert list(keep.apply(kept, Store(kept))) == []


def test_one_that_fails_does_not_keep_the_others_back(kept):
    kept.path("/sys/fs/cgroup/app/io.htbs").unlink()
    kept.group("/other")
    kept.put(str(FILE), CONF + "reserve other sdb bw=8M\n")
    said = list(keep.apply(kept, Store(kept)))
    assert said[1].startswith("failed: no io.htbs in /sys/fs/cgroup/app: load the module")
    assert said[2].startswith("/sys/fs/cgroup/other: bw 8 MiB/s")


def test_a_pattern_does_not_keep_the_others_back(kept):
    unit = "db@*.service"
    command = f"systemctl show --property=LoadState,ActiveState,ControlGroup {unit}"
    kept.answers[command] = "LoadState=loaded\n\nLoadState=loaded\n"
    kept.put(str(FILE), f"reserve {unit} sdb bw=4M\nreserve app sdb bw=8M\n")
    said = list(keep.apply(kept, Store(kept)))
    assert said == ["/sys/fs/cgroup/app: bw 8 MiB/s on sdb"]


def test_words_that_mean_no_group_do_not_keep_the_others_back(kept):
    """A word that may mean a group later is not reported; one that never can is."""
    kept.answers["podman inspect --type container web"] = '[{"Name": "web"}]'
    bad = "".join(f"reserve {word} sdb bw=4M\n" for word in ("''", "x\0y", "x" * 300, "web"))
    kept.put(str(FILE), f"{bad}reserve app sdb bw=8M\n")
    said = list(keep.apply(kept, Store(kept)))
    assert said == [
        *(f"failed: {word} is not a target: name a cgroup, unit, container or virtual machine"
          for word in ("''", r"'x\x00y'")),
        "/sys/fs/cgroup/app: bw 8 MiB/s on sdb",
    ]


def test_a_disk_that_goes_away_does_not_keep_the_others_back(kept, monkeypatch):
    """It was found, but its scheduler cannot be read."""
    kept.put(str(FILE), "reserve app sda bw=4M\nreserve app sdb bw=8M\n")
    found = disks.resolve(kept, "sda")
    kept.path("/sys/block/sda/queue/scheduler").unlink()
    there = keep.there
    monkeypatch.setattr(keep, "there", lambda *args: found if args[1] == "sda" else there(*args))
    said = list(keep.apply(kept, Store(kept)))
    assert said[0].startswith("failed: ")
    assert said[1:] == ["/sys/fs/cgroup/app: bw 8 MiB/s on sdb"]
