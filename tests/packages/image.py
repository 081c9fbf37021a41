"""A disk with Debian, systemd and a kernel, and the packages of a later kernel to upgrade to.

build/packages/RELEASE/ has disk.img and the boot files of the kernels: vmlinuz-KVER and, for the
first kernel, initrd-KVER. It is made once; a test works on a copy.
"""

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.vm.kernels import BUILD, SetupError

_DISK_SIZE = "5G"
# The service that runs the steps once the system is up.
_UNIT = (
    r"[Unit]\nAfter=local-fs.target dbus.service\n[Service]\nType=exec\nTimeoutStopSec=5\n"
    r"ExecStartPre=/bin/tar -C /run -xf /dev/vdb\nExecStart=/bin/bash /run/guest.sh\n"
)
# The dependencies of the packages, because there is no network; the job; and what a Debian without
# an installer lacks.
_PACKAGES = (
    *("gcc", "make", "pahole", "python3", "zstd", "dkms", "openssl", "mokutil"),
    *("e2fsprogs", "fio", "prometheus-node-exporter"),
    *("dbus", "initramfs-tools", "kmod", "mount", "systemd-sysv", "udev"),
)


@dataclass(frozen=True)
class Release:
    """A release of Debian: its name, its first kernel, and the kernel to upgrade to, or "".

    The kernels are suffixes of linux-image- and linux-headers-; suite: of the second kernel, if it
    is another one; sources: a file for apt, or None for the machine's own; packages: additional
    ones; variant: distinguishes its disk from that of the release without them.
    """

    name: str
    first: str
    second: str
    sources: Path | None = None
    suite: str = ""
    packages: tuple[str, ...] = ()
    variant: str = ""

    @property
    def directory(self) -> Path:
        """The directory of its disk."""
        return BUILD / "packages" / "-".join(filter(None, (self.name, self.variant)))


# For tests/packages/test_recipes.py.
RECIPES = Release(
    "bookworm",
    "amd64",
    "",
    variant="recipes",
    packages=(
        *("podman", "crun", "busybox-static"),
        *("libvirt-daemon-system", "libvirt-clients", "qemu-system-x86", "systemd-container"),
        *("nfs-kernel-server", "nfs-common", "mdadm", "lvm2", "procps"),
    ),
)
RELEASES = (
    Release("bookworm", "amd64", "6.12-amd64"),
    Release("trixie", "amd64", "amd64", BUILD / "apt13/sources.list", "trixie-backports"),
)
# A host to which Ansible logs in, for tests/packages/test_ansible.py.
FLEET = Release(
    "bookworm",
    "amd64",
    "",
    variant="fleet",
    packages=("openssh-server", "prometheus-node-exporter", "python3-apt"),
)


def make(release: Release) -> Path:
    """Return the directory of a release's disk, which is made if it does not exist."""
    done = release.directory / "disk.img"
    if not done.exists():
        new = release.directory.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        _unpack(release, new)
        shutil.rmtree(release.directory, ignore_errors=True)
        new.replace(release.directory)
    return release.directory


def dump(disk: Path, name: str, to: Path) -> None:
    """Copy a file from a disk."""
    _run(f"debugfs -R {shlex.quote(f'dump {name} {to}')} {disk} 2>&1", f"reading {name}")


def listing(disk: Path, directory: str) -> list[str]:
    """Return the names in a directory of a disk."""
    said = _run(f"debugfs -R 'ls -p {directory}' {disk} 2>/dev/null", f"reading {directory}")
    return [line.split("/")[5] for line in said.splitlines() if line.startswith("/")]


def only_kernel(directory: Path) -> str:
    """Copy the boot files of the only kernel on a directory's disk; return its release."""
    disk = directory / "disk.img"
    [kernel] = [name for name in listing(disk, "/boot") if name.startswith("vmlinuz-")]
    kver = kernel.removeprefix("vmlinuz-")
    for name, file in (("vmlinuz", "vmlinuz"), ("initrd", "initrd.img")):
        dump(disk, f"/boot/{file}-{kver}", directory / f"{name}-{kver}")
    return kver


def _unpack(release: Release, new: Path) -> None:
    """Let mmdebstrap make a tar, and mke2fs a disk from it; fakeroot keeps the owners.

    The packages of the second kernel are put into /upgrade, as apt would download them.
    """
    suite = f"-t {release.suite} " if release.suite else ""
    wanted = f"linux-image-{release.second} linux-headers-{release.second}"
    fetch = "apt-get clean"
    if release.second:
        fetch += f" && apt-get -y {suite}--download-only install {wanted}"
    # An initramfs with most modules, compressed by zstd -19, takes half an hour on an emulated CPU.
    quick = (
        'printf "COMPRESS=gzip\\nMODULES=list\\n" >"$1/etc/initramfs-tools/conf.d/guest" && '
        'printf "virtio_pci\\nvirtio_blk\\next4\\n" >"$1/etc/initramfs-tools/modules" && '
    )
    units = "/etc/systemd/system"
    service = (
        f"printf '{_UNIT}' >\"$1{units}/htbs-guest.service\" && "
        f'mkdir -p "$1{units}/multi-user.target.wants" && '
        f'ln -s ../htbs-guest.service "$1{units}/multi-user.target.wants/" && '
        # The console is for the output of the steps.
        f'ln -s /dev/null "$1{units}/serial-getty@ttyS0.service"'
    )
    hook = (
        f'{quick}chroot "$1" sh -c "{fetch}" && '
        f'mkdir "$1/upgrade" && find "$1/var/cache/apt/archives" -name "*.deb" '
        f'-exec mv -t "$1/upgrade" {{}} + && {service}'
    )
    kernel = (f"linux-image-{release.first}", f"linux-headers-{release.first}")
    packages = ",".join([*_PACKAGES, *release.packages, *kernel])
    command = ["mmdebstrap", "--quiet", "--variant=apt", "--format=tar", f"--include={packages}"]
    command += ["--aptopt=APT::Install-Recommends \"false\"", f"--customize-hook={hook}"]
    command += [release.name, "-", *([str(release.sources)] if release.sources else _sources())]
    root = [] if os.geteuid() == 0 else ["sudo"]
    tar = new / "root.tar"
    _run(f"{shlex.join([*root, *command])} >{tar} 2>{new}/mmdebstrap.log", f"see {new}")
    inside = (
        f"mkdir {new}/root && tar -C {new}/root --exclude='./dev/*' -xf {tar} && "
        f"mke2fs -q -t ext4 -d {new}/root {new}/disk.img {_DISK_SIZE}"
    )
    _run(f"fakeroot sh -c {shlex.quote(inside)}", "making the disk")
    shutil.rmtree(new / "root")
    tar.unlink()


def _sources() -> list[str]:
    """Return the suites of this machine's release in its apt, as lines of sources.list."""
    said = _run(
        "apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 'Created-By: Packages'",
        "asking apt for its sources",
    )
    found = [line.split() for line in said.splitlines()]
    suites = sorted({tuple(words) for words in found if re.match(r"bookworm\b", words[1])})
    return [f"deb {site} {suite} {component}" for site, suite, component in suites]


def _run(command: str, doing: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"{doing} failed: {command}\n{done.stdout}{done.stderr}")
    return done.stdout
