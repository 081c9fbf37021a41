"""The machines that guests emulate, and where programs for them come from."""

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD, Kernel, SetupError

_LOADER = "/lib/ld-linux-aarch64.so.1"


@dataclass(frozen=True)
class Machine:
    """A processor's architecture, as Debian names it.

    qemu: the program that emulates it; board: that machine, and what it takes to make its time a
    count of instructions; console, stdout: the kernel's name of its serial port, and QEMU's device
    for the script's output; root: the file system with its programs; prefix: of the
    compiler and the tools that make and read its programs.
    """

    name: str
    qemu: str
    board: tuple[str, ...]
    console: str
    stdout: tuple[str, ...]
    root: Path = Path("/")
    prefix: str = ""

    def program(self, name: str) -> Path:
        """Find a program; name: or its path, if it is in no directory of programs."""
        if "/" in name:
            return self.root / name.lstrip("/")
        for directory in ("usr/bin", "bin", "usr/sbin", "sbin", "usr/local/bin"):
            path = self.root / directory / name
            if path.exists():
                return path
        raise SetupError(f"no {name} in {self.root}: run scripts/setup")

    def tool(self, name: str) -> str:
        """The compiler or one of its tools."""
        return self.prefix + name

    def place(self, path: Path) -> Path:
        """Where a guest finds a file of this file system."""
        return Path("/") / path.relative_to(self.root)

    def linked(self, path: Path) -> set[Path]:
        """The libraries that a program or library is linked with, and those of these."""
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
        """The names of the libraries that a program or library itself names."""
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
    # The smallest machine and firmware: a PC's BIOS looks at every drive, and its threads' answers
    # take as long as the host pleases. Without arat the kernel takes the local timer for one that
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
    """The machine that a kernel is for."""
    return ARM64 if kernel.version.endswith("-arm64") else AMD64


def output(*command: str | Path) -> str:
    """What a command prints; SetupError if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"{' '.join(map(str, command))} failed: {done.stderr}")
    return done.stdout
