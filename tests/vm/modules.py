"""The modules under test, built for a guest's kernel."""

import fcntl
import subprocess
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD, REPO, Kernel, SetupError

_TAIL_LINES = 40


@cache
def build(kernel: Kernel) -> dict[str, Path]:
    """Build htbs.ko and simdisk.ko once per session; the result is a `files` of Guest."""
    BUILD.mkdir(exist_ok=True)
    variables = [f"KVER={kernel.version}"]
    if kernel.headers:
        variables += [f"KDIR={kernel.headers}"]
    with (BUILD / ".modules.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make(*variables)
        _make("simdisk", *variables)
    return {name: BUILD / kernel.version / name for name in ("htbs.ko", "simdisk.ko")}


def _make(*arguments: str) -> None:
    command = ["make", "-s", *arguments]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_TAIL_LINES:])
        raise SetupError(f"{' '.join(command)} failed, mend what it says:\n{tail}")
