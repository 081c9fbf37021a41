"""A reservation is created at a group's first request and freed when it is idle. Virtual time."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("reclaim")


def test_reclaim(result: Result) -> None:
    assert result.exit_code == 0
