"""DKMS installs the module, builds it for a kernel upgrade, signs it, and removes it.

The upgraded kernel boots under Secure Boot: without DKMS's key it rejects the module.
"""

import re
import shutil

import pytest

from tests.dkms import image
from tests.dkms.guest import boot

pytestmark = [pytest.mark.guest, pytest.mark.dkms]


def kernels(disk):
    """The releases of the kernels on a disk, oldest first."""
    names = [name for name in image.listing(disk, "/boot") if name.startswith("vmlinuz-")]
    found = [name.removeprefix("vmlinuz-") for name in names]
    return sorted(found, key=lambda kver: [int(part) for part in re.findall(r"\d+", kver)])


def steps(said):
    """What each step printed."""
    parts = re.split(r"(?m)^== (\w+).*\n", said)
    return dict(zip(parts[1::2], parts[2::2], strict=False))


@pytest.fixture(scope="module", params=image.RELEASES, ids=lambda release: release.name)
def said(request, tmp_path_factory):
    """What the steps said, with the first kernel and, under Secure Boot, with the second."""
    made = image.make(request.param)
    directory = image.BUILD / "dkms" / f"{request.param.name}-run"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(made / "disk.img", directory)
    first = fetch(directory, 0)
    before = boot(directory, first, "install", "refuse", "upgrade")
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


def works(text):
    return (
        "[htbs]" in text and "I/O: done" in text and "signer: DKMS module signing key" in text
    )


def test_install(said):
    first, _, said = said
    assert re.search(rf"htbs/0.1.0, {re.escape(first)}, x86_64: installed", said["install"])
    assert works(said["install"])


def test_unsupported_kernel_is_refused(said):
    """One line says why; DKMS itself says that it failed."""
    *_, said = said
    assert "htbs: kernel 5.10.0-1-amd64: too old: HTBS needs Linux 6.1" in said["refuse"]
    assert "built" not in said["refuse"].splitlines()


def test_upgrade_builds_for_the_new_kernel(said):
    first, second, said = said
    for kver in (first, second):
        assert re.search(rf"htbs/0.1.0, {re.escape(kver)}, x86_64: installed", said["upgrade"])


def test_secure_boot_rejects_the_module_until_its_key_is_enrolled(said):
    *_, said = said
    assert "[integrity]" in said["reject"]
    assert "could not insert 'htbs': Key was rejected by service" in said["reject"]


def test_the_new_kernel_loads_it_after_a_reboot_under_secure_boot(said):
    *_, said = said
    assert "[integrity]" in said["reboot"]
    assert works(said["reboot"])


def test_removal_leaves_nothing(said):
    *_, said = said
    assert "removal: done" in said["remove"]
    assert "FATAL: Module htbs not found" in said["remove"]
    assert "still there" not in said["remove"]
    assert not re.search("(?m)^/lib/modules", said["remove"])
