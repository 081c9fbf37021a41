"""How a guest is started and how its result is fetched, for both clocks.

The directory of a guest has in/ (its files), console.log (of the kernel), stdout.log (of the
script), qemu.log and result/ (written by run.sh).
"""

import shlex
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.vm import drives, initramfs, machine
from tests.vm.kernels import SetupError
from tests.vm.vmlinux import bootable

if TYPE_CHECKING:
    from tests.vm.guest import Guest

CLOCKS = ("real", "virtual")

_GUEST_SIDE = Path(__file__).parent
_RESULT_BYTES = 1 << 30

# A crash ends the guest at once.
_KERNEL_ARGUMENTS = (
    "quiet panic=-1 oops=panic log_buf_len=4M mitigations=off lsm= audit=0"
    " sysctl.kernel.watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60"
)
# For how many seconds a task of a stock kernel may sleep in the kernel.
_HUNG_SECONDS = 30
# On a busy host the watchdog takes the guest's TSC for unstable. Modules that are fast on a real
# CPU are slow if the CPU is emulated.
_REAL_ARGUMENTS = (
    "console=ttyS0 nokaslr tsc=nowatchdog modprobe.blacklist=aesni_intel,ghash_clmulni_intel,"
    "crc32_pclmul,crct10dif_pclmul,crc32c_intel,sha512_ssse3,sha256_ssse3,sha1_ssse3"
)
_9P_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
# No random number, address or calibration may differ between runs.
_VIRTUAL_ARGUMENTS = (
    "reboot=t pci=off nokaslr norandmaps randomize_kstack_offset=off tsc=reliable"
    " random.trust_cpu=off random.trust_bootloader=off"
    # An NVMe disk of its own instead of a path; cloud kernels have that driver built in.
    " nvme_core.multipath=N"
)
# These are not needed, and take a third of a boot: entropy from jitter, certificates, BPF that
# replaces functions, events of kprobes, enums in the formats of events, tests of ciphers.
_QUICK_ARGUMENTS = (
    "initcall_blacklist=jent_mod_init,load_system_certificate_list,bpf_tcp_ca_kfunc_init,"
    "bpf_dummy_struct_ops_init,init_kprobe_trace,trace_eval_init cryptomgr.notests"
)


def prepare(guest: "Guest", script: str | None) -> None:
    """Create the guest's directory. Without a script the guest is interactive."""
    if guest.clock not in CLOCKS:
        raise SetupError(f"clock is one of {', '.join(CLOCKS)}, not {guest.clock!r}")
    if guest.drives and guest.clock != "real":
        raise SetupError("drives are for the real clock: the virtual one's machine has no PCI")
    if guest.plugins and guest.clock != "virtual":
        raise SetupError("plugins count instructions: they are for the virtual clock")
    if guest.parallel and guest.clock != "real":
        raise SetupError("parallel CPUs are for the real clock: the virtual one's machine has one")
    shutil.rmtree(guest.directory, ignore_errors=True)
    harness = guest.directory / "in" / ".harness"
    harness.mkdir(parents=True)
    (guest.directory / "result" / "out").mkdir(parents=True)
    shutil.copy(initramfs.put(guest.kernel), harness)
    for name in ("session.sh", "run.sh", "guest.sh"):
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
    """Return the shell command that boots the guest, runs its script and ends with the guest.

    gdb: a socket, as a file descriptor; the guest starts when the other end continues it. On the
    virtual clock only.
    """
    qemu = _qemu(guest, f"file,path={guest.directory / 'stdout.log'}")
    if gdb is not None:
        qemu += f" -chardev socket,id=gdb,fd={gdb} -gdb chardev:gdb -S"
    if guest.clock == "virtual":
        # QEMU's two threads take turns. A thread that wakes up must not preempt the other, which
        # still holds the lock: these are four fifths of all switches, and take a fifth of the time.
        qemu = f"chrt --batch 0 {qemu}"
    # QEMU ends with the process that waits for it, for whatever reason that process ends.
    return f"exec setpriv --pdeathsig KILL {qemu} >{_quote(guest.directory / 'qemu.log')} 2>&1"


def shell(guest: "Guest") -> str:
    """Return the shell command that boots the guest and gives this terminal a shell in it."""
    return _qemu(guest, "stdio,mux=on")


