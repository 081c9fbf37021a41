"""From the packages to a kept reservation, across a kernel upgrade and a reboot, to the removal.

The guide's commands are run as they are written there. DKMS builds the module; the upgraded kernel
boots under Secure Boot, and rejects the module without DKMS's key.
"""

import re

import pytest

from tests.packages import image
from tests.packages.guest import boot
from tests.packages.guide import FILES, GUIDE, check, fetch, kept, lay_out, steps

pytestmark = [pytest.mark.guest, pytest.mark.packages]


@pytest.fixture(scope="module", params=image.RELEASES, ids=lambda release: release.name)
def said(request):
    """The output of the steps, with the first kernel and, under Secure Boot, with the second."""
    directory = lay_out(request.param, f"{request.param.name}-run")
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


@pytest.mark.parametrize("script", GUIDE, ids=lambda script: script.name)
def test_guide(said, script):
    *_, said = said
    check(script, said[script.name])


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
    """One line gives the reason; DKMS itself reports that it failed."""
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
