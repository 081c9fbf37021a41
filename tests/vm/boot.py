"""How a guest is started and how its result comes back, for either clock.

The directory of a guest holds in/ (its files), console.log (the kernel's), stdout.log (the
script's) and result/ (what run.sh left).
"""

import shlex
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.vm import drives, initramfs, stubs
from tests.vm.kernels import BUILD, SetupError
from tests.vm.vmlinux import bootable

if TYPE_CHECKING:
    from tests.vm.guest import Guest

CLOCKS = ("real", "virtual")
VNG = BUILD / "venv" / "bin" / "vng"

_GUEST_SIDE = Path(__file__).parent
_RESULT_BYTES = 1 << 30

# A crash ends the guest at once.
_KERNEL_ARGUMENTS = (
    "quiet panic=-1 oops=panic log_buf_len=4M mitigations=off lsm= audit=0"
    " sysctl.kernel.watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60"
)
# For how many seconds a task may sleep in the kernel, of a stock kernel's time.
_HUNG_SECONDS = 30
# A busy host makes the guest's TSC look unstable to the watchdog. And what udev would load for
# QEMU's machine, and nobody needs: half of the boot.
_REAL_ARGUMENTS = (
    "tsc=nowatchdog nokaslr modprobe.blacklist=ahci,kvm_amd,kvm_intel,ccp,iTCO_wdt,i6300esb,"
    "i2c_i801,lpc_ich,psmouse,serio_raw,evdev,pcspkr,button,qemu_fw_cfg,virtio_mmio,aesni_intel,"
    "ghash_clmulni_intel,crc32_pclmul,crct10dif_pclmul,crc32c_intel,sha512_ssse3,sha256_ssse3,"
    "sha1_ssse3"
)
# Of busybox, which does them as well as the host's programs and starts sooner.
_OFTEN = "cat cp cut dd find grep head ls mkdir rm rmdir sed seq sh sha256sum sleep touch tr wc"
_FIO = """#!/run/bin/sh
LD_LIBRARY_PATH=/run/lib exec /run/lib/fio "$@"
"""
# No random number, address or calibration may differ from run to run.
_VIRTUAL_ARGUMENTS = (
    "console=ttyS0 reboot=t pci=off nokaslr norandmaps randomize_kstack_offset=off tsc=reliable"
    " random.trust_cpu=off random.trust_bootloader=off"
)
# What takes a quarter of a boot and nobody needs: the entropy of jitter, certificates, BPF that
# replaces functions, events of kprobes, the tests of ciphers.
_QUICK_ARGUMENTS = (
    "initcall_blacklist=jent_mod_init,load_system_certificate_list,bpf_tcp_ca_kfunc_init,"
    "bpf_dummy_struct_ops_init,init_kprobe_trace cryptomgr.notests"
)


def prepare(guest: "Guest", script: str | None) -> None:
    """Lay out the guest's directory. Without a script the guest is for a person."""
    if guest.clock not in CLOCKS:
        raise SetupError(f"clock is one of {', '.join(CLOCKS)}, not {guest.clock!r}")
    if guest.drives and guest.clock != "real":
        raise SetupError("drives are for the real clock: the virtual one's machine has no PCI")
    if guest.parallel and guest.clock != "real":
        raise SetupError("parallel CPUs are for the real clock: the virtual one's machine has one")
    shutil.rmtree(guest.directory, ignore_errors=True)
    harness = guest.directory / "in" / ".harness"
    harness.mkdir(parents=True)
    (guest.directory / "result" / "out").mkdir(parents=True)
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


def command(guest: "Guest", gdb: int | None = None) -> str:
    """Make the shell command that boots the guest, runs its script and ends with the guest.

    gdb: a socket, as a file descriptor; the guest starts when the other end says so. Virtual clock
    only.
    """
    if guest.clock == "real":
        # QEMU opens its standard output by name: a pipe bears that, a file would be cut off.
        stdout, console = (_quote(guest.directory / name) for name in ("stdout.log", "console.log"))
        vng = _vng(guest, "--verbose", "--", f"sh {_quote(_launcher(guest))}")
        return f"{{ {vng} | cat >{stdout}; }} 2>&1 | cat >{console}"
    qemu = _qemu(guest, f"file,path={guest.directory / 'stdout.log'}")
    if gdb is not None:
        qemu += f" -chardev socket,id=gdb,fd={gdb} -gdb chardev:gdb -S"
    return f"exec {qemu} >{_quote(guest.directory / 'qemu.log')} 2>&1"


def shell(guest: "Guest") -> str:
    """Make the shell command that boots the guest and gives this terminal a shell in it."""
    return _vng(guest) if guest.clock == "real" else _qemu(guest, "stdio,mux=on")


def collect(guest: "Guest") -> None:
    """Bring the result of a guest that has ended to result/."""
    drives.remove(guest)
    if guest.clock == "virtual":
        image = guest.directory / "result.tar"
        _unpack(image, guest.directory / "result")
        image.unlink()
        (guest.directory / "initrd").unlink()


