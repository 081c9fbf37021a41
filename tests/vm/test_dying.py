"""Removed cgroups with I/O outstanding: the module neither hangs nor leaves them dangling."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("dying")


def test_dying_cgroups(result: Result) -> None:
    assert result.exit_code == 0
