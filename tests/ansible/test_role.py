"""Which commands of htbsctl the role runs, and when: on a host of files."""

import json
import shlex
import sys

import pytest

from htbsctl.__main__ import main
from htbsctl.store import FILE, Store
from tests.ansible.host import make
from tests.vm.kernels import REPO

DATABASE = {
    "target": "/database",
    "device": "sda",
    "bw": "4M",
    "burst": "64K",
    "latency": "50ms",
    "weight": 7,
}
BACKUP = {"target": "/backup", "device": "sda", "iops": 50, "burst": "64K", "latency": "1s"}
DISKS = [{"device": "sda", "nr_requests": 128}]
MEASURED = {
    "capacity_bw": 8 << 20,
    "capacity_request": 4096,
    "implausible": ["1 us on average is too fast for flash: the reads were served from a cache"],
}


@pytest.fixture
def host(tmp_path):
    """A host of files with a script htbsctl, whose measurements are in measured.json."""
    root = tmp_path / "root"
    root.mkdir()
    program = tmp_path / "htbsctl"
    command = shlex.join([sys.executable, "-m", "tests.ansible.host", str(root)])
    program.write_text(
        f"#!/bin/sh\necho \"$@\" >>{tmp_path}/commands\n"
        f'if [ "$1" = calibrate ]; then cat {tmp_path}/measured.json; exit 3; fi\n'
        f'cd {REPO}; PYTHONPATH={REPO}:{REPO}/scripts exec {command} "$@"\n'
    )
    program.chmod(0o755)
    return make(root)


@pytest.fixture
def apply(host, play, tmp_path):
    """Run the role with some variables."""

    def run(*words, reservations=(), **variables):
        (tmp_path / "commands").write_text("")
        variables |= {
            "htbs_htbsctl": str(tmp_path / "htbsctl"),
            "htbs_disks": variables.get("htbs_disks", DISKS),
            "htbs_reservations": list(reservations),
            "ansible_python_interpreter": sys.executable,
        }
        return play(
            REPO / "tests/ansible/role.yml", {"all": {"hosts": {"it": {}}}}, *words,
            *("-e", json.dumps(variables)),
        )

    return run


def commands(tmp_path):
    """Return the commands that were run, without their arguments."""
    return [line.split()[0] for line in (tmp_path / "commands").read_text().splitlines()]


def in_force(host, group):
    return host.read(f"/sys/fs/cgroup/{group}/io.htbs")


@pytest.fixture
def reserved(host):
    """The host with both reservations; its disk was measured, or the capacity is given."""
    before(host, "enable", "sda", "--nr-requests=128", "--capacity-bw=2000000000")
    words = "--bw=4M", "--burst=64K", "--latency=50ms", "--weight=7"
    before(host, "reserve", "/database", "sda", *words)
    before(host, "reserve", "/backup", "sda", "--iops=50", "--burst=64K", "--latency=1s")
    return host


def before(host, *words):
    assert main(list(words), host) == 0


def test_state_that_is_right_is_left(host, apply, tmp_path):
    done = apply(reservations=[DATABASE, BACKUP])
    assert (done.code, done.recap("changed")) == (0, 2), done.text
    assert in_force(host, "database") == "8:0 bw=4194304 burst=65536 latency=50000 weight=7\n"
    assert in_force(host, "backup") == "8:0 burst=65536 latency=1000000 iops=50\n"
    assert host.read("/sys/block/sda/queue/nr_requests") == "128\n"
    # The same reservation in other words.
    done = apply(reservations=[DATABASE | {"bw": "4096K"}, BACKUP])
    assert (done.code, done.recap("changed")) == (0, 0), done.text
    assert commands(tmp_path) == ["enable", "reserve", "reserve", "apply"]


def test_keys_that_are_gone_are_taken_back(reserved, apply):
    bare = {key: value for key, value in DATABASE.items() if key != "weight"}
    done = apply(reservations=[bare, BACKUP])
    assert (done.code, done.recap("changed")) == (0, 1), done.text
    assert in_force(reserved, "database") == "8:0 bw=4194304 burst=65536 latency=50000\n"


def test_a_reservation_that_is_gone_is_released_first(reserved, apply, tmp_path):
    done = apply(reservations=[BACKUP | {"iops": 60}])
    assert (done.code, done.recap("changed")) == (0, 2), done.text
    assert in_force(reserved, "database") == ""
    assert set(Store(reserved).reservations()) == {("/sys/fs/cgroup/backup", "sda")}
    assert commands(tmp_path) == ["enable", "reserve", "apply", "release", "reserve"]


