"""What all tests share: the cheap ones first."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that boot no guest before the ones that do."""
    items.sort(key=lambda item: item.get_closest_marker("guest") is not None)
