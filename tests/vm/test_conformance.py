"""What ran in the kernel is what the specification says: known loads and random mixes.

The known ones are the demonstration's pair, an overload, a writer that is held back, a crowd and
metadata that passes a cap. On the virtual clock, with simulated disks. `make conformance SEED=…`
does the same with any other mix.
"""

import re

import pytest

from tests.model import replay
from tests.model.htbs import Policy
from tests.model.reservation import Reservation
from tests.model.slack import Service
from tests.vm import Result, conformance
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

SEEDS = (1, 2)
GUEST: Boot = conformance.recording("virtual", SEEDS)


def test_as_specified(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tag, choice, wait and drift, to the nanosecond.

    Among them turns in a crowd, and positions that follow from service times.
    """
    turns, crowd = [], Service.begin_turn
    places, charge = [], Policy._device_share_charge

    def noted(service: Service, left: int) -> None:
        crowd(service, left)
        turns.append(service.turn)

    def charged(policy: Policy, flow: Reservation, took: int) -> None:
        charge(policy, flow, took)
        places.append(bool(flow.queue) and flow.min_start() > flow.queue[0].start)

    monkeypatch.setattr(Service, "begin_turn", noted)
    monkeypatch.setattr(Policy, "_device_share_charge", charged)
    events = replay.read([result.text("trace")])
    replay.replay(events)
    assert len(set(turns)) > 20
    assert sum(places) > 20


def test_all_that_can_be_decided_was(result: Result) -> None:
    """By both rules. A decision that no mix leads to is not tested by them."""
    events = replay.read([result.text("trace")])
    assert {event.name for event in events} >= {
        "tag", "merge", "charge", "drift", "switch", "dispatch", "wait_begin", "wait_end",
        "complete", "late", "join", "config", "leave", "tunables", "share", "cap", "stop", "go",
        "hold", "overload", "pass",
    }  # fmt: skip
    assert {event.sync for event in events if event.name == "dispatch"} == {0, 1}
    assert {event.policy for event in events if event.name == "tunables"} == {"paper", "slack"}
    ends = {event.outcome for event in events if event.name == "wait_end"}
    assert ends >= {"hit", "timeout"}


def test_metadata_passes_a_cap(result: Result) -> None:
    """That which is pending when the cap is set, and that which arrives later."""
    pending, waited = set(), set()
    for event in replay.read([result.text("trace")]):
        if event.name == "tag":
            pending.add(event.request)
        elif event.name == "dispatch":
            pending.discard(event.request)
        elif event.name == "pass":
            waited.add(event.request in pending)
            pending.discard(event.request)
    assert waited == {False, True}


def test_debugfs_shows_a_crowd(result: Result) -> None:
    assert re.search(r"crowd +yes; a turn in one goes on for [1-9]\d* us", result.text("crowd"))
