"""Cgroups that are removed with I/O in flight: the module does not hang, and keeps none of them."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("dying")


def test_dying_cgroups(result: Result) -> None:
    assert result.exit_code == 0
