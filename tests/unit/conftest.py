"""The host library, built once per run, and devices with it."""

import ctypes

import pytest

from tests.unit import host, strategies
from tests.unit.desk import MS, Desk

strategies.load_profile()


@pytest.fixture(scope="session")
def lib() -> ctypes.CDLL:
    """The core library, as built into the module."""
    return host.build()


@pytest.fixture
def desk(lib: ctypes.CDLL) -> Desk:
    """A device that seeks, for 10 ms at most as it is believed, and a T_wait of 10 ms."""
    return Desk(lib)


@pytest.fixture
def flash(lib: ctypes.CDLL) -> Desk:
    """A device that does not seek."""
    return Desk(lib, position=MS, t_wait=0, rotational=False)
