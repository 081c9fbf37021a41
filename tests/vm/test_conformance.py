"""The elevator feeds the core correctly: known loads and random mixes, replayed on the host.

The known loads are the pair of the demonstration, an overload, a writer that is held back, a crowd,
and metadata that passes a cap. They run on the virtual clock, with simulated disks. `make
conformance SEED=…` replays any other mix.
"""

import pytest

from tests.vm import Result, conformance, replay
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

SEEDS = (1, 2)
GUEST: Boot = conformance.recording("virtual", SEEDS)


def test_as_the_core_says(result: Result) -> None:
    """Compare every choice, deadline and wait, to the nanosecond."""
    replay.replay(replay.read([result.text("trace")]))


def test_all_that_can_be_decided_was(result: Result) -> None:
    """The mixes test a decision only if one of them leads to it."""
    events = replay.read([result.text("trace")])
    assert {event.name for event in events} >= {
        "arrive", "merge", "charge", "switch", "dispatch", "wait_begin", "wait_end",
        "complete", "late", "join", "config", "leave", "tunables", "share", "cap", "stop", "go",
        "hold", "overload", "pass",
    }  # fmt: skip
    assert {event.sync for event in events if event.name == "arrive"} == {0, 1}
    ends = {event.outcome for event in events if event.name == "wait_end"}
    assert ends >= {"hit", "timeout"}


def test_metadata_passes_a_cap(result: Result) -> None:
    """It passes the cap if it is pending when the cap is set, and if it arrives later."""
    pending, waited = set(), set()
    for event in replay.read([result.text("trace")]):
        if event.name == "arrive":
            pending.add(event.request)
        elif event.name == "dispatch":
            pending.discard(event.request)
        elif event.name == "pass":
            waited.add(event.request in pending)
            pending.discard(event.request)
    assert waited == {False, True}
