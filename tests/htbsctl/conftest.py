"""A host that consists of files."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from htbsctl.host import Host

CGROUP2 = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"


class Fake(Host):
    """A host on which a program prints the text that `answers` has for its command line."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.answers: dict[str, str] = {}
        self.commands: list[str] = []
        self.patience: dict[str, float] = {}
        self.refuses: set[str] = set()

    def run(self, command, patience=0):
        """Return an answer, or that the program is not found; note the patience."""
        line = " ".join(command)
        self.commands.append(line)
        self.patience[line] = patience
        if line not in self.answers:
            return subprocess.CompletedProcess(command, 1, "", f"{command[0]}: unknown\n")
        return subprocess.CompletedProcess(command, 0, self.answers[line], "")

    def _put(self, name, text, how, remedies):
        """Write as the kernel would, which refuses what is in `refuses`."""
        if f"{name} {text}" in self.refuses:
            raise self.failure("write", name, OSError(errno.EINVAL, ""), text, remedies)
        super()._put(name, text, how, remedies)

    def put(self, name: str, text: str = "") -> None:
        """Write a file, and create the directories above it."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, errors="surrogateescape")

    def disk(self, name: str, number: str, scheduler: str = "none mq-deadline [htbs]") -> None:
        """Add a disk to sysfs, with the tunables of HTBS if it is on HTBS."""
        for file, text in {
            "dev": number,
            "size": "2048",
            "queue/scheduler": scheduler,
            "queue/nr_requests": "64",
            "queue/max_sectors_kb": "1280",
            "queue/rotational": "1",
        }.items():
            self.put(f"/sys/devices/{name}/{file}", f"{text}\n")
        if "[htbs]" in scheduler:
            for file, text in {
                "capacity_bw": "0",
                "capacity_request": "4096",
                "promised_bw": "1048576",
                "promised_requests": "0",
                "default_bw": "1048576",
                "default_burst": "1048576",
                "default_latency_us": "1000000",
                "late_one_in": "1000",
                "late_one_in_writes": "100",
                "seeks": "1",
            }.items():
                self.put(f"/sys/devices/{name}/queue/iosched/{file}", f"{text}\n")
        for link in (f"/sys/block/{name}", f"/sys/class/block/{name}", f"/sys/dev/block/{number}"):
            self.link(link, f"/sys/devices/{name}")

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link to a file of this host."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self.path(target))

    def group(self, name: str, reservation: str = "") -> None:
        """Add a cgroup with the io controller."""
        self.put(f"/sys/fs/cgroup{name}/cgroup.procs")
        self.put(f"/sys/fs/cgroup{name}/io.htbs", reservation)
        self.put(f"/sys/fs/cgroup{name}/cgroup.subtree_control", "io\n")
        self.put(f"/sys/fs/cgroup{name}/cgroup.controllers", "io memory\n")


@pytest.fixture
def host(tmp_path: Path) -> Fake:
    """A disk on HTBS, sdb, another one, sda, and a group."""
    fake = Fake(tmp_path)
    fake.put("/proc/self/mountinfo", CGROUP2)
    fake.disk("sda", "8:0", "none [mq-deadline] htbs")
    fake.disk("sdb", "8:16")
    fake.group("/")
    fake.group("/app")
    return fake


@pytest.fixture
def app_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cgroup app is found, but is gone when its directory is read."""
    real = os.scandir

    def scandir(path: str | Path) -> object:
        if str(path).endswith("/app"):
            raise FileNotFoundError(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
