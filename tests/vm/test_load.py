"""Loading, choosing and unloading on an idle system."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("load")


def test_load_choose_unload(result: Result) -> None:
    assert result.exit_code == 0
