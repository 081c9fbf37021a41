"""Look for what keeps reservations from working, and name each remedy."""

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from htbsctl import disks, groups, keep, service
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.host import Host, printable
from htbsctl.output import as_json
from htbsctl.store import FILE, Store

SUMMARY = "find what keeps reservations from working, with a remedy for each finding"

_EFI = Path("/sys/firmware/efi/efivars")
_SECURE_BOOT = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_DKMS_KEY = "/var/lib/dkms/mok.pub"
# For each file: whose it is, what a line in force has, and what is written to remove it.
_TRAPS = {
    "io.cost.qos": ("io.cost", r"\benable=1\b", "enable=0"),
    "io.latency": ("io.latency", r"\btarget=[1-9]", "target=0"),
}


@dataclass(frozen=True)
class Finding:
    """What was checked and, unless it is well, what to do."""

    about: str
    what: str
    remedy: str = ""

    @property
    def well(self) -> bool:
        """Return true if nothing has to be done."""
        return not self.remedy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--json", action="store_true", help="a list of findings")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print each finding; Exit.FOUND if one of them needs something done."""
    found = [finding for look in _LOOKS for finding in _safely(host, look)]
    # A failure that several checks have in common is one finding.
    findings = list(dict.fromkeys(found))
    if args.json:
        print(as_json([asdict(each) for each in findings]))
    else:
        for each in findings:
            print(f"{'ok  ' if each.well else 'BAD '} {each.about}: {each.what}")
            if not each.well:
                print(f"     -> {each.remedy}")
    return Exit.DONE if all(each.well for each in findings) else Exit.FOUND


def _safely(host: Host, look: Callable[[Host], Iterator[Finding]]) -> Iterator[Finding]:
    """A check that fails is a finding, too."""
    try:
        yield from look(host)
    except Failure as failure:
        yield Finding("doctor", failure.what, failure.remedy or "htbsctl(8) says more")


def _user(host: Host) -> Iterator[Finding]:
    if os.geteuid():
        yield Finding("user", "not root; some checks are incomplete", "run it as root")


def _module(host: Host) -> Iterator[Finding]:
    release = host.ask("uname", "-r") or "?"
    if host.exists("/sys/module/htbs"):
        version = host.read_or("/sys/module/htbs/version").strip() or "of an unknown version"
        yield Finding("module", f"htbs {version} is loaded in {release}")
        return
    file = host.ask("modinfo", "-k", release, "-F", "filename", "htbs")
    if file:
        yield Finding("module", f"{file}, not loaded; htbsctl enable loads it")
        return
    headers = host.exists(f"/lib/modules/{release}/build")
    yield Finding(
        "module",
        f"no htbs is installed for {release}",
        "dkms status says what failed; or make && make modules_install"
        if headers
        else f"apt install linux-headers-{release}, which DKMS builds with",
    )


def _kernel(host: Host) -> Iterator[Finding]:
    if host.exists("/sys/kernel/btf/vmlinux"):
        yield Finding("BTF", "the kernel has it; HTBS is built with it")
    else:
        yield Finding(
            "BTF", "the kernel has none", "use a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's are"
        )


def _signature(host: Host) -> Iterator[Finding]:
    if not _secure_boot(host):
        yield Finding("Secure Boot", "off: the module needs no signature")
        return
    signer = host.ask("modinfo", "-F", "signer", "htbs")
    if not signer:
        yield Finding(
            "Secure Boot",
            "on, and htbs is not signed: the kernel will not load it",
            "install it by DKMS, which signs it with /var/lib/dkms/mok.key",
        )
        return
    said = host.ask("mokutil", "--test-key", _DKMS_KEY)
    # It fails if the key is enrolled, and prints that.
    if said and "is not enrolled" in said and not host.exists("/sys/module/htbs"):
        yield Finding(
            "Secure Boot",
            f"on, and the key of {signer!r} is not enrolled",
            f"mokutil --import {_DKMS_KEY}, and reboot: the boot asks for the password given to"
            " mokutil",
        )
        return
    yield Finding("Secure Boot", f"on; htbs is signed by {signer!r}")