def _launcher(guest: "Guest") -> Path:
    """Write what virtme-ng starts; a file, for a kernel's command line is short.

    The script runs from the guest's memory and writes there, and so does what it starts all the
    time: 9p is slow.
    """
    path, wrapper = guest.directory / "launcher", guest.directory / "in" / ".harness" / "fio"
    fio = initramfs.host_program("fio")
    wrapper.write_text(_FIO)
    wrapper.chmod(0o755)
    path.write_text(
        f"cp -r {_quote(guest.directory / 'in')} /run/in\n"
        "mkdir /run/bin /run/lib\n"
        f"cp {_quote(initramfs.host_program('busybox'))} /run/bin/busybox\n"
        f"for name in {_OFTEN}; do ln -s busybox /run/bin/$name; done\n"
        f"cp {_join([fio, *stubs.libraries(fio).values()])} /run/lib/\n"
        "export PATH=/run/bin:$PATH\n"
        "sh /run/in/.harness/run.sh /run/in /run/result bash\n"
        f"cp -r /run/result/. {_quote(guest.directory / 'result')}\n"
    )
    return path


def _vng(guest: "Guest", *arguments: str) -> str:
    """virtme-ng: the guest sees the host's files; only result/ can be written."""
    if not VNG.exists():
        raise SetupError(f"no {VNG.relative_to(BUILD.parent)}: run scripts/setup")
    if not any(guest.kernel.modules.glob("kernel/fs/9p/9p.ko*")):
        raise SetupError(f"{guest.kernel.version} has no 9p: take the virtual clock for it")
    words = [VNG, "--disable-kvm", "--force-9p", "--run", guest.kernel.image]
    words += ["--cpus", guest.cpus, "--memory", guest.memory, "--user", "root"]
    words += ["--append", f"{_kernel_arguments(guest)} {_REAL_ARGUMENTS}"]
    # With a thread for every CPU, QEMU before 8.1 may run a breakpoint that the kernel, patching
    # its code, has taken away again: "Oops: int3", once in some hundred boots on a busy host.
    threads = "multi" if guest.parallel else "single"
    words += [f"--qemu-opts=-accel tcg,thread={threads} {drives.options(guest)}"]
    words += ["--rwdir", guest.directory / "result", *arguments]
    return f"PATH={_quote(VNG.parent)}:$PATH {_join(words)}"


def _qemu(guest: "Guest", stdout: str) -> str:
    """Plain QEMU, everything in an initramfs, every source of noise taken away."""
    image = guest.directory / "result.tar"
    with image.open("wb") as file:
        file.truncate(_RESULT_BYTES)
    # The smallest machine and firmware: a PC's BIOS looks at every drive, and its threads' answers
    # take as long as the host pleases.
    words = ["qemu-system-x86_64", "-machine", "microvm,accel=tcg", "-bios", "qboot.rom"]
    # Without arat the kernel takes the local timer for one that stops, and ticks at 250 Hz.
    words += ["-cpu", "qemu64,+arat", "-m", guest.memory, "-seed", 1]
    words += ["-nodefaults", "-display", "none", "-no-reboot"]
    # A recording that nobody keeps: it makes QEMU's two threads take turns. Else one may skip idle
    # time before the other has counted the last instructions, and then they count twice.
    words += ["-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null"]
    words += ["-rtc", "base=2024-01-01,clock=vm"]
    words += ["-kernel", bootable(guest.kernel), "-initrd", _initrd(guest)]
    # The TSC counts instructions: whoever believes that it counts faster has a CPU that is faster.
    speed = f"tsc_early_khz={guest.speed * 1_000_000}"
    arguments = (
        *(_kernel_arguments(guest), _VIRTUAL_ARGUMENTS, speed, _QUICK_ARGUMENTS, guest.arguments),
    )
    words += ["-append", " ".join(arguments)]
    words += ["-serial", f"file:{guest.directory / 'console.log'}"]
    words += ["-chardev", f"{stdout},id=stdout", "-device", "isa-serial,index=1,chardev=stdout"]
    words += ["-drive", f"file={image},format=raw,if=none,id=result,cache=unsafe"]
    words += ["-device", "virtio-blk-device,drive=result"]
    return _join(words)


def _kernel_arguments(guest: "Guest") -> str:
    hung = _HUNG_SECONDS * guest.kernel.patience
    return f"{_KERNEL_ARGUMENTS} sysctl.kernel.hung_task_timeout_secs={hung}"


def _initrd(guest: "Guest") -> Path:
    """Write the initramfs: what guests share, then this one's files."""
    base = initramfs.base(guest.kernel, tuple(guest.modules), tuple(guest.programs))
    inside = {
        f"run/{path.relative_to(guest.directory)}": path
        for path in (guest.directory / "in").rglob("*")
        if path.is_file()
    }
    initrd = guest.directory / "initrd"
    initrd.write_bytes(base + initramfs.archive(inside))
    return initrd


def _quote(word: object) -> str:
    return shlex.quote(str(word))


def _join(words: list[object]) -> str:
    return " ".join(map(_quote, words))


def _unpack(image: Path, directory: Path) -> None:
    """Take the plain files out of a tar image; one cut short has no exit code to believe."""
    try:
        with tarfile.open(image, "r:") as tar:
            for member in tar:
                if member.isfile() and ".." not in Path(member.name).parts:
                    path = directory / member.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(tar.extractfile(member).read())
    except tarfile.ReadError:
        (directory / "exit").unlink(missing_ok=True)
