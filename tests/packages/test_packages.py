"""From the packages to a reservation that is kept, over a kernel upgrade, a reboot, to the removal.

The guide's commands are given as they stand there. DKMS builds the module; the upgraded kernel
boots under Secure Boot, and rejects the module without DKMS's key.
"""

import json
import re
import shutil
import subprocess

import pytest

from tests import documents
from tests.packages import image
from tests.packages.guest import boot, data_disks
from tests.vm.kernels import REPO

pytestmark = [pytest.mark.guest, pytest.mark.packages]

GUIDE = documents.scripts("docs/guide.md")
FILES = {f"{script.name}.sh": script.text.encode() for script in GUIDE}


def kernels(disk):
    """The releases of the kernels on a disk, oldest first."""
    names = [name for name in image.listing(disk, "/boot") if name.startswith("vmlinuz-")]
    found = [name.removeprefix("vmlinuz-") for name in names]
    return sorted(found, key=lambda kver: [int(part) for part in re.findall(r"\d+", kver)])


def steps(said):
    """What each step printed."""
    parts = re.split(r"(?m)^== ([\w-]+).*\n", said)
    return dict(zip(parts[1::2], parts[2::2], strict=False))


@pytest.fixture(scope="module", params=image.RELEASES, ids=lambda release: release.name)
def said(request, tmp_path_factory):
    """What the steps said, with the first kernel and, under Secure Boot, with the second."""
    subprocess.run(["make", "-s", "deb"], cwd=REPO, check=True, stdout=subprocess.DEVNULL)
    made = image.make(request.param)
    directory = image.BUILD / "packages" / f"{request.param.name}-run"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(made / "disk.img", directory)
    data_disks(directory, "flash.img")
    first = fetch(directory, 0)
    todo = ("prepare", "guide", "installed", "show", "metrics", "refuse", "upgrade")
    before = boot(directory, first, *todo, files=FILES)
    second = fetch(directory, 1)
    assert second != first
    rejected = boot(directory, second, "reject", secure=True)
    key = directory / "mok.pub"
    image.dump(directory / "disk.img", "/var/lib/dkms/mok.pub", key)
    after = boot(directory, second, "reboot", "remove", secure=True, key=key)
    return first, second, steps(before) | steps(rejected) | steps(after)


def fetch(directory, which):
    """Take what QEMU boots of a kernel out of the disk; its release."""
    kver = kernels(directory / "disk.img")[which]
    for name, file in (("vmlinuz", "vmlinuz"), ("initrd", "initrd.img")):
        image.dump(directory / "disk.img", f"/boot/{file}-{kver}", directory / f"{name}-{kver}")
    return kver


def kept(text):
    """The database has its bandwidth, and none of its requests was late, beside the backup."""
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


@pytest.mark.parametrize("script", GUIDE, ids=lambda script: script.name)
def test_guide(said, script):
    """Each command succeeds; doctor finds something, check refuses, a short measurement may."""
    *_, said = said
    text = said[script.name]
    code = int(text.rstrip().rpartition("rc: ")[2])
    if script.text.startswith(("htbsctl doctor", "htbsctl check")):
        assert code == 3, text
    else:
        assert code == 0 or (code == 3 and "calibrate" in script.text), text
    assert "Traceback" not in text


def test_install_builds_and_signs_the_module(said):
    first, _, said = said
    assert re.search(rf"htbs/[0-9.]+, {re.escape(first)}, x86_64: installed", said["installed"])
    assert "signer: DKMS module signing key" in said["installed"]


def test_the_guide_ends_with_a_reservation_that_is_kept(said):
    *_, said = said
    assert "Active: active (running)" in said["show"]
    assert kept(said["show"])


def test_node_exporter_shows_the_counters(said):
    *_, said = said
    assert re.search(r'htbs_conforming\w*\{.*database.service.*\} [1-9]', said["metrics"])


def test_unsupported_kernel_is_refused(said):
    """One line says why; DKMS itself says that it failed."""
    *_, said = said
    assert "htbs: kernel 5.10.0-1-amd64: too old: HTBS needs Linux 6.1" in said["refuse"]
    assert "built" not in said["refuse"].splitlines()


def test_upgrade_builds_for_the_new_kernel(said):
    first, second, said = said
    for kver in (first, second):
        assert re.search(rf"htbs/[0-9.]+, {re.escape(kver)}, x86_64: installed", said["upgrade"])


def test_secure_boot_rejects_the_module_until_its_key_is_enrolled(said):
    *_, said = said
    assert "[integrity]" in said["reject"]
    assert "could not insert 'htbs': Key was rejected by service" in said["reject"]
    assert "mokutil --import /var/lib/dkms/mok.pub" in said["reject"]


def test_the_reservation_is_kept_after_a_reboot_under_secure_boot(said):
    *_, said = said
    assert "[integrity]" in said["reboot"]
    assert "signer: DKMS module signing key" in said["reboot"]
    assert kept(said["reboot"])


def test_removal_leaves_nothing(said):
    *_, said = said
    assert "FATAL: Module htbs not found" in said["remove"]
    assert "still there" not in said["remove"]
    assert sorted(re.findall("(?m)^/.*htbs.*$", said["remove"])) == [
        "/etc/systemd/system/htbs-guest.service",
        "/etc/systemd/system/multi-user.target.wants/htbs-guest.service",
    ]
