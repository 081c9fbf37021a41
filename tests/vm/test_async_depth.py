"""queue/async_depth limits the tags of all but synchronous reads, if a kernel has it."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("async-depth")


def test_async_depth(result: Result, series: str) -> None:
    has = not series.startswith("6.") and series[0].isdigit()
    assert ("async_depth is obeyed" in result.stdout) == has
