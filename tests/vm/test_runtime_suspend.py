"""A disk that the kernel tries to suspend while it has requests keeps its caps. Virtual time."""

import re

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("runtime-suspend", modules=("sd_mod",))


def test_an_attempt_to_suspend_a_disk_lifts_no_cap(result: Result) -> None:
    """The attempt freezes the queue, but waits for no request."""
    trace = result.text("trace")
    assert len(re.findall(r"kworker.* rpm_suspend", trace)) > 100
    assert "htbs_drain" not in trace
