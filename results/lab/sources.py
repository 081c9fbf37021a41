"""Find the commit that the modules of a run are made of."""

import subprocess

from tests.vm.kernels import REPO

_PARTS = (
    *("Kbuild", "htbs/*.[ch]", "include/*.h", "sysfs/*.[ch]"),
    *("tests/paper/*.c", "tests/paper/Kbuild", "tests/simdisk/*.[ch]", "tests/simdisk/Kbuild"),
)


def commit() -> str:
    """Return the last commit of the sources, with "+" if files differ; empty without git."""
    try:
        last = _git("log", "-1", "--format=%h", "--abbrev=12")
        changed = _git("status", "--porcelain")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{last}+" if changed else last


def _git(*arguments: str) -> str:
    """Return what git says about the sources."""
    command = ["git", *arguments, "--", *_PARTS]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    return done.stdout.strip()
