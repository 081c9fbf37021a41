"""Reservations that a device that does not seek cannot keep beside others: htbs_policy_relax()."""

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit.desk import MS, SPARE

MUCH = Params(4000 * 4096, 64 << 10, 10 * MS)
# Slow beside sixteen others, because each takes 4 ms, but not late.
LITTLE = Params(100 * 4096, 16 << 10, 80 * MS)


class Beside:
    """A flow with many requests in flight beside one with a few, for some seconds.

    The device takes longer than it took for the first request, which it had alone.
    """

    def __init__(self, flash, seconds, much=MUCH, little=LITTLE, depth=16):
        self.flash, self.sent, self.place = flash, [], 0
        self.greedy, self.other = flash.init_flow(much), flash.init_flow(little)
        flash.arrive(self.greedy)
        flash.serve(MS // 10)
        for _ in range(depth):
            flash.arrive(self.greedy)
        self.serve(seconds)

    def serve(self, seconds, took=4 * MS):
        """A request completes every `took`; one flow has `depth` of them, one its reservation."""
        flash, end = self.flash, self.flash.now + seconds * SECOND
        while flash.now < end:
            self.place += 1
            if self.place % (50 * MS // took) == 0:
                flash.arrive(self.other, self.place << 20)
            while served := flash.dispatch():
                self.sent.append(served)
            flash.now += took
            if not self.sent:
                continue
            flash.device.complete(*self.sent[0], flash.now)
            if self.sent.pop(0)[0] is self.greedy:
                flash.arrive(self.greedy, self.place << 20)


@pytest.mark.parametrize(("seconds", "much", "relaxed"), [
    (0.9, MUCH, False), (1.2, MUCH, True), (3, LITTLE, False),
], ids=["not yet", "a second", "kept"])
def test_a_flow_that_a_device_falls_behind_for_is_relaxed(flash, seconds, much, relaxed):
    """It is relaxed after a second in which the device did not keep its reservation."""
    both = Beside(flash, seconds, much)
    assert both.greedy.view().relaxed == relaxed
    assert not both.other.view().relaxed


def test_no_flow_is_relaxed_that_makes_no_other_slow(flash):
    """It submits less than it reserved, or more than the device can do, but delays no other."""
    patient = LITTLE._replace(latency=500 * MS)
    assert not Beside(flash, 3, little=patient).greedy.view().relaxed


def test_no_flow_is_relaxed_while_surplus_can_be_limited(flash):
    """The surplus of others is the reason that it is behind."""
    flash.device.window.least, flash.device.window.value = 1, 1 << 40
    assert not Beside(flash, 1.2).greedy.view().relaxed


def test_a_flow_is_relaxed_until_it_has_caught_up(flash):
    """It submits less, or the device is faster."""
    both = Beside(flash, 1.2)
    both.serve(2)
    assert both.greedy.view().relaxed
    both.serve(0.5, took=MS // 10)
    assert not both.greedy.view().relaxed


def test_idle_time_does_not_count_as_behind(flash):
    """It does not matter how long ago it was last on its pace."""
    both = Beside(flash, 0.5)
    while both.sent:
        flash.device.complete(*both.sent.pop(), flash.now)
        both.sent.extend(iter(flash.dispatch, None))
    flash.now += 3 * SECOND
    flash.arrive(both.other)
    for _ in range(16):
        flash.arrive(both.greedy)
    sent = list(iter(flash.dispatch, None))
    flash.now += 50 * MS
    flash.device.complete(*sent[0], flash.now)
    assert not both.greedy.view().relaxed


def test_no_late_request_of_a_relaxed_flow_lowers_a_limit(flash):
    """Nothing is owed to the flow; otherwise all others would be held back for ever."""
    both = Beside(flash, 1.2)
    window, quota = flash.device.window, flash.device.quota.limit
    window.value, window.part, quota.value, quota.part = 64 << 32, 16, 1 << 20, 16
    quota.threshold = 0
    sent = list(iter(flash.dispatch, None))
    assert sum(flow is both.greedy and one.conforms for flow, one in sent) > 4
    for each in sent:
        flash.now += SECOND // 2
        flash.device.quota.since = flash.now  # otherwise nothing was written recently
        flash.device.complete(*each, flash.now)
    assert window.value >= 64 << 32
    assert quota.value >= 1 << 20


def test_surplus_is_limited_for_a_relaxed_flow(flash):
    """Otherwise it would have next to nothing beside a flow that submits more than it reserved."""
    both = Beside(flash, 1.2)
    for place in range(40):
        flash.arrive(both.other, place << 30)
    flash.device.window.value = 2 << 32
    while flash.dispatch():
        pass
    assert both.other.view().in_flight < 15  # a burst, and the requests that it is behind by


def test_on_a_disk_service_times_decide_what_is_possible(desk):
    """On a disk the service times tell whether a reservation can be kept."""
    flow = desk.init_flow(SPARE)
    for place in range(200):
        desk.arrive(flow, place << 30)
        desk.serve(10 * MS)
    assert not flow.view().relaxed
