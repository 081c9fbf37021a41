"""A guest: one boot of a stock kernel that runs one script."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.vm import apic, boot, machine, reports
from tests.vm.kernels import BUILD, Kernel

STOCK_MODULES = ("bfq", "kyber-iosched", "mq-deadline", "null_blk", "scsi_debug")
PROGRAMS = ("fio",)

_TAIL_LINES = 30
# How many seconds to wait for the rest of a report after its first line.
_REPORT_GRACE = 10.0


class GuestError(RuntimeError):
    """The guest or its script failed."""


@dataclass(frozen=True)
class Result:
    """The result of a guest.

    exit_code: of the script; stdout: its output and errors; out: the directory with the files that
    it left in $OUT; dmesg: the kernel's log; seconds: wall-clock time, boot included.
    """

    exit_code: int
    stdout: str
    out: Path
    dmesg: str
    seconds: float

    def text(self, name: str) -> str:
        """Return the content of a file of $OUT."""
        return (self.out / name).read_text()

    def json(self, name: str) -> object:
        """Return the content of a JSON file of $OUT."""
        return json.loads(self.text(name))


@dataclass(frozen=True)
class Guest:
    """How to boot a guest, and what it gets.

    files: names below $IN in the guest, with their content or the host's file; timeout: seconds of
    wall-clock time, boot included, for a stock kernel; name: of the directory below build/guests
    that keeps console, output and result; allow: regular expressions of kernel reports that the
    test provokes; cpus, parallel, drives: on the real clock only: parallel gives each CPU a thread
    of the host (otherwise the CPUs take turns), drives are disks of QEMU, by their drivers;
    modules, programs: of the host and kernel, on the virtual clock only (on the real clock all are
    there); shared: files and directories of the host, on the virtual clock only; arguments: for the
    kernel, on the virtual clock only; calibrates: the kernel has to measure its timer, on the
    virtual clock only; speed: instructions that its CPU executes in a nanosecond, on the virtual
    clock only; plugins: of QEMU, each with its arguments, on the virtual clock only.
    """

    kernel: Kernel
    clock: str = "real"
    files: Mapping[str, Path | bytes] = field(default_factory=dict)
    name: str = "guest"
    memory: str = "1G"
    timeout: float = 600
    allow: Iterable[str] = ()
    cpus: int = 2
    parallel: bool = False
    drives: Iterable[str] = ()
    modules: Iterable[str] = STOCK_MODULES
    programs: Iterable[str] = PROGRAMS
    shared: Iterable[Path] = ()
    arguments: str = ""
    calibrates: bool = False
    speed: int = 1
    plugins: Iterable[str] = ()

    def run(
        self,
        script: str,
        *,
        on_line: Callable[[str], None] | None = None,
        check: bool = True,
    ) -> Result:
        """Boot, run the script, power off.

        on_line is called with each line of the script's output as it is printed. Raises GuestError
        if the guest dies, reports a problem of its kernel or exceeds the time limit, and, with
        check, if the script fails.
        """
        timer = self._timer()
        with self._alone():
            return self._run(script, timer, on_line, check)

    def _run(
        self,
        script: str,
        timer: apic.Timer | None = None,
        on_line: Callable[[str], None] | None = None,
        check: bool = True,
    ) -> Result:
        boot.prepare(self, script)
        begin = time.monotonic()
        self._watch(timer, begin, on_line)
        boot.collect(self)
        return self._judge(time.monotonic() - begin, check)

    def _timer(self) -> apic.Timer | None:
        """Return the kernel's timer, which it then need not measure.

        Before the first use with a kernel a guest measures it.
        """
        x86 = machine.of(self.kernel) is machine.AMD64
        if self.clock != "virtual" or self.calibrates or not x86:
            return None
        finds = Guest(
            self.kernel, clock="virtual", name=f"apic-{self.kernel.version}", calibrates=True
        )
        with finds._alone():
            if not apic.known(self.kernel):
                apic.save(self.kernel, finds._run(apic.SCRIPT).stdout)
        return apic.known(self.kernel)

    @property
    def directory(self) -> Path:
        """The directory of console, output and result, kept until the next run of this name."""
        return BUILD / "guests" / self.name

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process runs a guest of this name."""
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        with (self.directory.parent / f".{self.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _watch(
        self, timer: apic.Timer | None, begin: float, on_line: Callable[[str], None] | None
    ) -> None:
        """Run the guest until it ends, or kill it."""
        console = _Tail(self.directory / "console.log")
        stdout = _Tail(self.directory / "stdout.log")
        timeout = self.timeout * self.kernel.patience
        reason, limit = f"ended by the time limit of {timeout:g} s", begin + timeout
        process, gdb = self._start(wait=timer is not None)
        try:
            with closing(gdb):
                if timer:
                    gdb.settimeout(timeout)
                    apic.spare(gdb, timer, self.speed)
            ended = False
            while not ended:
                ended = process.poll() is not None
                if any(reports.is_report(line, self.allow) for line in console.lines()):
                    reason, limit = "ended", min(limit, time.monotonic() + _REPORT_GRACE)
                for line in stdout.lines():
                    if on_line:
                        on_line(line)
                if not ended and time.monotonic() > limit:
                    raise self._error(reason)
                time.sleep(0.05)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, *, wait: bool) -> tuple[subprocess.Popen, socket.socket]:
        """Start QEMU; with wait it stops until GDB, at the other end of the socket, goes on."""
        ours, theirs = socket.socketpair()
        with closing(theirs):
            process = subprocess.Popen(
                boot.command(self, theirs.fileno() if wait else None),
                shell=True,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=[theirs.fileno()],
            )
        return process, ours

    def _judge(self, seconds: float, check: bool) -> Result:
        """Return the result of a guest that has ended. Raises GuestError if it has none."""
        if report := self._report():
            raise self._error(f"kernel report: {report}")
        result = self.directory / "result"
        if not (result / "exit").exists():
            raise self._error("died before the script was over")
        exit_code = int((result / "exit").read_text())
        if check and exit_code:
            raise self._error(f"the script failed with exit code {exit_code}")
        taint = reports.bad_taint(int((result / "tainted").read_text()))
        if taint and not self.allow:
            raise self._error(f"the kernel is tainted: {taint}")
        return Result(
            exit_code=exit_code,
            stdout=_text(self.directory / "stdout.log"),
            out=result / "out",
            dmesg=_text(result / "dmesg"),
            seconds=seconds,
        )

    def _report(self) -> str | None:
        """Return the first line of the first report in the kernel's log, or the first leak."""
        for log in ("console.log", "result/dmesg"):
            for line in _text(self.directory / log).splitlines():
                if reports.is_report(line, self.allow):
                    return line
        leaks = reports.leaks(_text(self.directory / "result" / "kmemleak"))
        return f"kmemleak: {leaks[0]}" if leaks else None

    def _error(self, reason: str) -> GuestError:
        if (report := self._report()) and report not in reason:
            reason += f"; kernel report: {report}"
        parts = [f"guest {self.name} ({self.kernel.version}): {reason}"]
        for log in ("stdout.log", "console.log", "qemu.log"):
            tail = _text(self.directory / log).splitlines()[-_TAIL_LINES:]
            parts += [f"--- {self.directory / log}", *tail]
        return GuestError("\n".join(parts))


class _Tail:
    """The lines of a growing file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0

    def lines(self) -> list[str]:
        """Return the complete lines that were added since the last call."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._position)
            data = file.read()
        data = data[: data.rfind(b"\n") + 1]
        self._position += len(data)
        return data.decode(errors="replace").splitlines()


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
