"""Switching and unloading under load, on two CPUs."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("switch", clock="real")


def test_switch_under_load(result: Result) -> None:
    assert result.exit_code == 0
