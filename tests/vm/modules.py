"""The modules under test, built for a guest's kernel."""

import fcntl
import subprocess
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD, REPO, Kernel, SetupError

_TAIL_LINES = 40


@cache
def build(kernel: Kernel) -> dict[str, Path]:
    """Build htbs.ko and simdisk.ko once per session. Return them as the `files` of a Guest."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".modules.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make(*_variables(kernel))
        _make("simdisk", *_variables(kernel))
    return {name: BUILD / kernel.version / name for name in ("htbs.ko", "simdisk.ko")}


@cache
def build_paper(kernel: Kernel) -> Path:
    """Build htbs-paper.ko, the elevator with the paper's rule."""
    good = build(kernel)["htbs.ko"].parent
    with (BUILD / ".modules.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make("paper", *_variables(kernel))
    return good / "htbs-paper.ko"


def _variables(kernel: Kernel) -> list[str]:
    """Return the Makefile variables for a kernel."""
    headers = [f"KDIR={kernel.headers}"] if kernel.headers else []
    return [f"KVER={kernel.version}", *headers]


def _make(*arguments: str) -> None:
    command = ["make", "-s", *arguments]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_TAIL_LINES:])
        raise SetupError(f"{' '.join(command)} failed, mend what it says:\n{tail}")
