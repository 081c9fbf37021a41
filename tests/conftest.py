"""What all tests share: the cheap ones first; the guests of the functional ones.

A test module that wants a guest says what to boot:

    GUEST = Boot("merge")

and its tests take `result`, what scripts/merge.sh left behind on each of --kernels. All guests
that the selected tests want are queued when the first of them asks, and run two at a time.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import pytest

from tests.vm import Result
from tests.vm.functional import SERIES

_AT_A_TIME = 2


class Bootable(Protocol):
    """What a test module's GUEST is."""

    def run(self, series: str) -> Result:
        """Boot a kernel and run what is to be run in it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the kernels be chosen."""
    parser.addoption(
        "--kernels",
        default=",".join(SERIES),
        help="series of stock kernels, or debug, kcsan; with commas (%(default)s)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have `series` for each kernel, and `row` for each row of the module's Batch."""
    series = metafunc.config.getoption("kernels").split(",")
    if "result" in metafunc.fixturenames:
        metafunc.parametrize("series", series)
    if "row" in metafunc.fixturenames:
        rows = metafunc.module.GUEST.rows(series[0])
        metafunc.parametrize("row", [row.name for row in rows])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests that boot no guest first; those that don't boot --kernels, not at all."""
    if config.getoption("kernels") != ",".join(SERIES):
        items[:] = [item for item in items if "result" in getattr(item, "fixturenames", ())]
    items.sort(key=lambda item: item.get_closest_marker("guest") is not None)


class Guests:
    """The guests of a session, by what to boot and the kernel's series."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._runs: dict[tuple[Bootable, str], Future[Result]] = {}

    def start(self, boot: Bootable, series: str) -> None:
        """Queue a guest unless it is already."""
        if (boot, series) not in self._runs:
            self._runs[boot, series] = self._pool.submit(boot.run, series)

    def result(self, boot: Bootable, series: str) -> Result:
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


@pytest.fixture
def result(guests: Guests, series: str, request: pytest.FixtureRequest) -> Result:
    """What the module's guest left behind."""
    return guests.result(request.module.GUEST, series)
