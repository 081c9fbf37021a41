"""What the tests of the guide have in common: its commands, and their output in a guest."""

import json
import re
import shutil
import subprocess
from pathlib import Path

from tests import documents
from tests.packages import image
from tests.packages.guest import data_disks
from tests.vm.kernels import REPO

GUIDE = documents.scripts("docs/guide.md")
FILES = {f"{script.name}.sh": script.text.encode() for script in GUIDE}


def lay_out(release: image.Release, name: str) -> Path:
    """Return a directory with a copy of a release's disk, and the disk on which HTBS is tried."""
    subprocess.run(["make", "-s", "deb"], cwd=REPO, check=True, stdout=subprocess.DEVNULL)
    made = image.make(release)
    directory = image.BUILD / "packages" / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    subprocess.run(["cp", "--sparse=always", made / "disk.img", directory], check=True)
    data_disks(directory, "flash.img")
    return directory


def kernels(disk: Path) -> list[str]:
    """Return the releases of the kernels on a disk, oldest first."""
    names = [name for name in image.listing(disk, "/boot") if name.startswith("vmlinuz-")]
    found = [name.removeprefix("vmlinuz-") for name in names]
    return sorted(found, key=lambda kver: [int(part) for part in re.findall(r"\d+", kver)])


def steps(said: str) -> dict[str, str]:
    """Return the output of each step."""
    parts = re.split(r"(?m)^== ([\w-]+).*\n", said)
    return dict(zip(parts[1::2], parts[2::2], strict=False))


def fetch(directory: Path, which: int) -> str:
    """Copy the boot files of a kernel from the disk; return the kernel's release."""
    kver = kernels(directory / "disk.img")[which]
    for name, file in (("vmlinuz", "vmlinuz"), ("initrd", "initrd.img")):
        image.dump(directory / "disk.img", f"/boot/{file}-{kver}", directory / f"{name}-{kver}")
    return kver


def kept(text: str) -> bool:
    """Beside the backup, the database has its bandwidth and no request of it is late."""
    [line] = re.findall(r"(?m)^top: (.*)$", text)
    rows = {row["group"]: row for row in json.loads(line)}
    database = rows["/system.slice/database.service"]
    backup = rows["/system.slice/backup.service"]
    return (
        "[htbs]" in text
        and database["reserved_bw"] == 800 << 10
        and database["bw"] > 300 << 10
        and database["conforming"] > 0
        and database["late"] == 0
        and backup["bw"] > database["bw"]
    )


def check(script: documents.Script, text: str) -> None:
    """Each command succeeds; doctor finds something, check refuses, a measurement may be short."""
    code = int(text.rstrip().rpartition("rc: ")[2])
    if script.text.startswith(("htbsctl doctor", "htbsctl check")):
        assert code == 3, text
    else:
        assert code == 0 or (code == 3 and "calibrate" in script.text), text
    assert "Traceback" not in text
