"""The drop-in sysfs/htbs-reservation.conf sets the reservation of its service, and no other."""

import os
import shlex
import subprocess

import pytest

from tests.vm.kernels import REPO

DROP_IN = REPO / "sysfs/htbs-reservation.conf"
# systemctl show -P ControlGroup UNIT
SYSTEMCTL = """#!/bin/sh
[ "$4" != "$LOADED" ] || echo "/system.slice/$4"
"""


def start(host, unit, loaded):
    """Run what systemd runs before the service; return the exit code."""
    text = DROP_IN.read_text()
    [line] = [each for each in text.splitlines() if each.startswith("ExecStartPre=+")]
    words = shlex.split(line.removeprefix("ExecStartPre=+"))
    command = [
        word.replace("%n", unit).replace("$$", "$").replace("/sys/", f"{host.root}/sys/")
        for word in words
    ]
    host.put("/bin/systemctl", SYSTEMCTL)
    host.path("/bin/systemctl").chmod(0o755)
    path = f"{host.path('/bin')}:{os.environ['PATH']}"
    return subprocess.run(
        command, env={"PATH": path, "LOADED": loaded}, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize("unit", ["db.service", r"backup@srv-my\x2ddata.service"])
def test_the_service_has_it(host, unit):
    host.group(f"/system.slice/{unit}")
    assert start(host, unit, unit) == 0
    written = host.read(f"/sys/fs/cgroup/system.slice/{unit}/io.htbs")
    assert written == "8:16 bw=800K burst=64K latency=100000\n"


def test_the_root_never_has_it(host):
    """The root has no reservation even if systemctl prints no cgroup for the unit."""
    assert start(host, "db.service", "other.service") != 0
    assert host.read("/sys/fs/cgroup/io.htbs") == ""
