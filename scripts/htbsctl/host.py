"""The host as htbsctl sees it: its files and its programs."""

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from htbsctl.failure import Failure

_ROOT_NEEDED = "run it as root"
# Seconds for a program that htbsctl asks.
_PATIENCE = 10
#: Seconds for one that starts a service: systemd runs its generators first.
PATIENCE_START = 90


class Mount(NamedTuple):
    """A line of /proc/self/mountinfo; options are the file system's own."""

    point: str
    kind: str
    source: str
    options: str


def printable(text: str) -> str:
    """A name that others chose, without what a terminal would act on."""
    text = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)


def put(path: Path, text: str, how: int) -> None:
    """Write a line. Raises OSError.

    how: O_TRUNC, or O_APPEND: the mode "a" of open() seeks to the end, which ftrace's files refuse.
    """
    handle = os.open(path, os.O_WRONLY | how)
    try:
        os.write(handle, f"{text}\n".encode())
    finally:
        os.close(handle)


class Host:
    """A tree of files, / but in tests, and the programs of the machine."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, name: str | Path) -> Path:
        """Where the file with an absolute name is."""
        return self.root / str(name).lstrip("/")

    def name(self, path: Path) -> str:
        """The inverse of path()."""
        return "/" + str(path.relative_to(self.root))

    def real(self, name: str | Path) -> str:
        """The absolute name of a file without links, from the current directory if relative.

        Raises Failure if that is needed, and was deleted.
        """
        try:
            absolute = Path(name) if Path(name).is_absolute() else Path.cwd() / name
        except OSError as error:
            remedies = {errno.ENOENT: "the current directory was deleted, cd to another"}
            raise self.failure("find", name, error, remedies=remedies) from None
        found = os.path.realpath(self.path(absolute))
        root = os.path.realpath(self.root)
        return "/" + os.path.relpath(found, root) if found.startswith(root) else str(absolute)

    def exists(self, name: str | Path) -> bool:
        """Whether there is such a file; no, if it is not for us to see."""
        return os.path.exists(self.path(name))  # noqa: PTH110 - Path's raises

    def read(self, name: str | Path) -> str:
        """The text of a file. Raises Failure, which names it and the errno."""
        try:
            return self.path(name).read_text(errors="replace")
        except OSError as error:
            raise self.failure("read", name, error) from None

    def read_or(self, name: str | Path, default: str = "") -> str:
        """The text of a file, or a default if it is not there or not for us."""
        try:
            return self.path(name).read_text(errors="replace")
        except OSError:
            return default

    def write(
        self, name: str | Path, text: str, remedies: Mapping[int, str] | None = None
    ) -> None:
        """Write to a file of the kernel by one write(2).

        remedies: what to do about an errno. Raises Failure, which names file and errno.
        """
        self._put(name, text, os.O_TRUNC, remedies)

    def append(self, name: str | Path, text: str) -> None:
        """The same for files of which O_TRUNC removes what is there, as ftrace's."""
        self._put(name, text, os.O_APPEND, None)

    def _put(
        self, name: str | Path, text: str, how: int, remedies: Mapping[int, str] | None
    ) -> None:
        try:
            put(self.path(name), text, how)
        except OSError as error:
            raise self.failure("write", name, error, text, remedies) from None

    def failure(
        self,
        verb: str,
        name: str | Path,
        error: OSError,
        text: str = "",
        remedies: Mapping[int, str] | None = None,
    ) -> Failure:
        """What an errno means for a person."""
        number = error.errno or 0
        words = f"cannot {verb} {f'{text!r} to ' if text else ''}{name}"
        code = errno.errorcode.get(number, str(number))
        default = _ROOT_NEEDED if number in (errno.EACCES, errno.EPERM) else os.strerror(number)
        return Failure(f"{words}: {code}", (remedies or {}).get(number, default))

    def has(self, program: str) -> bool:
        """Whether a program is installed."""
        return shutil.which(program) is not None

    def ask(self, *command: str, patience: float = _PATIENCE) -> str | None:
        """What a program prints, without the last newline, or None if it fails or is not there."""
        try:
            done = self.run(command, patience)
        except FileNotFoundError:
            return None
        return None if done.returncode else done.stdout.rstrip("\n")

    def do(self, *command: str, remedy: str = "") -> str:
        """The same, but raises Failure with what the program said."""
        try:
            done = self.run(command)
        except FileNotFoundError:
            raise Failure(f"no {command[0]}", remedy or f"install {command[0]}") from None
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            why = said[-1] if said else f"exit code {done.returncode}"
            raise Failure(f"{' '.join(command)}: {why}", remedy)
        return done.stdout.rstrip("\n")

    def run(
        self, command: Sequence[str], patience: float = _PATIENCE
    ) -> subprocess.CompletedProcess:
        """Run a program without a terminal; tests replace it. Raises Failure if it hangs."""
        try:
            return subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            what = f"{' '.join(command)}: no answer in {patience:g} s"
            raise Failure(what, "try again") from None

    def mounts(self) -> Iterator[Mount]:
        """What is mounted, in the order of /proc/self/mountinfo."""
        for line in self.read("/proc/self/mountinfo").split("\n"):
            left, separator, right = line.partition(" - ")
            if separator:
                kind, source, options = right.split(" ")[:3]
                yield Mount(_decoded(left.split(" ")[4]), kind, _decoded(source), options)


def _decoded(text: str) -> str:
    """The kernel writes blanks and backslashes as three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
