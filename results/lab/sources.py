"""Of which state of the sources the modules of a run are made."""

import subprocess

from tests.vm.kernels import REPO

_PARTS = (
    *("Kbuild", "htbs/*.[ch]", "include/*.h", "sysfs/*.[ch]"),
    *("tests/paper/*.c", "tests/paper/Kbuild", "tests/simdisk/*.[ch]", "tests/simdisk/Kbuild"),
)


def commit() -> str:
    """The last commit that changed them, with "+" if files differ from it; empty without git."""
    try:
        last = _git("log", "-1", "--format=%h", "--abbrev=12")
        changed = _git("status", "--porcelain")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{last}+" if changed else last


def _git(*arguments: str) -> str:
    """What git says of the sources."""
    command = ["git", *arguments, "--", *_PARTS]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    return done.stdout.strip()
