"""A queue that is frozen does not wait for the limits of surplus. In virtual time."""

import re

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("freeze")


def _times(result: Result, change: str) -> tuple[float, float]:
    before, after = map(float, result.text(f"{change}.times").split())
    return before, after


@pytest.mark.parametrize("change", ["resize", "switch"])
def test_a_frozen_queue_does_not_wait_for_a_quota(result: Result, change: str) -> None:
    """The quota would take 4 s to 7 s for the pending writes."""
    before, after = _times(result, change)
    assert after - before < 4


@pytest.mark.parametrize("change", ["resize", "switch"])
def test_a_frozen_queue_is_seen_when_a_request_is_held_back(result: Result, change: str) -> None:
    before, _ = _times(result, change)
    begun = re.findall(r"htbs_drain: .* now=(\d+) begins=1", result.text("trace"))
    assert any(0 <= int(now) / 1e9 - before < 0.1 for now in begun)
