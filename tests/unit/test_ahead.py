"""Requests that are dispatched as they arrive: htbs_policy_dispatch_arriving(), ahead.h."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params
from tests.unit import smp
from tests.unit.desk import MS
from tests.unit.host import Device, Request
from tests.unit.strategies import examples

_BLOCK = 4096
_SHARED = Params(1 << 20, 1 << 20, SECOND)
_PROMISES = (
    None,
    None,
    Params(8 << 20, _BLOCK, MS),
    Params(1 << 20, 1 << 16, 10 * MS),
    Params(4096, 4096, SECOND, weight=300),
    Params(1 << 30, 1 << 20, MS, iops=1000),
    Params(8 << 20, 1 << 16, MS, max=16 << 20),
)


class Twins:
    """Two devices that do not seek, with the same events; one of them never dispatches ahead."""

    def __init__(self, lib, promises):
        self.devices = [Device(lib, False, MS, 0) for _ in range(2)]
        self.now = SECOND
        self.flows = [[device.init_flow(promise, self.now) for promise in promises]
                      for device in self.devices]
        for device, flows in zip(self.devices, self.flows, strict=True):
            device.configure_pool(flows[0], _SHARED, self.now)
        self.in_flight = []

    def arrive(self, number, size, pos, write):
        """A request arrives; if there is no choice it is dispatched or held back at once."""
        short, general = (Request(size, pos, not write, write) for _ in range(2))
        flow, twin = (flows[number] for flows in self.flows)
        how = self.devices[0].dispatch_arriving(flow, short, self.now)
        if how == "choice":
            self.devices[0].arrive(flow, short, self.now)
        self.devices[1].arrive(twin, general, self.now)
        if how == "choice":
            return
        choice = self.devices[1].choose(self.now)
        assert choice.held == (how == "held")
        if choice.held:
            return
        assert choice.flow is twin
        assert not choice.nearest
        assert self.devices[1].dispatch(twin, self.now) == (general, False)
        self._sent(number, short, general)

    def serve(self):
        """Both devices choose, and dispatch the request that they chose."""
        for device in self.devices:
            while device.unthrottle(self.now):
                pass
        one, other = (device.choose(self.now) for device in self.devices)
        assert one[1:] == other[1:]
        if not one.flow:
            assert not other.flow
            return
        if one.flow is self.devices[0].background:
            return
        number = self.flows[0].index(one.flow)
        assert self.flows[1].index(other.flow) == number
        (short, began), (general, too) = (
            device.dispatch(flows[number], self.now)
            for device, flows in zip(self.devices, self.flows, strict=True))
        assert began == too
        self._sent(number, short, general)

    def complete(self, which):
        """A request completes."""
        if not self.in_flight:
            return
        number, *requests = self.in_flight.pop(which % len(self.in_flight))
        for device, flows, request in zip(self.devices, self.flows, requests, strict=True):
            device.complete(flows[number], request, self.now)

    def _sent(self, number, short, general):
        assert bytes(short.sent) == bytes(general.sent)
        self.in_flight.append((number, short, general))

    def compare(self):
        """Check that the visible state of both devices is the same."""
        one, other = (vars(device.view()) for device in self.devices)
        for view, flows in zip((one, other), self.flows, strict=True):
            view["active"] = view["active"] and flows.index(view["active"])
            # These belong to devices that seek.
            del view["surplus"]
        assert one == other
        for flow, twin in zip(*self.flows, strict=True):
            assert bytes(flow.view()) == bytes(twin.view())
        for part in ("service", "depth", "window", "quota"):
            assert bytes(getattr(self.devices[0], part)) == bytes(getattr(self.devices[1], part))


@examples(300)
@given(st.lists(st.sampled_from(_PROMISES), min_size=1, max_size=4), st.integers(0, 1 << 32),
       st.integers(1, 8))
def test_an_arriving_request_is_dispatched_as_if_there_were_a_choice(lib, promises, seed, depth):
    """Everything that follows is the same, too."""
    compare_twins(lib, promises, seed, depth)


def test_a_flow_of_which_a_request_arrives_is_expected_to_have_one(lib):
    """This counts before the request is pending, so limits hold it back like any of its flow."""
    compare_twins(lib, [Params(8 << 20, 4096, MS)] * 2, 4_795_878, 4)


def compare_twins(lib, promises, seed, depth):
    """Compare a device that dispatches ahead with one that does not, for random events."""
    rng, twins = random.Random(seed), Twins(lib, promises)
    for _ in range(200):
        twins.now += rng.choice((0, 0, 1000, 50_000, 900_000, rng.randrange(3 * SECOND)))
        event = rng.randrange(3)
        if event == 0:
            twins.arrive(rng.randrange(len(promises)), rng.choice((512, _BLOCK, 1 << 17)),
                         rng.randrange(64) << 8, rng.random() < 0.3)
        elif event == 1 and len(twins.in_flight) < depth:
            twins.serve()
        else:
            twins.complete(rng.randrange(64))
        twins.compare()


def test_one_request_at_a_time_is_always_dispatched_as_it_arrives(flash):
    """Its flow is owed the request, or is alone."""
    pooled = flash.init_flow(None)
    flash.device.configure_pool(pooled, _SHARED, flash.now)
    for flow in (pooled, flash.init_flow(Params(1 << 30, 1 << 20, MS))):
        for _ in range(10):
            request = Request(_BLOCK)
            assert flash.device.dispatch_arriving(flow, request, flash.now) == "dispatched"
            flash.now += MS
            flash.device.complete(flow, request, flash.now)


def test_surplus_beside_expected_requests_is_held_back_as_it_arrives(flash):
    """The window has room for one read."""
    tight = flash.init_flow(Params(8 << 20, _BLOCK, MS))
    greedy = flash.init_flow(Params(4096, 4096, SECOND))
    for flow, how in ((tight, "dispatched"), (greedy, "dispatched"), (greedy, "held")):
        assert flash.device.dispatch_arriving(flow, Request(_BLOCK), flash.now) == how


@pytest.mark.parametrize("why", ["pending", "held", "capped", "background", "seeks"])
def test_if_there_is_a_choice_an_arriving_request_is_not_dispatched(flash, desk, why):
    """Another is pending or held back, its flow has a cap, or the device is idled and seeks."""
    on = desk if why == "seeks" else flash
    flow = on.init_flow(Params(8 << 20, _BLOCK, MS, max=(1 << 20) * (why == "capped")))
    other = on.init_flow(Params(8 << 20, _BLOCK, MS))
    if why in ("pending", "held"):
        on.arrive(other)
    if why == "held":
        on.device.hold_for_tag()
    if why == "background":
        flow = on.device.background
    assert on.device.dispatch_arriving(flow, Request(_BLOCK), on.now) == "choice"


@pytest.fixture(scope="module")
def ring(tmp_path_factory) -> dict[str, int]:
    """Return the results of a thread that adds 300,000 requests, and three that take them."""
    return smp.outcome("ahead", tmp_path_factory.mktemp("smp"), 3, 300_000)


def test_each_request_is_taken_once_and_in_order(ring):
    assert (ring["lost"], ring["again"], ring["disorder"]) == (0, 0, 0)


def test_a_ring_has_room_for_all_its_places(ring):
    assert ring["room"] == ring["most"]
