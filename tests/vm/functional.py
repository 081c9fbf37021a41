"""What the functional tests share on the host: what to boot, and how to read the results."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.vm import Guest, Result, debug, initramfs, kernels, modules
from tests.vm.guest import PROGRAMS, STOCK_MODULES
from tests.vm.kernels import REPO

SERIES = ("6.1", "6.12", "7.3")
# The kernel of the tests that `make test` runs on one kernel only.
MAIN = "6.12"
# Races between functions of the kernel that work on none of our trees.
ALLOWED = {"kcsan": (r"BUG: KCSAN: (?!.*(htbs_|\b(elv|_*rb)_))",)}

_SCRIPTS = Path(__file__).parent / "scripts"
# Shell functions, which are put in front of a guest's script.
LIBRARY = _SCRIPTS / "lib.sh"


def find_kernel(series: str) -> kernels.Kernel:
    """Find the kernel of a series or name, or a debug kernel by its configuration's name."""
    return debug.kernel(series) if series in debug.CONFIGS else kernels.select(series)


@dataclass(frozen=True)
class Boot:
    """A script of scripts/ and the guest that it needs.

    script: its name without .sh; modules, programs: on the virtual clock, in addition to those of
    the harness; files: names below $IN with their text; sources: a directory here with the C files
    of a program that is built for the guest, as $IN/NAME; htbsctl: whether $IN/htbsctl is
    installed.
    """

    script: str
    clock: str = "virtual"
    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    sources: str | None = None
    htbsctl: bool = False
    timeout: float = 900

    def runs_on(self, kernel: kernels.Kernel) -> bool:
        """Return true if a kernel has what the script needs.

        The kernel of arm64 has no simulated SCSI disk. Our own kernels have no histogram triggers,
        which htbsctl top sets.
        """
        if self.htbsctl and kernel.headers:
            return False
        wanted = "modprobe scsi_debug" in (_SCRIPTS / f"{self.script}.sh").read_text()
        return not wanted or any(kernel.modules.glob("kernel/drivers/scsi/scsi_debug.ko*"))

    def run(self, series: str) -> Result:
        """Boot the kernel of a series and run the script.

        In addition to the modules and `files`, $IN has foreign.ko, which is htbs.ko for another
        series.
        """
        kernel = find_kernel(series)
        other = next(each for each in map(find_kernel, SERIES) if each.version != kernel.version)
        files = {"foreign.ko": modules.build(other)["htbs.ko"]}
        files |= {name: text.encode() for name, text in self.files}
        if self.sources:
            sources = sorted((Path(__file__).parent / self.sources).glob("*.c"))
            files[self.sources] = initramfs.static_program(self.sources, kernel, *sources)
        if self.htbsctl:
            files["htbsctl"] = _archive()
        guest = Guest(
            kernel,
            self.clock,
            files=modules.build(kernel) | files,
            name=f"{self.script}-{series}",
            memory="2G" if kernel.headers else "1G",
            timeout=self.timeout,
            allow=ALLOWED.get(series, ()),
            modules=(*STOCK_MODULES, *self.modules),
            programs=(*PROGRAMS, *self.programs),
            # Otherwise an I/O takes the CPU of a debug kernel longer than the disk.
            speed=kernel.patience,
        )
        script = _SCRIPTS / f"{self.script}.sh"
        return guest.run(LIBRARY.read_text() + script.read_text())


def _archive() -> bytes:
    """Return the archive that is installed as htbsctl."""
    with NamedTemporaryFile() as file:
        subprocess.run([REPO / "scripts/archive-htbsctl", file.name], check=True)
        return Path(file.name).read_bytes()


def htbs_stat(text: str) -> dict[str, int]:
    """Return the numbers of an io.htbs.stat with one line."""
    [line] = text.splitlines()
    return {key: int(value) for key, value in (word.split("=") for word in line.split()[1:])}


def fio_side(result: Result, name: str, side: str = "read") -> dict:
    """Return the result of the only job of NAME.json for one side: read, write or trim."""
    [job] = result.json(f"{name}.json")["jobs"]
    assert job["error"] == 0, f"fio {name}"
    return job[side]
