"""The kernel accepts what calibrate proposes; calibrate ends when it is told to."""

import os
import sys
import time
from pathlib import Path

import pytest

from htbsctl.__main__ import main
from htbsctl.commands import calibrate


@pytest.fixture
def measured(host, capsys, monkeypatch):
    """Return what calibrate prints for a disk with a longest time of a 4 KiB request, us."""

    def run(disk, longest):
        found = calibrate.Measured(1000, 10_000, 20_000, longest)
        monkeypatch.setattr(calibrate, "_fio", lambda *_: found)
        host.put(f"/sys/block/{disk}/stat", "0 0 0 0 0 0 0 0 0 0 0\n")
        assert main(["calibrate", disk, "--seconds", "1"], host) == 0
        return capsys.readouterr().out

    return run


# Prints when it runs and when it is told to end; ends by itself after half a minute.
FIO = """#!/bin/sh
trap 'echo told >"$0.end"; exit' TERM
echo >"$0.runs"
n=0
while [ $((n += 1)) -lt 300 ]; do sleep 0.1; done
"""


def test_fio_ends_with_it(host, tmp_path, monkeypatch):
    """A signal ends htbsctl by SystemExit, and Popen then waits for fio."""
    program = tmp_path / "setpriv"
    for name in ("fio", "setpriv"):
        (tmp_path / name).write_text(FIO)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    host.put("/sys/block/sdb/stat", "0 0 0 0 0 0 0 0 0 0 0\n")

    def ended(*_):
        yield
        while not Path(f"{program}.runs").exists():
            time.sleep(0.01)
        sys.exit(143)

    monkeypatch.setattr(calibrate, "countdown", ended)
    with pytest.raises(SystemExit):
        main(["calibrate", "sdb", "--seconds", "30"], host)
    assert Path(f"{program}.end").read_text() == "told\n"


@pytest.mark.parametrize("disk", ["sda", "sdb"])
@pytest.mark.parametrize(
    ("longest", "less"),
    [
        (1_900, ""),
        (29_000, " --default-bw 65536 --default-burst 65536"),
        (100_000, " --default-bw 4096 --default-burst 4096"),
    ],
)
def test_the_default_reservation_is_to_fit(measured, disk, longest, less):
    """This holds whether or not the disk is on HTBS."""
    capacity = round(4096e6 / longest)
    last = measured(disk, longest).splitlines()[-1]
    line = f"    htbsctl enable {disk} --capacity-bw {capacity} --capacity-request 4096"
    assert last == line + less


def test_reservations_that_do_not_fit_are_reported(host, measured):
    host.group("/app", "8:16 bw=4194304 burst=65536 latency=50000\n")
    text = measured("sdb", 29_000)
    last = "the kernel refuses it while more is reserved: htbsctl check sdb --capacity 141241"
    assert "--default-bw" not in text
    assert text.splitlines()[-1] == last


def test_a_root_with_a_reservation_has_no_default_one(host, measured):
    host.group("/", "8:16 bw=65536 burst=65536 latency=1000000\n")
    assert measured("sdb", 29_000).endswith(" --capacity-request 4096\n")
