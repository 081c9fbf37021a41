"""The Ansible role on a host: it installs, measures, reserves and releases, and changes no more.

One guest stays up. Its playbook is run from here by ssh, with other variables each time.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ansible.playbook import ansible
from tests.packages import image
from tests.packages.guest import up
from tests.packages.test_packages import fetch
from tests.vm.guest import GuestError
from tests.vm.kernels import REPO

pytestmark = [pytest.mark.guest, pytest.mark.packages]
HERE = Path(__file__).parent
COUNTERS = "/var/lib/prometheus/node-exporter/htbs.prom"
# The smallest rate: an emulated disk may take a third of a second for a request.
DATABASE = {
    "target": "database.service",
    "device": "/srv/data",
    "bw": "4K",
    "burst": "16K",
    "latency": "20s",
}
LARGEST = DATABASE | {"target": "backup.service", "bw": "1G"}
UNKNOWN = DATABASE | {"target": "no.service"}
BACKUP = DATABASE | {"target": "backup.service", "max": "10M"}
DISK = {
    "device": "/srv/data",
    "nr_requests": 128,
    "default_bw": 4096,
    "default_burst": 4096,
    "default_latency_us": 20_000_000,
}
VARIABLES = {
    # The guest reaches no archive; all packages that apt needs are there.
    "htbs_update_cache": False,
    "htbs_node_exporter": True,
    "htbs_disks": [DISK],
    "htbs_reservations": [DATABASE, BACKUP],
}
# Its measured capacity is implausible.
CALIBRATE = {
    "htbs_calibrate": True,
    "htbs_calibrate_seconds": 3,
    "htbs_calibrate_implausible": True,
}
# From here on its capacity is given.
GIVEN = {"htbs_disks": [DISK | {"capacity_bw": 1 << 20, "capacity_request": 4096}]}


@dataclass(frozen=True)
class State:
    """What is in force on the host, and what is kept there."""

    database: str
    backup: str
    conf: str
    counters: str
    devices: list[dict]


@dataclass(frozen=True)
class Play:
    """A run of the playbook: its output, by its recap, and the host's state afterwards."""

    text: str
    code: int
    state: State | None

    def recap(self, word: str) -> int:
        """Return a number of the recap."""
        return int(re.findall(rf"\b{word}=(\d+)", self.text)[-1])


