"""The host library, built once per run."""

import ctypes

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.unit import host

settings.register_profile("htbs", deadline=None, derandomize=True, print_blob=False,
                          report_multiple_bugs=False,
                          phases=[Phase.explicit, Phase.generate, Phase.shrink],
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("htbs")


@pytest.fixture(scope="session")
def lib() -> ctypes.CDLL:
    """The pure rooms, as built into the module."""
    return host.build()
