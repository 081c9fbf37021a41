"""The modules under test, built for a guest's kernel."""

import fcntl
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD, REPO, Kernel, SetupError

_TAIL_LINES = 40


@cache
def build(kernel: Kernel) -> dict[str, Path]:
    """Build htbs.ko and simdisk.ko once per session; the result is a `files` of Guest."""
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


def build_miscounting(kernel: Kernel) -> Path:
    """Build htbs.ko as if this kernel counted tags the other way: it must not be loaded."""
    good = build(kernel)["htbs.ko"].parent
    tree = BUILD / "miscounting" / kernel.version
    with (BUILD / ".modules.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(good, tree, symlinks=True)
        header = tree / "include/generated/htbs-private.h"
        text, flipped = re.subn(
            r"(?m)^(#define HTBS_SHALLOW_DEPTH_OF_MAP) ([01])$",
            lambda found: f"{found[1]} {1 - int(found[2])}",
            header.read_text(),
        )
        if not flipped:
            raise SetupError(f"{header} doesn't say how tags are counted")
        header.write_text(text)
        _make("modules", f"TREE={tree.relative_to(REPO)}", *_variables(kernel))
    return tree / "htbs.ko"


def _variables(kernel: Kernel) -> list[str]:
    """What the Makefile has to know of a kernel."""
    headers = [f"KDIR={kernel.headers}"] if kernel.headers else []
    return [f"KVER={kernel.version}", *headers]


def _make(*arguments: str) -> None:
    command = ["make", "-s", *arguments]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_TAIL_LINES:])
        raise SetupError(f"{' '.join(command)} failed, mend what it says:\n{tail}")
