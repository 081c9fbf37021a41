"""The guests of a test session: one boot per module and kernel, two at a time.

They boot while tests that need no guest run, so that no CPU is idle.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import pytest

from tests.vm import Result

_AT_A_TIME = 2


class Bootable(Protocol):
    """The type of a test module's GUEST."""

    def run(self, series: str) -> Result:
        """Boot a kernel and run the script in it."""


class Guests:
    """The guests of a session, by what is booted and the kernel's series."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_AT_A_TIME)
        self._runs: dict[tuple[Bootable, str], Future[Result]] = {}

    def start(self, boot: Bootable, series: str) -> None:
        """Queue a guest unless it is queued already."""
        if (boot, series) not in self._runs:
            self._runs[boot, series] = self._pool.submit(boot.run, series)

    def result(self, boot: Bootable, series: str) -> Result:
        """Wait for a guest, and return its result or raise the exception of its run."""
        return self._runs[boot, series].result()

    def end(self) -> None:
        """Wait for the running guests, and cancel the others."""
        self._pool.shutdown(cancel_futures=True)


GUESTS = pytest.StashKey[Guests]()


def wanted(item: pytest.Item) -> bool:
    """Return true if a test needs one of these guests."""
    return "result" in getattr(item, "fixturenames", ())


def start(session: pytest.Session) -> Guests:
    """Queue all guests that the selected tests need, once."""
    if GUESTS not in session.stash:
        session.stash[GUESTS] = Guests()
        for item in session.items:
            if wanted(item) and item.get_closest_marker("skip") is None:
                session.stash[GUESTS].start(item.module.GUEST, item.callspec.params["series"])
    return session.stash[GUESTS]
