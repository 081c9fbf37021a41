"""Guests of the functional tests: one boot per module and kernel, two at a time.

A module says what to boot:

    GUEST = Boot("switch", clock="real")

and its tests take `result`, what scripts/switch.sh left behind on each kernel series. All guests
that the selected tests want are queued when the first of them asks.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.vm import Result
from tests.vm.functional import SERIES, Boot

_AT_A_TIME = 2


class Guests:
    """The guests of a session, by what to boot and the kernel's series."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._runs: dict[tuple[Boot, str], Future[Result]] = {}

    def start(self, boot: Boot, series: str) -> None:
        """Queue a guest unless it is already."""
        if (boot, series) not in self._runs:
            self._runs[boot, series] = self._pool.submit(boot.run, series)

    def result(self, boot: Boot, series: str) -> Result:
        """Wait for a guest; raises what its run raised."""
        return self._runs[boot, series].result()


@pytest.fixture(scope="session")
def guests(request: pytest.FixtureRequest) -> Iterator[Guests]:
    """All guests of the session; those that nobody waits for any more don't start."""
    pool = ThreadPoolExecutor(_AT_A_TIME)
    guests = Guests(pool)
    for item in request.session.items:
        if "result" in getattr(item, "fixturenames", ()):
            guests.start(item.module.GUEST, item.callspec.params["series"])
    yield guests
    pool.shutdown(cancel_futures=True)


@pytest.fixture(params=SERIES)
def series(request: pytest.FixtureRequest) -> str:
    """The series of the guest's kernel."""
    return request.param


@pytest.fixture
def result(guests: Guests, series: str, request: pytest.FixtureRequest) -> Result:
    """What the module's guest left behind."""
    return guests.result(request.module.GUEST, series)
