"""Show the progress of parallel runs: a line that is updated on a terminal, or lines in a log."""

import sys
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TextIO

# Time between lines in a log.
_LOG_SECONDS = 10.0

# There is no estimate before this share is done.
_ESTIMATE_FROM = 0.1

# With more parts than this, only the running ones are listed.
_NAMED = 4


class Progress:
    """The shares done of several parts, which threads report.

    names: of the parts, or their weights by name; advance() takes each from 0 to 1.
    """

    def __init__(self, names: Iterable[str] | Mapping[str, float], out: TextIO = sys.stderr):
        self._weights = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, 1.0)
        self._done = dict.fromkeys(self._weights, 0.0)
        self._out = out
        self._begin = time.monotonic()
        self._next = self._begin + _LOG_SECONDS
        self._lock = threading.Lock()

    def advance(self, name: str, share: float) -> None:
        """Set the share of a part that is done."""
        with self._lock:
            self._done[name] = max(self._done[name], min(share, 1.0))
            now = time.monotonic()
            line = describe(self._done, now - self._begin, self._weights)
            if self._out.isatty():
                self._out.write(f"\r{line}\x1b[K")
                self._out.flush()
            elif now >= self._next:
                self._out.write(f"{line}\n")
                self._out.flush()
                self._next = now + _LOG_SECONDS

    def close(self) -> None:
        """End the line, so that later output begins on its own line."""
        with self._lock:
            if self._out.isatty():
                self._out.write("\r\x1b[K")
                self._out.flush()


def describe(
    done: Mapping[str, float], elapsed: float, weights: Mapping[str, float] | None = None
) -> str:
    """Return a line with the share of each part and an estimate of the time left."""
    weights = weights or dict.fromkeys(done, 1.0)
    parts = "  ".join(f"{name} {share:4.0%}" for name, share in _shown(done).items())
    if len(done) > _NAMED:
        parts = f"{sum(share >= 1 for share in done.values())} of {len(done)} done  {parts}"
    overall = sum(weights[name] * share for name, share in done.items()) / sum(weights.values())
    if overall < _ESTIMATE_FROM:
        return f"{parts}  {clock(elapsed)} passed"
    left = elapsed * (1 - overall) / overall
    return f"{parts}  {clock(elapsed)} passed, about {clock(left)} left"


def _shown(done: Mapping[str, float]) -> Mapping[str, float]:
    if len(done) <= _NAMED:
        return done
    return {name: share for name, share in done.items() if 0 < share < 1}


def clock(seconds: float) -> str:
    """Format minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02}"