def collect(guest: "Guest") -> None:
    """Copy the result of a guest that has ended to result/."""
    drives.remove(guest)
    (guest.directory / "initrd").unlink()
    if guest.clock == "virtual":
        image = guest.directory / "result.tar"
        _unpack(image, guest.directory / "result")
        image.unlink()


def _qemu(guest: "Guest", stdout: str) -> str:
    """Return QEMU's command line for a guest; the files of the harness are in an initramfs."""
    its = machine.of(guest.kernel)
    options, arguments = (_real if guest.clock == "real" else _virtual)(guest)
    words = [its.qemu, *options, "-m", guest.memory]
    words += ["-nodefaults", "-display", "none", "-no-reboot"]
    words += ["-kernel", bootable(guest.kernel), "-initrd", _initrd(guest)]
    words += ["-append", f"{_kernel_arguments(guest)} {arguments}"]
    words += ["-serial", f"file:{guest.directory / 'console.log'}"]
    words += ["-chardev", f"{stdout},id=stdout", *its.stdout]
    return _join(words)


def _real(guest: "Guest") -> tuple[list[object], str]:
    """Return a PC's options and kernel command line; it reads the host's files, writes result/."""
    if not guest.kernel.shares_files:
        raise SetupError(f"{guest.kernel.version} has no 9p: take the virtual clock for it")
    # If each CPU has a thread, QEMU before 8.1 may execute a breakpoint that the kernel, while it
    # patches its code, has already removed: "Oops: int3", once in some hundred boots on a busy
    # host.
    threads = "multi" if guest.parallel else "single"
    words = ["-machine", "q35", "-accel", f"tcg,thread={threads}", "-smp", guest.cpus]
    # Page tables with five levels are walked in software.
    words += ["-cpu", "max,la57=off"]
    shares = (("host", "/", ",readonly=on"), ("result", guest.directory / "result", ""))
    for tag, path, mode in shares:
        words += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{mode}"]
        words += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    words += drives.options(guest)
    return words, f'{_REAL_ARGUMENTS} MODULES="{guest.kernel.modules.resolve()}"'


def _virtual(guest: "Guest") -> tuple[list[object], str]:
    """Return options and kernel command line of a machine without any source of noise."""
    image = guest.directory / "result.tar"
    with image.open("wb") as file:
        file.truncate(_RESULT_BYTES)
    its = machine.of(guest.kernel)
    words = [*its.board, "-seed", 1]
    # Recording to /dev/null makes QEMU's two threads take turns. Otherwise one thread may skip idle
    # time before the other has counted the last instructions, and these count twice.
    words += ["-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null"]
    words += ["-rtc", "base=2024-01-01,clock=vm"]
    words += ["-drive", f"file={image},format=raw,if=none,id=result,cache=unsafe"]
    words += ["-device", "virtio-blk-device,drive=result"]
    for plugin in guest.plugins:
        words += ["-plugin", plugin]
    # The TSC counts instructions: the faster a kernel assumes the TSC to be, the faster is its CPU.
    speed = f"tsc_early_khz={guest.speed * 1_000_000}"
    arguments = f"console={its.console} {_VIRTUAL_ARGUMENTS}"
    return words, f"{arguments} {speed} {_QUICK_ARGUMENTS} {guest.arguments}"


def _kernel_arguments(guest: "Guest") -> str:
    hung = _HUNG_SECONDS * guest.kernel.patience
    return f"{_KERNEL_ARGUMENTS} sysctl.kernel.hung_task_timeout_secs={hung}"


def _initrd(guest: "Guest") -> Path:
    """Write the initramfs: the part that guests share, then the files of this guest."""
    if guest.clock == "real":
        base = initramfs.base(guest.kernel, _9P_MODULES, (), quick=("fio",))
    else:
        base = initramfs.base(
            guest.kernel,
            tuple(guest.modules),
            tuple(guest.programs),
            shared=tuple(guest.shared),
        )
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
    """Extract the plain files of a tar image. If the image is incomplete, discard the exit code."""
    try:
        with tarfile.open(image, "r:") as tar:
            for member in tar:
                if member.isfile() and ".." not in Path(member.name).parts:
                    path = directory / member.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(tar.extractfile(member).read())
    except tarfile.ReadError:
        (directory / "exit").unlink(missing_ok=True)
