"""One boot of a guest with a Debian on its disk."""

import os
import re
import shlex
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

from tests.packages import secureboot
from tests.vm.guest import GuestError
from tests.vm.kernels import BUILD

_HERE = Path(__file__).parent
# Compilers are slow where instructions are emulated.
_SECONDS = 3600
_DATA_SIZE = 256 << 20
# What firmware and GRUB write for a screen.
# What firmware, GRUB and systemd tell the terminal: colours, positions, a title or a palette.
_TERMINAL = re.compile(r"\x1b\[[0-9;=?!]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")
_ARGUMENTS = (
    "root=/dev/vda rw console=ttyS0 panic=-1 oops=panic mitigations=off tsc=nowatchdog nokaslr"
    " quiet systemd.show_status=false loglevel=3"
)


def boot(  # noqa: PLR0913
    directory: Path,
    kver: str,
    *steps: str,
    files: Mapping[str, bytes] = MappingProxyType({}),
    arguments: str = "",
    secure: bool = False,
    key: Path | None = None,
) -> str:
    """Boot a kernel with the disk of a directory, do the steps of guest.sh; what they said.

    files: what else /run has, such as steps that guest.sh reads from there; arguments: to the
    kernel; secure: under Secure Boot; key: enrolled there, a certificate in DER. Raises GuestError
    if it takes an hour, or does not come to its end.
    """
    _pack(directory / "vdb.tar", steps, files)
    log = directory / f"{'-'.join(steps)}.log"
    words = _machine(directory, log)
    arguments = f"{_ARGUMENTS} {arguments}".rstrip()
    if secure:
        words += secureboot.arguments(directory, kver, arguments, key)
    else:
        words += _kernel(directory, kver, arguments)
    with _running(words) as process:
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            raise GuestError(f"{log}: not done in {_SECONDS} s") from None
    text = _said(log)
    if "\n== end\n" not in text:
        raise GuestError(f"{log}: died before its end:\n{text[-3000:]}")
    return text


@contextmanager
def up(
    directory: Path, kver: str, *steps: str, files: Mapping[str, bytes], ports: Mapping[int, int]
) -> Iterator[None]:
    """Boot a kernel, do the steps; the last says that the guest is up, and stays.

    ports: those of 127.0.0.1, and which of the guest they lead to; the guest reaches nothing. It is
    powered off as the context ends. Raises GuestError if it does not come up within an hour.
    """
    _pack(directory / "vdb.tar", steps, files)
    log = directory / f"{'-'.join(steps)}.log"
    forward = "".join(f",hostfwd=tcp:127.0.0.1:{here}-:{there}" for here, there in ports.items())
    words = [*_machine(directory, log), *_kernel(directory, kver, _ARGUMENTS)]
    words += ["-netdev", f"user,id=lan,restrict=on{forward}"]
    words += ["-device", "virtio-net-pci,netdev=lan,romfile="]
    log.write_bytes(b"")
    with _running(words) as process:
        before = time.monotonic()
        while "\n== up\n" not in _said(log):
            if process.poll() is not None or time.monotonic() - before > _SECONDS:
                raise GuestError(f"{log}: did not come up:\n{_said(log)[-3000:]}")
            time.sleep(1)
        yield


def _machine(directory: Path, log: Path) -> list[str]:
    """QEMU with the disks of a directory, and a console that is a file."""
    if not list(directory.glob("data*.img")):
        data_disks(directory, "data.img")
    words = ["qemu-system-x86_64", "-machine", "q35,smm=on,accel=tcg", "-cpu", "max,la57=off"]
    words += ["-smp", "2", "-m", "2G", "-nodefaults", "-display", "none", "-no-reboot"]
    words += ["-serial", f"file:{log}"]
    data = sorted(path.name for path in directory.glob("data*.img"))
    for name in ("disk.img", "vdb.tar", *data):
        words += ["-drive", f"file={directory / name},format=raw,if=virtio,cache=unsafe"]
    return [*words, *_flash(directory / "flash.img")]


def _kernel(directory: Path, kver: str, arguments: str) -> list[str]:
    words = ["-kernel", directory / f"vmlinuz-{kver}", "-initrd", directory / f"initrd-{kver}"]
    return [*map(str, words), "-append", arguments]


@contextmanager
def _running(words: list[str]) -> Iterator[subprocess.Popen]:
    """A process that ends with the context, and with us."""
    process = subprocess.Popen(
        f"exec setpriv --pdeathsig KILL {shlex.join(map(str, words))}",
        shell=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _said(log: Path) -> str:
    return _TERMINAL.sub("", log.read_text(errors="replace"))


def _flash(disk: Path) -> list[str]:
    """A disk that the guest has as /dev/sda, if there is one; no file of the host seeks."""
    if not disk.exists():
        return []
    drive = f"file={disk},format=raw,if=none,id=flash,cache=unsafe"
    device = "scsi-hd,drive=flash,rotation_rate=1"
    return ["-drive", drive, "-device", "virtio-scsi-pci", "-device", device]


def data_disks(directory: Path, *names: str) -> None:
    """Make empty disks; data*.img are, by name, those from /dev/vdc on, flash.img is /dev/sda."""
    for name in names:
        with (directory / name).open("wb") as file:
            file.truncate(_DATA_SIZE)


def _pack(path: Path, steps: tuple[str, ...], more: Mapping[str, bytes]) -> None:
    """What the guest finds in /run, as its second disk."""
    files = {"guest.sh": (_HERE / "guest.sh").read_bytes(), "steps": " ".join(steps).encode()}
    files |= more
    for name in ("htbs-dkms", "htbs-tools"):
        [package] = (BUILD / "deb").glob(f"{name}_*.deb")
        files[f"build/deb/{package.name}"] = package.read_bytes()
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), int(time.time())
            tar.addfile(info, BytesIO(data))
    # A disk has whole sectors.
    with path.open("ab") as file:
        file.truncate(-(-path.stat().st_size // 4096) * 4096)
