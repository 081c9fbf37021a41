"""What all tests share: tests that build modules come first, then short ones, beside guests.

A test module that needs a guest says what to boot:

    GUEST = Boot("merge")

Its tests take `result`, the files of scripts/merge.sh on each of --kernels. A module that is marked
`one_kernel` takes long and depends little on the kernel: it boots MAIN only, unless --kernels names
others, as in `make test-kernels`.
"""

import pytest

from tests.vm import Result, debug, queue
from tests.vm.functional import MAIN, SERIES, Boot, find_kernel


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that selects kernels."""
    parser.addoption(
        "--kernels",
        default=",".join(SERIES),
        help=f"stock kernels, or debug, kcsan, rt; with commas (%(default)s; long tests: {MAIN})",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize `series` by the kernels, and `row` by the rows of the module's Batch, or None."""
    series = metafunc.config.getoption("kernels").split(",")
    if "result" in metafunc.fixturenames:
        one = metafunc.definition.get_closest_marker("one_kernel") is not None
        metafunc.parametrize("series", [MAIN] if one and series == list(SERIES) else series)
    if "row" in metafunc.fixturenames:
        rows = metafunc.module.GUEST.rows(series[0])
        metafunc.parametrize("row", [row.name for row in rows] or [None])


def _builds(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/kbuild")


def _wants_guest(item: pytest.Item) -> bool:
    return item.get_closest_marker("guest") is not None


def _has_row(item: pytest.Item) -> bool:
    return "row" not in getattr(item, "fixturenames", ()) or item.callspec.params["row"] is not None


def _lacks(item: pytest.Item) -> str:
    """Return what the kernel of a test lacks to boot its guest; empty: nothing."""
    if not queue.wanted(item):
        return ""
    series, guest = item.callspec.params["series"], item.module.GUEST
    if series in debug.CONFIGS:
        return "histogram triggers" if getattr(guest, "htbsctl", False) else ""
    kernel = find_kernel(series)
    if not isinstance(guest, Boot) or guest.clock == "real":
        return "" if kernel.shares_files else "9p, or the host's programs are not for it"
    return "" if guest.runs_on(kernel) else "scsi_debug"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests that boot no guest first.

    Deselect tests that do not boot --kernels, and those of a Batch without rows for them. Skip
    tests whose guest a kernel cannot boot, with the reason.
    """
    every = config.getoption("kernels") == ",".join(SERIES)

    def chosen(item: pytest.Item) -> bool:
        return _has_row(item) and (every or queue.wanted(item))

    left_out = [item for item in items if not chosen(item)]
    items[:] = [item for item in items if chosen(item)]
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        if lacks := _lacks(item):
            item.add_marker(pytest.mark.skip(reason=f"the kernel lacks {lacks}"))
    items.sort(key=lambda item: (not _builds(item), _wants_guest(item)))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Guests need modules, so they start when no test builds modules any more."""
    if not _builds(item):
        queue.start(item.session)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No guest outlives its session."""
    if queue.GUESTS in session.stash:
        session.stash[queue.GUESTS].end()


@pytest.fixture
def result(series: str, request: pytest.FixtureRequest) -> Result:
    """Return the result of the module's guest."""
    return queue.start(request.session).result(request.module.GUEST, series)
