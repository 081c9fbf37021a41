"""Spare a kernel on the virtual clock the calibration of its local APIC's timer.

For that it counts a tenth of a second in a loop of PAUSE, for each of which QEMU leaves its
translated code: a third of a boot. QEMU's timer runs at 1 GHz, as its TSC does, so the result is
known. It is put where the kernel looks before it calibrates, through QEMU's server for GDB.
"""

import json
import re
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass

from tests.vm.kernels import BUILD, Kernel

# What a guest that calibrates has to say for find(). The TSC's cycles in a tick are the timer's.
SCRIPT = """
grep -E ' (setup_boot_APIC_clock|lapic_timer_period)$' /proc/kallsyms
dmesg | grep -o 'lpj=[0-9]*'
"""

_SYMBOL = r"^([0-9a-f]{16}) \w %s$"


@dataclass(frozen=True)
class Timer:
    """Of one kernel: the function that calibrates, and the period of a tick and where it is."""

    function: int
    address: int
    period: int


def known(kernel: Kernel) -> Timer | None:
    """What save() has kept of this kernel."""
    with suppress(FileNotFoundError):
        return Timer(**json.loads(_file(kernel).read_text()))
    return None


def save(kernel: Kernel, output: str) -> None:
    """Keep what SCRIPT has said; ValueError if it said something else."""
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
    """Start a guest that waits at the other end, and tell it its timer's period.

    If it dies meanwhile or takes too long, that is seen elsewhere. RuntimeError if QEMU doesn't
    understand.
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
    """One packet of GDB's remote protocol, and the one that answers it."""
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
    """By its directory, which names one of our own by all that it is built from."""
    return BUILD / "apic" / f"{kernel.root.name}.json"
