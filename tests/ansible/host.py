"""htbsctl on a host of files: python -m tests.ansible.host ROOT COMMAND...

The module simulates the kernel: a write to io.htbs replaces the keys that it names, or is refused
if it exceeds what the disk can do.
"""

import errno
import sys
from pathlib import Path

from htbsctl.__main__ import main
from htbsctl.reservation import Reservation, parse
from tests.htbsctl.conftest import CGROUP2, Fake

_BW_MAX = 1 << 30
_TAKEN_BACK = ("max", "default")
_KEY = "/var/lib/dkms/mok.pub"
# The module is built and signed with a key that is not enrolled.
_ANSWERS = {
    "uname -r": "6.1",
    "modinfo -k 6.1 -F filename htbs": "/lib/modules/6.1/updates/dkms/htbs.ko",
    "modinfo -F signer htbs": "DKMS module signing key",
    f"mokutil --test-key {_KEY}": f"{_KEY} is not enrolled",
}


class Kernel(Fake):
    """Disks and groups in a directory."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.answers |= _ANSWERS

    def _put(self, name, text, how, remedies):
        path = self.path(name)
        if path.name == "scheduler":
            text = f"none mq-deadline [{text}]"
        if path.name == "io.htbs":
            text = self._after(name, text, remedies)
        path.write_text(f"{text}\n" if text else "")

    def _after(self, name, text, remedies):
        """Return what io.htbs has after a write; there is one disk."""
        number, *words = text.split()
        if words == ["none"]:
            return ""
        before = [line.reservation for line in parse(self.read(name))]
        pairs = [word.split("=") for word in words]
        keys = {key: 0 if value in _TAKEN_BACK else int(value) for key, value in pairs}
        after = (before or [Reservation(burst=1 << 20, latency=10**6)])[0].merged(keys)
        if after.bw > _BW_MAX:
            raise self.failure("write", name, OSError(errno.ENOSPC, ""), text, remedies)
        return " ".join([number, *(f"{key}={value}" for key, value in after.keys().items())])


def make(root: Path) -> Kernel:
    """Create a host with the disk sda under mq-deadline, and the groups /database and /backup."""
    host = Kernel(root)
    host.put("/proc/self/mountinfo", CGROUP2)
    host.put("/sys/kernel/btf/vmlinux")
    host.disk("sda", "8:0")
    host.put("/sys/block/sda/queue/scheduler", "none [mq-deadline] htbs\n")
    for name in ("/", "/database", "/backup"):
        host.group(name)
    return host


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], Kernel(Path(sys.argv[1]))))