def _secure_boot(host: Host) -> bool:
    if re.search(r"\[(integrity|confidentiality)\]", host.read_or("/sys/kernel/security/lockdown")):
        return True
    try:
        return host.path(_EFI / _SECURE_BOOT).read_bytes()[4:5] == b"\1"
    except OSError:
        return False


def _cgroups(host: Host) -> Iterator[Finding]:
    top = groups.hierarchy(host)
    if "io" not in host.read(top / "cgroup.controllers").split():
        yield Finding(
            "cgroups",
            f"{top} has no io controller",
            "boot without cgroup_disable=io, with a kernel that has CONFIG_BLK_CGROUP",
        )
        return
    enabled = "io" in host.read(top / "cgroup.subtree_control").split()
    words = "enabled below the root" if enabled else "not enabled yet; htbsctl reserve enables it"
    yield Finding("cgroups", f"version 2 in {top}; io is {words}")


def _disks(host: Host) -> Iterator[Finding]:
    on_htbs = _on_htbs(host)
    if not on_htbs:
        yield Finding("disks", "none is on HTBS", "htbsctl enable DEVICE")
    for disk in on_htbs:
        needs = disks.number(host, disk.iosched / "promised_requests")
        has = disks.number(host, disk.queue / "nr_requests")
        if needs > has:
            yield Finding(
                disk.name,
                f"on HTBS; its reservations need {needs} requests, nr_requests is {has}",
                f"htbsctl enable {disk.name} --nr-requests {needs}",
            )
        else:
            yield Finding(disk.name, f"on HTBS; its reservations need {needs} of {has} requests")
        if not disks.number(host, disk.iosched / "capacity_bw"):
            yield Finding(
                disk.name,
                "capacity_bw is not set, so HTBS accepts any reservation",
                f"htbsctl calibrate {disk.name}",
            )


def _on_htbs(host: Host) -> list[Disk]:
    return [disk for disk in disks.every(host) if disks.scheduler(host, disk) == "htbs"]


def _traps(host: Host) -> Iterator[Finding]:
    """Find what else limits or reorders the I/O of disks on HTBS unnoticed."""
    on_htbs = {disk.number: disk.name for disk in _on_htbs(host)}
    for name, (what, set_by, none) in _TRAPS.items():
        for group in groups.Group.every(host, name):
            where = printable(str(group.directory / name))
            for line in host.read_or(group.directory / name).splitlines():
                number = line.partition(" ")[0]
                if number in on_htbs and re.search(set_by, line):
                    yield Finding(
                        what,
                        f"{where} is in force on {on_htbs[number]}: it throttles requests before"
                        " they reach HTBS",
                        f"echo '{number} {none}' > {shlex.quote(where)}; the unit or the program"
                        " that set it may set it again",
                    )


def _kept(host: Host) -> Iterator[Finding]:
    kept = Store(host)
    count = f"{len(kept.devices())} devices and {len(kept.reservations())} reservations"
    for word in kept.devices():
        try:
            found = disks.resolve(host, word)
        except Failure:
            remedy = f"htbsctl disable, or correct {FILE}"
            yield Finding(str(FILE), f"{word} does not exist", remedy)
            continue
        for disk in found:
            if (on := disks.scheduler(host, disk)) != "htbs":
                yield Finding(
                    disk.name,
                    f"{FILE} keeps it on HTBS, but it is on {on}",
                    "htbsctl apply puts it back, or says why it cannot",
                )
    for lines in keep.contradictions(host, kept):
        yield Finding(
            str(FILE),
            f"{' and '.join(map(repr, lines))} set different values for the same thing",
            f"delete one of them in {FILE}: each apply writes both",
        )
    state = host.ask("systemctl", "show", "-P", "ActiveState", service.NAME)
    if (kept.devices() or kept.reservations()) and state != "active":
        yield Finding(
            service.NAME,
            f"not running: {count} in {FILE} are not applied",
            f"systemctl enable --now {service.NAME}",
        )
    else:
        yield Finding(str(FILE), f"keeps {count}")


_LOOKS = (_user, _kernel, _module, _signature, _cgroups, _disks, _traps, _kept)
