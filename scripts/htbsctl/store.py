"""The state that is kept over reboots: /etc/htbs/htbs.conf, which may be edited, too.

    device DEVICE [KEY=VALUE…]           on HTBS, with these attributes of its queue
    reserve TARGET DEVICE KEY=VALUE…     a reservation, as in io.htbs, with units

The file is replaced as a whole, or not at all; comments and order are kept.
"""

import errno
import fcntl
import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from htbsctl import quantity
from htbsctl.disks import ATTRIBUTES
from htbsctl.failure import Failure
from htbsctl.host import Host
from htbsctl.reservation import Reservation

FILE = Path("/etc/htbs/htbs.conf")
# Not beside the file, whose file system may be read-only.
LOCK = Path("/run/htbsctl.lock")
_Words, _Value = TypeVar("_Words"), TypeVar("_Value")
_REMEDIES = {
    errno.ENOSPC: f"make room on the file system of {FILE.parent}",
    errno.EROFS: f"make {FILE.parent} writable, or use enable and reserve with --now",
}
_HEAD = "# Kept by htbsctl, which applies it. After an edit by hand: systemctl reload htbs\n"


class Store:
    """The lines of the file."""

    def __init__(self, host: Host) -> None:
        self._host = host
        # Some editors end lines with \r\n.
        self._lines = [line.removesuffix("\r") for line in self._read().split("\n")[:-1]]
        # Errors of the file are found here, before anything is changed.
        self._before = self.devices(), self.reservations()

    def _read(self) -> str:
        """Return the text; bytes that cannot be decoded are preserved."""
        try:
            text = self._host.path(FILE).read_bytes().decode(errors="surrogateescape")
        except FileNotFoundError:
            text = _HEAD
        except OSError as error:
            raise self._host.failure("read", FILE, error) from None
        return text if text.endswith("\n") else f"{text}\n"

    @property
    def changed(self) -> bool:
        """Return true if the devices or reservations to be saved have changed."""
        return (self.devices(), self.reservations()) != self._before

    def devices(self) -> dict[str, dict[str, str]]:
        """Return the attributes of each device that is to be on HTBS."""
        found = {}
        for at, words in self._words("device"):
            if len(words) < 2:
                raise self._bad(at, "it must be device DEVICE [KEY=VALUE…]")
            pairs = [word.partition("=") for word in words[2:]]
            for key, _, value in pairs:
                if key not in ATTRIBUTES or not re.fullmatch("[0-9]+", value):
                    raise self._bad(at, f"give KEY=NUMBER; valid keys: {', '.join(ATTRIBUTES)}")
                if key == "nr_requests":
                    self._at(at, quantity.requests, value)
            self._once(at, words[1] in found)
            found[words[1]] = {key: value for key, _, value in pairs}
        return found

    def reservations(self) -> dict[tuple[str, str], Reservation]:
        """Return the reservation of each target and device."""
        found = {}
        for at, words in self._words("reserve"):
            if len(words) < 4:
                raise self._bad(at, "it must be reserve TARGET DEVICE KEY=VALUE…")
            self._once(at, (words[1], words[2]) in found)
            found[words[1], words[2]] = self._at(at, Reservation.read, words[3:])
        return found

    def set_device(self, device: str, attributes: dict[str, str]) -> None:
        """Keep a device on HTBS, with these attributes and those that were kept before."""
        every = self.devices().get(device, {}) | attributes
        self._set(["device", device], [f"{key}={value}" for key, value in every.items()])

    def forget_device(self, device: str) -> None:
        """Do not keep a device on HTBS any more."""
        self._set(["device", device], None)

    def set_reservation(self, target: str, device: str, reservation: Reservation | None) -> None:
        """Keep a reservation; None: do not keep it any more."""
        words = reservation.exact().split() if reservation else None
        self._set(["reserve", target, device], words)

    @contextmanager
    def saved(self) -> Iterator[None]:
        """Replace the file once the actions of the context have been done.

        Steps that can fail for lack of space come before it. If one of them or the context fails,
        the old file stays. Raises Failure.
        """
        # A link to a file elsewhere remains a link.
        path = self._host.path(self._host.real(FILE))
        new = path.with_name(f"{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with new.open("w", errors="surrogateescape") as file:
                if path.exists():
                    shutil.copystat(path, new)
                file.write("".join(f"{line}\n" for line in self._lines))
                file.flush()
                os.fsync(file.fileno())
            with _undisturbed():
                yield
                new.replace(path)
            _sync(path.parent)
        except OSError as error:
            raise self._host.failure("write", FILE, error, remedies=_REMEDIES) from None
        finally:
            # It does not exist if it could not be created.
            with suppress(OSError):
                new.unlink(missing_ok=True)

    def _words(self, kind: str) -> Iterator[tuple[int, list[str]]]:
        for at, line in enumerate(self._lines):
            try:
                words = shlex.split(line, comments=True)
            except ValueError as error:
                raise Failure(f"{FILE}:{at + 1}: {error}", "correct the line") from None
            if words and words[0] not in ("device", "reserve"):
                raise self._bad(at, "the first word must be device or reserve")
            if words and words[0] == kind:
                yield at, words

    def _at(self, at: int, read: Callable[[_Words], _Value], words: _Words) -> _Value:
        """Parse some words of a line. Raises Failure, which names the line."""
        try:
            return read(words)
        except Failure as failure:
            raise Failure(f"{FILE}:{at + 1}: {failure}") from None

    def _once(self, at: int, again: bool) -> None:
        """Check that no other line has the same words. Raises Failure, which names the line."""
        if again:
            what = f"{FILE}:{at + 1}: duplicate line {self._lines[at]!r}"
            raise Failure(what, "merge the two lines")

    def _bad(self, at: int, remedy: str) -> Failure:
        what = f"{FILE}:{at + 1}: cannot read {self._lines[at]!r}"
        return Failure(what, remedy)

    def _set(self, head: list[str], words: list[str] | None) -> None:
        """Replace the line with the same head, or append one; None: remove the line.

        Its comment stays, and the whole line if its words are the same.
        """
        if words is not None and any(end in word for word in head for end in "\r\n"):
            raise Failure(f"{head[1]!r} contains a newline, which {FILE} cannot store", "rename it")
        same = [(at, old) for at, old in self._words(head[0]) if old[: len(head)] == head]
        at, old = same[0] if same else (len(self._lines), None)
        if words is None:
            del self._lines[at : at + 1]
        elif old != [*head, *words]:
            comment = _comment(self._lines[at], old) if old else ""
            self._lines[at : at + 1] = [shlex.join([*head, *words]) + comment]


def _comment(line: str, words: list[str]) -> str:
    """Return what follows the words of a line."""
    for at in (found.start() for found in re.finditer(r"\s*#", line)):
        with suppress(ValueError):
            if shlex.split(line[:at]) == words:
                return line[at:]
    return ""


@contextmanager
def locked(host: Host, dry_run: bool = False) -> Iterator[Store]:
    """Return the store, locked against other htbsctl; dry_run: without a lock."""
    if dry_run:
        yield Store(host)
        return
    path = host.path(LOCK)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise host.failure("write", LOCK, error) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield Store(host)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Block signals meanwhile: kernel and file are both old, or both new."""
    caught = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, caught)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
