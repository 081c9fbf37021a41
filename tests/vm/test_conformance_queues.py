"""As test_conformance.py, on two CPUs and disks of two hardware queues, one of which requeues."""

import pytest

from tests.vm import Result, conformance, replay
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

SEEDS = (4,)
GUEST: Boot = conformance.recording("real", SEEDS)


def test_as_the_core_says(result: Result) -> None:
    """Compare every choice, deadline and wait, to the nanosecond."""
    events = replay.read([result.text("trace")])
    replay.replay(events)
    assert any(event.name == "complete" and event.requeued for event in events)
    queues = {event.request >> 16 for event in events if event.name == "dispatch"}
    assert queues == {0, 1}
    assert {event.sync for event in events if event.name == "arrive"} == {0, 1}
