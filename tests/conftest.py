"""What all tests share: what builds modules first, then the cheap ones, beside the guests."""

import pytest

from tests.vm import queue


def _builds(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/kbuild")


def _wants_guest(item: pytest.Item) -> bool:
    return item.get_closest_marker("guest") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that boot no guest before the ones that do."""
    items.sort(key=lambda item: (not _builds(item), _wants_guest(item)))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Guests want modules, so they start when no test builds any."""
    if not _builds(item):
        queue.start(item.session)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No guest outlives its session."""
    if queue.GUESTS in session.stash:
        session.stash[queue.GUESTS].end()