def test_a_reservation_of_a_disk_that_left_is_released(reserved, apply):
    """The kernel stores it meanwhile; release reports that by its exit code."""
    before(reserved, "disable", "sda")
    done = apply(htbs_disks=[], reservations=[])
    assert done.code == 0, done.text
    assert Store(reserved).reservations() == {}


def test_a_hosts_reservation_replaces_that_of_its_groups(reserved, apply):
    own = DATABASE | {"bw": "8M"}
    done = apply(reservations=[DATABASE, BACKUP], htbs_host_reservations=[own])
    assert (done.code, done.recap("changed")) == (0, 1), done.text
    assert in_force(reserved, "database").startswith("8:0 bw=8388608 ")


def test_a_refused_reservation_fails_the_host(reserved, apply):
    kept = reserved.read(FILE)
    done = apply(reservations=[DATABASE | {"bw": "2G"}, BACKUP])
    assert done.code == 2, done.text
    assert "ENOSPC: the disk cannot keep it beside the others: htbsctl check" in done.text
    assert in_force(reserved, "database").startswith("8:0 bw=4194304 ")
    assert reserved.read(FILE) == kept


def test_nothing_changes_if_a_reservation_cannot_be_parsed(reserved, apply, tmp_path):
    done = apply(reservations=[BACKUP | {"iops": 60}, DATABASE | {"latency": "50"}])
    assert done.code == 2, done.text
    assert "write it with its unit, as in 10ms" in done.text
    assert commands(tmp_path) == ["enable", "reserve", "reserve"]
    assert " iops=50\n" in in_force(reserved, "backup")


def test_a_disk_that_is_refused_fails_the_host(apply):
    done = apply(htbs_disks=[{"device": "sdz"}])
    assert done.code == 2, done.text
    assert "sdz: no such device or mount point: name a disk as lsblk does" in done.text


def test_secure_boot_without_the_key_stops_it_before_a_disk(host, apply, tmp_path):
    host.put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n")
    done = apply(htbs_doctor=True)
    assert done.code == 2, done.text
    assert "Secure Boot: on, and the key of 'DKMS module signing key' is not enrolled" in done.text
    assert "mokutil --import /var/lib/dkms/mok.pub, and reboot" in done.text
    assert commands(tmp_path) == ["doctor"]


def test_findings_of_doctor_about_disks_stop_nothing(host, apply, tmp_path):
    done = apply(htbs_doctor=True)
    assert done.code == 0, done.text
    assert commands(tmp_path) == ["doctor", "enable", "apply"]


def test_check_mode_says_what_would_change(reserved, apply):
    kept = reserved.read(FILE), in_force(reserved, "database")
    done = apply("--check", reservations=[DATABASE | {"bw": "8M"}])
    assert (done.code, done.recap("changed")) == (0, 2), done.text
    assert (reserved.read(FILE), in_force(reserved, "database")) == kept


def test_check_mode_knows_that_a_disk_would_be_on_htbs(host, apply, tmp_path):
    done = apply("--check", reservations=[DATABASE], htbs_calibrate=True)
    assert (done.code, done.recap("changed")) == (0, 3), done.text
    assert host.read("/sys/block/sda/queue/scheduler") == "none [mq-deadline] htbs\n"
    assert not host.exists(FILE)
    assert "calibrate" not in commands(tmp_path)


def test_a_disk_is_measured_once(host, apply, tmp_path):
    (tmp_path / "measured.json").write_text(json.dumps(MEASURED))
    done = apply(htbs_calibrate=True, htbs_calibrate_implausible=True)
    assert (done.code, done.recap("changed")) == (0, 2), done.text
    assert Store(host).devices()["sda"]["capacity_bw"] == str(MEASURED["capacity_bw"])
    done = apply(htbs_calibrate=True)
    assert (done.code, done.recap("changed")) == (0, 0), done.text
    assert "calibrate" not in commands(tmp_path)


def test_an_implausible_capacity_is_not_set_by_itself(host, apply, tmp_path):
    (tmp_path / "measured.json").write_text(json.dumps(MEASURED))
    done = apply(htbs_calibrate=True)
    assert done.code == 2, done.text
    cached = "the reads were served from a cache; to accept it, set htbs_calibrate_implausible"
    assert cached in done.text
    assert "capacity_bw" not in Store(host).devices()["sda"]
