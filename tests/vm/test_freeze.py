"""A queue that is frozen does not wait for the limits of surplus. In virtual time."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("freeze")


@pytest.mark.parametrize("change", ["resize", "switch"])
def test_a_frozen_queue_does_not_wait_for_a_quota(result: Result, change: str) -> None:
    """By the quota the writes that are pending take 7 s."""
    before, after = map(float, result.text(f"{change}.times").split())
    assert after - before < 4
