"""Debug kernels, built from Debian's source with the kernel's checks, and kept for the next run.

A configuration, NAME or NAME-SERIES, is the kernel's tinyconfig with kernel/guest.config and
kernel/NAME.config, for Debian's source of the series, or of 6.12. build/debug/CONFIGURATION-HASH/
keeps what is built from one source and one configuration: obj/, which is the header directory for
modules, and boot/ and lib/modules/, as in a kernel package.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD, REPO, Kernel, SetupError

CONFIGS = ("debug", "kcsan", "rt", "debug-7.3")
# The configurations with fault injection.
INJECTS = ("debug", "debug-7.3")
# The configurations that look for data races: they delay an access of a CPU, so that another CPU
# may access the same data. If each emulated CPU has a thread, the other CPU does next to nothing in
# that time; if the CPUs take turns, it runs.
RACES = ("kcsan",)

_DIRECTORY = BUILD / "debug"
# The source of a configuration without a series.
_SERIES = "6.12"
_FRAGMENTS = Path(__file__).parent / "kernel"
_TAIL_LINES = 40


@cache
def kernel(config: str) -> Kernel:
    """Return the debug kernel of a configuration.

    A missing kernel is built, in some ten minutes.
    """
    name, _, series = config.partition("-")
    source = _DIRECTORY / f"linux-source-{series or _SERIES}"
    stamp = source / ".sha256"
    if not stamp.exists():
        raise SetupError(f"no kernel source in {source.relative_to(REPO)}: run scripts/setup debug")
    fragments = "".join((_FRAGMENTS / f"{part}.config").read_text() for part in ("guest", name))
    digest = hashlib.sha256((stamp.read_text() + fragments).encode()).hexdigest()[:12]
    root = _DIRECTORY / f"{config}-{digest}"
    with (_DIRECTORY / f".{config}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "boot").exists():
            for old in set(_DIRECTORY.glob(f"{config}-{'[0-9a-f]' * 12}")) - {root}:
                shutil.rmtree(old)
            _build(source, root, fragments)
    [image] = (root / "boot").glob("vmlinuz-*")
    return Kernel(image.name.removeprefix("vmlinuz-"), root, headers=root / "obj")


def _build(source: Path, root: Path, fragments: str) -> None:
    """Configure, compile and install. boot/ comes last, so it exists only if the rest is complete.

    A build that was interrupted is continued.
    """
    obj, staging = root / "obj", root / "boot.new"
    obj.mkdir(parents=True, exist_ok=True)
    staging.mkdir(exist_ok=True)
    print(f"debug kernel: building in {root.relative_to(REPO)}, some ten minutes", flush=True)
    _make(source, root, "tinyconfig")
    with (obj / ".config").open("a") as file:
        file.write(fragments)
    _make(source, root, "olddefconfig")
    check(fragments, (obj / ".config").read_text())
    _make(source, root, f"-j{os.cpu_count()}", "bzImage", "modules")
    _make(source, root, f"INSTALL_MOD_PATH={root}", "INSTALL_MOD_STRIP=1", "modules_install")
    release = (obj / "include/config/kernel.release").read_text().strip()
    shutil.copy(obj / "arch/x86/boot/bzImage", staging / f"vmlinuz-{release}")
    staging.rename(root / "boot")


def check(fragments: str, config: str) -> None:
    """Raise SetupError unless each option of the fragments is in the configuration.

    An option whose dependencies are not set would disappear silently.
    """
    have = set(config.splitlines())
    for line in fragments.splitlines():
        name, _, rest = line.removeprefix("# ").partition(" ")
        if line.startswith("CONFIG_"):
            took = line in have
        elif name.startswith("CONFIG_") and rest == "is not set":
            took = not any(other.startswith(f"{name}=") for other in have)
        else:
            continue
        if not took:
            raise SetupError(f"this kernel source doesn't take {line}: mend tests/vm/kernel")


def _make(source: Path, root: Path, *arguments: str) -> None:
    """Run the kernel's make; its output is in ROOT/make.log."""
    command = ["make", "-s", "-C", str(source), f"O={root / 'obj'}", *arguments]
    with (root / "make.log").open("a") as log:
        done = subprocess.run(
            command,
            env=os.environ | {"PATH": f"{os.environ['PATH']}:/sbin:/usr/sbin"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        tail = "\n".join((root / "make.log").read_text().splitlines()[-_TAIL_LINES:])
        raise SetupError(f"{' '.join(command)} failed:\n{tail}")
