"""The machines that guests emulate, and where their programs come from."""

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD, Kernel, SetupError

_LOADER = "/lib/ld-linux-aarch64.so.1"


@dataclass(frozen=True)
class Machine:
    """A processor architecture, by the name that Debian gives it.

    qemu: the emulator; board: its options for a machine whose time is a count of instructions;
    console: the kernel's name of the serial port; stdout: QEMU's device for the script's output;
    root: the file system with the programs; prefix: of the compiler and the tools that build and
    read the programs.
    """

    name: str
    qemu: str
    board: tuple[str, ...]
    console: str
    stdout: tuple[str, ...]
    root: Path = Path("/")
    prefix: str = ""

    def program(self, name: str) -> Path:
        """Find a program by its name, or by its path if it is not in a directory of programs."""
        if "/" in name:
            return self.root / name.lstrip("/")
        for directory in ("usr/bin", "bin", "usr/sbin", "sbin", "usr/local/bin"):
            path = self.root / directory / name
            if path.exists():
                return path
        raise SetupError(f"no {name} in {self.root}: run scripts/setup")

    def tool(self, name: str) -> str:
        """Return the name of the compiler or of one of its tools."""
        return self.prefix + name

    def place(self, path: Path) -> Path:
        """Return the path at which a guest finds a file of this file system."""
        return Path("/") / path.relative_to(self.root)

    def linked(self, path: Path) -> set[Path]:
        """Return the libraries that a program or library is linked with, directly or indirectly."""
        if self.root == Path("/"):
            return {Path(each) for each in re.findall(r"(/\S+) \(0x", output("ldd", path))}
        found: set[Path] = set()
        waiting = [path]
        while waiting:
            new = {self._library(name) for name in self.needed(waiting.pop())} - found
            found |= new
            waiting += new
        return found | {self.root / _LOADER.lstrip("/")}

    def needed(self, path: Path) -> set[str]:
        """Return the names of the libraries that a program or library is directly linked with."""
        return set(re.findall(r"NEEDED\s+(\S+)", output(self.tool("objdump"), "-p", path)))

    @cache  # noqa: B019
    def _library(self, name: str) -> Path:
        for directory in ("lib", "usr/lib"):
            for found in (self.root / directory).rglob(name):
                return found
        raise SetupError(f"no {name} in {self.root}: run scripts/setup kernels")


AMD64 = Machine(
    "amd64",
    "qemu-system-x86_64",
    # The smallest machine and firmware: a PC's BIOS probes every drive, and how long its threads
    # take to answer depends on the host. Without arat the kernel assumes that the local timer
    # stops, and ticks at 250 Hz.
    ("-machine", "microvm,accel=tcg", "-bios", "qboot.rom", "-cpu", "qemu64,+arat"),
    "ttyS0",
    ("-device", "isa-serial,index=1,chardev=stdout"),
)
ARM64 = Machine(
    "arm64",
    "qemu-system-aarch64",
    ("-machine", "virt,gic-version=3,accel=tcg", "-cpu", "cortex-a57"),
    "ttyAMA0",
    ("-device", "virtio-serial-device", "-device", "virtconsole,chardev=stdout"),
    BUILD / "arm64",
    "aarch64-linux-gnu-",
)


def of(kernel: Kernel) -> Machine:
    """Return the machine that a kernel runs on."""
    return ARM64 if kernel.version.endswith("-arm64") else AMD64


def output(*command: str | Path) -> str:
    """Return the output of a command. Raises SetupError if the command fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"{' '.join(map(str, command))} failed: {done.stderr}")
    return done.stdout
