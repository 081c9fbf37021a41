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
# Compilers are slow if the CPU is emulated.
_SECONDS = 3600
_DATA_SIZE = 256 << 20
# Output of firmware and GRUB for a screen.
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
    """Boot a kernel with a directory's disk, run steps of guest.sh, and return their output.

    files: more files in /run, such as steps that guest.sh reads there; arguments: of the kernel;
    secure: under Secure Boot; key: a certificate in DER to enrol. Raises GuestError if the guest
    takes an hour, or does not reach its end.
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
    """Boot a kernel and run the steps; the last one reports that the guest is up, and stays.

    ports: of 127.0.0.1, and the guest's ports they lead to; the guest has no other network. It is
    powered off when the context ends. Raises GuestError if it is not up within an hour.
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
    """Return QEMU's options for the disks of a directory, and a file as the console."""
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
    """A process that ends with the context, and with this process."""
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
    """A disk that is /dev/sda in the guest, if it exists; no file of the host seeks."""
    if not disk.exists():
        return []
    drive = f"file={disk},format=raw,if=none,id=flash,cache=unsafe"
    device = "scsi-hd,drive=flash,rotation_rate=1"
    return ["-drive", drive, "-device", "virtio-scsi-pci", "-device", device]


def data_disks(directory: Path, *names: str) -> None:
    """Create empty disks: data*.img are /dev/vdc and later, by name, flash.img is /dev/sda."""
    for name in names:
        with (directory / name).open("wb") as file:
            file.truncate(_DATA_SIZE)


def _pack(path: Path, steps: tuple[str, ...], more: Mapping[str, bytes]) -> None:
    """Pack the files of /run, which are the guest's second disk."""
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
    # The size of a disk is a multiple of its sectors.
    with path.open("ab") as file:
        file.truncate(-(-path.stat().st_size // 4096) * 4096)