class Host:
    """The guest: the address and the key for ssh."""

    def __init__(self, directory: Path, port: int, sockets: str) -> None:
        self.directory, self.port, self.key = directory, port, directory / "key"
        options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
        self.ssh = [word for option in options for word in ("-o", option)]
        self.sockets = sockets

    def run(self, command: str) -> str:
        """Return the output of a command on the host."""
        words = ["ssh", "-p", str(self.port), "-i", self.key, *self.ssh, "root@127.0.0.1", command]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise GuestError(f"{command}: {done.stderr}")
        return done.stdout

    def play(self, *words: str, **variables: object) -> Play:
        """Run site.yml with other variables."""
        inventory = self.directory / "inventory.json"
        access = {
            "ansible_host": "127.0.0.1",
            "ansible_port": self.port,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.key),
            "ansible_ssh_common_args": " ".join(self.ssh),
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        hosts = {"hosts": {"guest": access}, "vars": VARIABLES | variables}
        inventory.write_text(json.dumps({"storage": hosts}))
        command = [sys.executable, "-m", "ansible", "playbook", "-i", inventory, *words]
        environment = os.environ | {
            "ANSIBLE_HOME": str(self.directory / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": self.sockets,
            "ANSIBLE_TIMEOUT": "60",
            "LC_ALL": "C.UTF-8",
        }
        done = ansible([*command, REPO / "ansible/site.yml"], environment)
        with (self.directory / "ansible.log").open("a") as log:
            log.write(f"{words} {variables}\n{done.stdout}\n")
        return Play(done.stdout, done.returncode, self.state())

    def state(self) -> State | None:
        """Return the host's state; None while the packages are not installed."""
        if self.run("command -v htbsctl || true") == "":
            return None
        slices = "/sys/fs/cgroup/system.slice"
        groups = [
            self.run(f"cat {slices}/{name}.service/io.htbs 2>/dev/null || true")
            for name in ("database", "backup")
        ]
        conf = self.run("cat /etc/htbs/htbs.conf || true")
        counters = self.run(f"ls {COUNTERS} 2>/dev/null || true").strip()
        devices = json.loads(self.run("htbsctl status --json"))["devices"]
        return State(*groups, conf, counters, devices)


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    """Each run of the playbook, by its name, and finally the output of node_exporter."""
    subprocess.run(["make", "-s", "deb"], cwd=REPO, check=True, stdout=subprocess.DEVNULL)
    made = image.make(image.FLEET)
    directory = image.BUILD / "packages/fleet-run"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(made / "disk.img", directory)
    key = directory / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    files = {
        "steps-fleet.sh": (HERE / "fleet.sh").read_bytes(),
        "key.pub": key.with_suffix(".pub").read_bytes(),
    }
    port = free_port()
    kver = fetch(directory, 0)
    with (
        tempfile.TemporaryDirectory() as sockets,
        up(directory, kver, "fleet", "listen", files=files, ports={port: 22}),
    ):
        host = Host(directory, port, sockets)
        larger = DATABASE | {"bw": "16K", "burst": "20K"}
        return {
            "check": host.play("--check"),
            "first": host.play(**CALIBRATE),
            "second": host.play(**CALIBRATE),
            "check changed": host.play("--check", htbs_reservations=[larger]),
            "changed": host.play(**GIVEN, htbs_host_reservations=[larger]),
            "removed": host.play(**GIVEN, htbs_reservations=[larger]),
            "refused": host.play(**GIVEN, htbs_reservations=[larger, LARGEST]),
            "unknown": host.play(**GIVEN, htbs_reservations=[larger, UNKNOWN]),
            "metrics": host.run(
                "systemctl is-active htbs-metrics.timer; systemctl start htbs-metrics.service;"
                "python3 -c 'import urllib.request as u;"
                'print(u.urlopen("http://127.0.0.1:9100/metrics").read().decode())\''
            ),
        }


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens."""
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


def test_check_mode_changes_nothing_on_a_new_host(plays):
    play = plays["check"]
    assert play.code == 0, play.text
    assert play.recap("changed") > 0
    assert play.state is None


def test_the_first_run_installs_measures_and_reserves(plays):
    play = plays["first"]
    assert play.code == 0, play.text
    assert play.recap("changed") > 0
    assert re.fullmatch(r"\S+ bw=4096 burst=16384 latency=20000000.*\n", play.state.database)
    assert re.search(r"^\S+ bw=4096 .*\bmax=10485760\b", play.state.backup)
    [disk] = [each for each in play.state.devices if each["scheduler"] == "htbs"]
    assert disk["nr_requests"] == 128
    assert disk["capacity_bw"] > 0
    assert f"capacity_bw={disk['capacity_bw']}" in play.state.conf
    assert play.state.counters == COUNTERS


def test_the_second_run_changes_nothing(plays):
    play = plays["second"]
    assert play.code == 0, play.text
    assert play.recap("changed") == 0, play.text
    assert play.state == plays["first"].state


def test_check_mode_says_what_would_change(plays):
    play = plays["check changed"]
    assert play.code == 0, play.text
    # One is replaced, one is released.
    assert play.recap("changed") == 2, play.text
    assert play.state == plays["second"].state


def test_a_hosts_reservation_replaces_that_of_the_group(plays):
    play = plays["changed"]
    assert play.code == 0, play.text
    # The disk's capacity, and the reservation.
    assert play.recap("changed") == 2, play.text
    assert " bw=16384 burst=20480 " in play.state.database
    assert play.state.backup == plays["first"].state.backup


def test_reservations_no_longer_wanted_are_released(plays):
    play = plays["removed"]
    assert play.code == 0, play.text
    assert play.recap("changed") == 1, play.text
    assert play.state.database == plays["changed"].state.database
    assert " max=10485760" not in play.state.backup
    assert "backup.service" not in play.state.conf


def test_a_refused_reservation_fails_the_host(plays):
    play = plays["refused"]
    assert play.code != 0
    assert play.recap("failed") == 1
    assert "ENOSPC: the disk cannot keep it beside the others: htbsctl check" in play.text
    assert play.state == plays["removed"].state


def test_nothing_changes_if_a_reservation_cannot_be_parsed(plays):
    play = plays["unknown"]
    assert play.code != 0
    assert "systemd knows no no.service: systemctl list-units lists all units" in play.text
    assert play.state == plays["removed"].state


def test_node_exporter_serves_the_counters(plays):
    assert plays["metrics"].startswith("active\n")
    labels = re.search(r"htbs_reserved_bytes_per_second\{(.*)\} 16384", plays["metrics"])
    assert labels
    assert 'group="/system.slice/database.service"' in labels[1]
