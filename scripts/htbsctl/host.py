"""The host's files and programs, as htbsctl uses them."""

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
# Seconds that a program has to answer.
_PATIENCE = 10
#: Seconds for a program that starts a service: systemd runs its generators first.
PATIENCE_START = 90


class Mount(NamedTuple):
    """A line of /proc/self/mountinfo; options are those of the file system."""

    point: str
    kind: str
    source: str
    options: str


def printable(text: str) -> str:
    """Return a name without control sequences for terminals."""
    text = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)


def put(path: Path, text: str, how: int) -> None:
    """Write a line. Raises OSError.

    how: O_TRUNC or O_APPEND. The mode "a" of open() would seek to the end, which ftrace's files
    refuse.
    """
    handle = os.open(path, os.O_WRONLY | how)
    try:
        os.write(handle, f"{text}\n".encode())
    finally:
        os.close(handle)


class Host:
    """A tree of files, which is / except in tests, and the programs of the machine."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, name: str | Path) -> Path:
        """Return the path of the file with an absolute name."""
        return self.root / str(name).lstrip("/")

    def name(self, path: Path) -> str:
        """Return the name of a path, the inverse of path()."""
        return "/" + str(path.relative_to(self.root))

    def real(self, name: str | Path) -> str:
        """Return the absolute name of a file without links; relative to the current directory.

        Raises Failure if the current directory is needed, and was deleted.
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
        """Return true if a file exists; false if it cannot be seen without more rights."""
        return os.path.exists(self.path(name))  # noqa: PTH110 - Path's raises

    def read(self, name: str | Path) -> str:
        """Return the text of a file. Raises Failure, which names the file and the errno."""
        try:
            return self.path(name).read_text(errors="replace")
        except OSError as error:
            raise self.failure("read", name, error) from None

    def read_or(self, name: str | Path, default: str = "") -> str:
        """Return the text of a file, or a default if it does not exist or cannot be read."""
        try:
            return self.path(name).read_text(errors="replace")
        except OSError:
            return default

    def write(
        self, name: str | Path, text: str, remedies: Mapping[int, str] | None = None
    ) -> None:
        """Write to a file of the kernel with a single write(2).

        remedies: what to do about an errno. Raises Failure, which names the file and the errno.
        """
        self._put(name, text, os.O_TRUNC, remedies)

    def append(self, name: str | Path, text: str) -> None:
        """Append to a file whose content O_TRUNC would remove, such as ftrace's."""
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
        """Return a failure that explains an errno to a person."""
        number = error.errno or 0
        words = f"cannot {verb} {f'{text!r} to ' if text else ''}{name}"
        code = errno.errorcode.get(number, str(number))
        default = _ROOT_NEEDED if number in (errno.EACCES, errno.EPERM) else os.strerror(number)
        return Failure(f"{words}: {code}", (remedies or {}).get(number, default))

    def has(self, program: str) -> bool:
        """Return true if a program is installed."""
        return shutil.which(program) is not None

    def ask(self, *command: str, patience: float = _PATIENCE) -> str | None:
        """Return a program's output without the last newline, or None if it fails or is missing."""
        try:
            done = self.run(command, patience)
        except FileNotFoundError:
            return None
        return None if done.returncode else done.stdout.rstrip("\n")

    def do(self, *command: str, remedy: str = "") -> str:
        """Return a program's output. Raises Failure with its error message."""
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
        """Yield the mounts, in the order of /proc/self/mountinfo."""
        for line in self.read("/proc/self/mountinfo").split("\n"):
            left, separator, right = line.partition(" - ")
            if separator:
                kind, source, options = right.split(" ")[:3]
                yield Mount(_decoded(left.split(" ")[4]), kind, _decoded(source), options)


def _decoded(text: str) -> str:
    """The kernel writes blanks and backslashes as three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
