"""How a guest is started and how its result comes back, for either clock.

The directory of a guest holds in/ (its files), console.log (the kernel's), stdout.log (the
script's) and result/ (what run.sh left).
"""

import shlex
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.vm import initramfs
from tests.vm.kernels import BUILD

if TYPE_CHECKING:
    from tests.vm.guest import Guest

CLOCKS = ("real", "virtual")
VNG = BUILD / "venv" / "bin" / "vng"

_GUEST_SIDE = Path(__file__).parent
_RESULT_BYTES = 1 << 30

# A crash ends the guest at once; a task may sleep in the kernel for 30 s.
_KERNEL_ARGUMENTS = (
    "quiet panic=-1 oops=panic log_buf_len=4M mitigations=off lsm= audit=0"
    " sysctl.kernel.hung_task_timeout_secs=30 sysctl.kernel.watchdog_thresh=30"
    " rcupdate.rcu_cpu_stall_timeout=60"
)
# No random number, address or calibration may differ from run to run.
_VIRTUAL_ARGUMENTS = (
    "console=ttyS0 nokaslr norandmaps randomize_kstack_offset=off tsc=reliable"
    " tsc_early_khz=1000000 random.trust_cpu=off random.trust_bootloader=off"
)


class SetupError(RuntimeError):
    """Something that a guest is made of is missing or wrong."""


def prepare(guest: "Guest", script: str | None) -> None:
    """Lay out the guest's directory. Without a script the guest is for a person."""
    if guest.clock not in CLOCKS:
        raise SetupError(f"clock is one of {', '.join(CLOCKS)}, not {guest.clock!r}")
    shutil.rmtree(guest.directory, ignore_errors=True)
    harness = guest.directory / "in" / ".harness"
    harness.mkdir(parents=True)
    (guest.directory / "result").mkdir()
    shutil.copy(initramfs.put(), harness)
    for name in ("run.sh", "guest.sh"):
        shutil.copy(_GUEST_SIDE / name, harness)
    if script is not None:
        (harness / "script").write_text(script)
    for name, content in guest.files.items():
        path = guest.directory / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            shutil.copy(content, path)


def command(guest: "Guest") -> str:
    """The shell command that boots the guest and ends with it."""
    return _real(guest) if guest.clock == "real" else _virtual(guest)


def collect(guest: "Guest") -> None:
    """Bring the result of a guest that has ended to result/."""
    image = guest.directory / "result.tar"
    if guest.clock == "virtual" and image.exists():
        _unpack(image, guest.directory / "result")
        image.unlink()


def _real(guest: "Guest") -> str:
    """virtme-ng: the guest sees the host's files; only result/ can be written."""
    if not VNG.exists():
        raise SetupError(f"no {VNG.relative_to(BUILD.parent)}: run scripts/setup")
    result = guest.directory / "result"
    # The script runs from the guest's memory and writes there: 9p is slow and no place to measure.
    inside = (
        f"cp -r {shlex.quote(str(guest.directory / 'in'))} /run/in"
        f' && PATH="/run/in/.harness:$PATH" sh /run/in/.harness/run.sh /run/in /run/result bash'
        f"; cp -r /run/result/. {shlex.quote(str(result))}"
    )
    vng = [VNG, "--disable-kvm", "--force-9p", "--run", guest.kernel.image]
    vng += ["--cpus", guest.cpus, "--memory", guest.memory, "--user", "root", "--verbose"]
    vng += ["--append", _KERNEL_ARGUMENTS, "--rwdir", result, "--", inside]
    stdout, console = (
        shlex.quote(str(guest.directory / name)) for name in ("stdout.log", "console.log")
    )
    # QEMU opens its standard output by name: a pipe bears that, a file would be cut off.
    path = shlex.quote(str(VNG.parent))
    return f"{{ PATH={path}:$PATH {_join(vng)} | cat >{stdout}; }} 2>&1 | cat >{console}"


def _virtual(guest: "Guest") -> str:
    """Plain QEMU, everything in an initramfs, every source of noise taken away."""
    base = initramfs.base(guest.kernel, guest.modules, guest.programs)
    inside = {
        f"run/{path.relative_to(guest.directory)}": path
        for path in (guest.directory / "in").rglob("*")
        if path.is_file()
    }
    initrd = guest.directory / "initrd"
    initrd.write_bytes(base.read_bytes() + initramfs.archive(inside))
    image = guest.directory / "result.tar"
    with image.open("wb") as file:
        file.truncate(_RESULT_BYTES)
    qemu = ["qemu-system-x86_64", "-machine", "pc,accel=tcg", "-cpu", "qemu64"]
    qemu += ["-m", guest.memory, "-nodefaults", "-display", "none", "-no-reboot", "-seed", 1]
    qemu += ["-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01,clock=vm"]
    qemu += ["-kernel", guest.kernel.image, "-initrd", initrd]
    qemu += ["-append", f"{_KERNEL_ARGUMENTS} {_VIRTUAL_ARGUMENTS}"]
    qemu += ["-serial", f"file:{guest.directory / 'console.log'}"]
    qemu += ["-serial", f"file:{guest.directory / 'stdout.log'}"]
    qemu += ["-drive", f"file={image},format=raw,if=none,id=result,cache=unsafe"]
    qemu += ["-device", "virtio-blk-pci,drive=result"]
    return f"exec {_join(qemu)} >{shlex.quote(str(guest.directory / 'qemu.log'))} 2>&1"


def _join(words: list[object]) -> str:
    return shlex.join(str(word) for word in words)


def _unpack(image: Path, directory: Path) -> None:
    """Take the plain files out of a tar image; a guest that died may have left none."""
    try:
        with tarfile.open(image, "r:") as tar:
            for member in tar:
                if member.isfile() and ".." not in Path(member.name).parts:
                    path = directory / member.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(tar.extractfile(member).read())
    except tarfile.ReadError:
        return
