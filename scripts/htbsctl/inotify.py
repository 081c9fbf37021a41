"""inotify(7) for all directories below one, which Python's library does not have."""

import ctypes
import errno
import os
import select
import time
from contextlib import suppress
from pathlib import Path

from htbsctl.failure import Failure

_CREATE, _MOVED_TO, _ONLYDIR = 0x100, 0x80, 0x01000000
_READ = 1 << 16
_REMEDIES = {
    errno.ENOSPC: "raise fs.inotify.max_user_watches by sysctl",
    errno.EMFILE: "raise fs.inotify.max_user_instances by sysctl",
    errno.EACCES: "run it as root",
}


class Directories:
    """A context that notices when a directory is created, for select()."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._handle = -1

    def __enter__(self) -> "Directories":
        self._handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            raise _failure()
        self._watch_all()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def fileno(self) -> int:
        """For select(); ready when a directory was created."""
        return self._handle

    def settle(self, seconds: float) -> None:
        """Wait until no directory was created for some seconds, at most ten times as long."""
        end = time.monotonic() + 10 * seconds
        while time.monotonic() < end and select.select([self], [], [], seconds)[0]:
            with suppress(BlockingIOError):
                while os.read(self._handle, _READ):
                    pass
        self._watch_all()

    def _watch_all(self) -> None:
        """Watch a directory before reading it, so that none is missed; twice does no harm."""
        left = [self._top]
        while left:
            directory = left.pop()
            self._watch(directory)
            # A cgroup may have been removed.
            with suppress(OSError), os.scandir(directory) as entries:
                left += [Path(each) for each in entries if each.is_dir(follow_symlinks=False)]

    def _watch(self, directory: Path) -> None:
        flags = _CREATE | _MOVED_TO | _ONLYDIR
        watch = self._libc.inotify_add_watch(self._handle, os.fsencode(directory), flags)
        # It is gone, or its path is longer than the kernel accepts.
        if watch < 0 and ctypes.get_errno() not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise _failure()


def _failure() -> Failure:
    number = ctypes.get_errno()
    return Failure(f"inotify: {os.strerror(number)}", _REMEDIES.get(number, "try again"))
