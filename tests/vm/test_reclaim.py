"""Reservations come with the first request of a group and go when it is idle. In virtual time."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("reclaim")


def test_reclaim(result: Result) -> None:
    assert result.exit_code == 0
