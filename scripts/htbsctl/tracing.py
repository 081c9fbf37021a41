"""A separate instance of ftrace, which does not disturb other tracing."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from htbsctl.failure import Failure
from htbsctl.host import Host, put

TRACEFS = Path("/sys/kernel/tracing")
_MISSED = "LOST"
#: The prefix of all names of directories and synthetic events; the suffix is the process number.
_OURS = "htbsctl"
_BUSY_SECONDS = 5


class Instance:
    """A context with a directory in instances/. Raises Failure without tracefs or the module."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._directory = TRACEFS / "instances" / f"{_OURS}-{os.getpid()}"
        self._triggers: list[tuple[str, str]] = []
        self._synthetic: list[str] = []

    def __enter__(self) -> "Instance":
        if not self._host.exists(TRACEFS / "events/htbs"):
            raise Failure("htbs tracepoints not found", "run it as root, with a disk on HTBS")
        self._tidy()
        try:
            self._host.path(self._directory).mkdir()
        except OSError as error:
            raise self._host.failure("make", self._directory, error) from None
        except BaseException:
            # A signal came; if it comes later, before the caller's first line, the directory is
            # left.
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove all, last first, because one trigger refers to another.

        rmdir also removes an instance's triggers, but not their references to a synthetic event.
        """
        for event, _ in reversed(self._triggers):
            _empty(self._host.path(self._event(event) / "trigger"))
        _retry(self._host.path(self._directory).rmdir)
        for name in self._synthetic:
            self._undefine(name)

    def _tidy(self) -> None:
        """Remove the directory and the synthetic event of a process that was killed."""
        for path in self._host.path(TRACEFS / "instances").glob(f"{_OURS}-*"):
            if self._ended(path.name.rpartition("-")[2]):
                # A synthetic event to which another trigger refers is busy until that trigger is
                # gone.
                for event in ("synthetic/*", "htbs/htbs_complete", "htbs/htbs_arrive"):
                    for trigger in path.glob(f"events/{event}/trigger"):
                        _empty(trigger)
                _retry(path.rmdir)
        for line in self._host.read_or(TRACEFS / "synthetic_events").split("\n"):
            name = line.split("\t")[0].split(" ")[0]
            if name.startswith(f"{_OURS}_") and self._ended(name.rpartition("_")[2]):
                self._undefine(name)

    def _ended(self, pid: str) -> bool:
        return pid.isdecimal() and not self._host.exists(f"/proc/{pid}")

    def _undefine(self, name: str) -> None:
        events = self._host.path(TRACEFS / "synthetic_events")
        _retry(lambda: put(events, f"!{name}", os.O_APPEND))

    def define(self, name: str, fields: str) -> None:
        """Define a synthetic event, with a name that ends in _PID. Raises Failure."""
        # Note it before it is defined, because a signal may come in between.
        self._synthetic.append(name)
        self._host.append(TRACEFS / "synthetic_events", f"{name} {fields}")

    def trigger(self, event: str, trigger: str) -> None:
        """Set a trigger of an event, GROUP/NAME. Raises Failure."""
        # Opening the file with truncation would remove the others.
        self._triggers.append((event, trigger))
        self._host.append(self._event(event) / "trigger", trigger)

    def clear(self, event: str) -> None:
        """Let an event's hist triggers count from 0 again."""
        for name, trigger in self._triggers:
            if name == event:
                head, condition, rest = trigger.partition(" if ")
                self._host.append(self._event(event) / "trigger", f"{head}:clear{condition}{rest}")

    def histogram(self, event: str) -> str:
        """Return what an event's hist triggers have counted."""
        return self._host.read(self._event(event) / "hist")

    def record(self, event: str, condition: str) -> None:
        """Record an event if it meets a condition."""
        self._host.write(self._event(event) / "filter", condition)
        self._host.write(self._event(event) / "enable", "1")

    def records(self) -> Iterator[str]:
        """Yield the lines recorded since the last call. Raises Failure if some were lost."""
        handle = os.open(
            self._host.path(self._directory / "trace_pipe"), os.O_RDONLY | os.O_NONBLOCK
        )
        rest = ""
        with os.fdopen(handle, "rb", buffering=0) as pipe:
            while chunk := pipe.read(1 << 16):
                *lines, rest = (rest + chunk.decode(errors="replace")).split("\n")
                for line in lines:
                    if _MISSED in line:
                        raise Failure("events were lost", "record for a shorter time")
                    yield line

    def _event(self, name: str) -> Path:
        return self._directory / "events" / name


def _retry(remove: Callable[[], None]) -> None:
    """Remove something unless it is gone. If it stays busy, the next cleanup removes it.

    In 7.3 a kernel thread frees removed triggers (trigger_kthread_fn); the instance and the
    synthetic event that they used are busy until then.
    """
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return remove()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                return None
            time.sleep(0.02)


def _empty(trigger: Path) -> None:
    """Remove an event's triggers, by opening the file with truncation."""
    with suppress(OSError), trigger.open("w"):
        pass
