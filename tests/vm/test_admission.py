"""Which reservations are admitted on a device with a known capacity."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("admission")


def test_admission(result: Result) -> None:
    assert result.exit_code == 0
