"""Fixtures: the host library, built once per run, and devices that use it."""

import ctypes

import pytest

from tests.unit import host, strategies
from tests.unit.desk import MS, Desk

strategies.load_profile()


@pytest.fixture(scope="session")
def lib() -> ctypes.CDLL:
    """Return the core library, built as in the module."""
    return host.build()


@pytest.fixture
def desk(lib: ctypes.CDLL) -> Desk:
    """A device that seeks: 10 ms at most by the initial estimate, and a T_wait of 10 ms."""
    return Desk(lib)


@pytest.fixture
def flash(lib: ctypes.CDLL) -> Desk:
    """A device that does not seek."""
    return Desk(lib, position=MS, t_wait=0, rotational=False)
