"""The host library, built once per run."""

import ctypes

import pytest

from tests.unit import host, strategies

strategies.load_profile()


@pytest.fixture(scope="session")
def lib() -> ctypes.CDLL:
    """The core library, as built into the module."""
    return host.build()
