"""Which reservation applies to a group, and how long a reservation lives."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("inheritance")


def test_inheritance(result: Result) -> None:
    assert result.exit_code == 0
