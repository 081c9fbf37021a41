"""How far a set of parallel runs is: one line kept up to date on a terminal, a few in a log."""

import sys
import threading
import time
from typing import TextIO

# How far apart lines in a log are.
_LOG_SECONDS = 10.0

# No estimate is worth anything before this share is done.
_ESTIMATE_FROM = 0.1


class Progress:
    """Parts of equal weight, told from several threads.

    names: of the parts; each goes from 0 to 1 by advance().
    """

    def __init__(self, names: list[str], out: TextIO = sys.stderr) -> None:
        self._done = dict.fromkeys(names, 0.0)
        self._out = out
        self._begin = time.monotonic()
        self._next = self._begin + _LOG_SECONDS
        self._lock = threading.Lock()

    def advance(self, name: str, share: float) -> None:
        """A part is done to this share."""
        with self._lock:
            self._done[name] = max(self._done[name], min(share, 1.0))
            now = time.monotonic()
            line = describe(self._done, now - self._begin)
            if self._out.isatty():
                self._out.write(f"\r{line}\x1b[K")
                self._out.flush()
            elif now >= self._next:
                self._out.write(f"{line}\n")
                self._out.flush()
                self._next = now + _LOG_SECONDS

    def close(self) -> None:
        """No more is said; what follows begins on a line of its own."""
        with self._lock:
            if self._out.isatty():
                self._out.write("\r\x1b[K")
                self._out.flush()


def describe(done: dict[str, float], elapsed: float) -> str:
    """One line: each part's share, and how long the rest will take if it goes on like this."""
    parts = "  ".join(f"{name} {share:4.0%}" for name, share in done.items())
    overall = sum(done.values()) / len(done)
    if overall < _ESTIMATE_FROM:
        return f"{parts}  {_clock(round(elapsed))} passed"
    left = round(elapsed * (1 - overall) / overall)
    return f"{parts}  {_clock(round(elapsed))} passed, about {_clock(left)} left"


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"
