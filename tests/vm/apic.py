"""On the virtual clock, let a kernel skip the calibration of its local APIC's timer.

The calibration counts for a tenth of a second in a loop of PAUSE instructions. For each of them
QEMU leaves its translated code, which takes a third of a boot. QEMU's timer runs at 1 GHz, like its
TSC, so the result is known. QEMU's server for GDB writes it where the kernel looks before it
calibrates.
"""

import json
import re
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass

from tests.vm.kernels import BUILD, Kernel

# Output of a guest that calibrates, which save() evaluates. The TSC's cycles per tick are the
# timer's.
SCRIPT = """
grep -E ' (setup_boot_APIC_clock|lapic_timer_period)$' /proc/kallsyms
dmesg | grep -o 'lpj=[0-9]*'
"""

_SYMBOL = r"^([0-9a-f]{16}) \w %s$"


@dataclass(frozen=True)
class Timer:
    """Of a kernel: the function that calibrates, the period of a tick, and its address."""

    function: int
    address: int
    period: int


def known(kernel: Kernel) -> Timer | None:
    """Return what save() has kept for this kernel."""
    with suppress(FileNotFoundError):
        return Timer(**json.loads(_file(kernel).read_text()))
    return None


def save(kernel: Kernel, output: str) -> None:
    """Keep the timer that SCRIPT has printed. Raises ValueError if the output has none."""
    patterns = (_SYMBOL % "setup_boot_APIC_clock", _SYMBOL % "lapic_timer_period")
    found = [re.search(pattern, output, re.MULTILINE) for pattern in patterns]
    ticks = re.search(r"^lpj=(\d+)$", output, re.MULTILINE)
    if not all(found) or not ticks:
        raise ValueError(f"{kernel.version} does not say where its APIC's period is: {output!r}")
    timer = Timer(*(int(match[1], 16) for match in found), int(ticks[1]))
    whole = _file(kernel).with_suffix(".new")
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(json.dumps(asdict(timer)))
    whole.replace(_file(kernel))


def spare(channel: socket.socket, timer: Timer, speed: int = 1) -> None:
    """Start a guest that waits at the other end of the socket, and set the period of its timer.

    If the guest dies meanwhile or takes too long, the caller finds out. Raises RuntimeError if QEMU
    does not understand a command.
    """
    period = (speed * timer.period).to_bytes(4, "little").hex()
    commands = {
        f"Z1,{timer.function:x},1": "OK",  # stop there
        "c": "T05",
        f"M{timer.address:x},4:{period}": "OK",
        f"z1,{timer.function:x},1": "OK",
        "D": "OK",  # go on
    }
    with suppress(EOFError, ConnectionError, TimeoutError):
        for command, wanted in commands.items():
            answer = _ask(channel, command)
            if not answer.startswith(wanted):
                raise RuntimeError(f"QEMU's GDB server answers {answer!r} to {command!r}")


def _ask(channel: socket.socket, command: str) -> str:
    """Send a packet of GDB's remote protocol and return the answer."""
    channel.sendall(f"${command}#{sum(command.encode()) % 256:02x}".encode())
    received = b""
    while not (packet := re.search(rb"\$([^#]*)#..", received)):
        part = channel.recv(4096)
        if not part:
            raise EOFError
        received += part
    channel.sendall(b"+")
    return packet[1].decode()


def _file(kernel: Kernel):
    """Return the file of a kernel.

    Our own kernels have a directory named by all that they are built from.
    """
    return BUILD / "apic" / f"{kernel.root.name}.json"
