"""Caps: no flow exceeds its cap, other flows lose nothing by it, and every request is served."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.order import CAP_DEBT
from tests.model.reservation import CAP_AHEAD, SECOND, SEQ_LAST, Params, Request
from tests.unit.host import Device
from tests.unit.server import Server
from tests.unit.strategies import examples
from tests.unit.test_guarantees import (
    C_MAX,
    check_on_time,
    knobs,
    loads,
    on_time,
    serve,
    server_of,
)
from tests.unit.test_share import BLOCK, CAPACITY, MS, Greedy, rates

# 4096 bytes take 100 ms of the cap, and 1 ms of the device.
HELD = Params(4096, BLOCK, SECOND, max=10 * BLOCK)
FREE = Params(10 * BLOCK, BLOCK, 50 * MS)
REST = 100 * MS - CAP_AHEAD  # how long a flow is throttled after a block

# A cap is no less than the bandwidth.
capped = st.builds(lambda load, more: replace(load, promise=load.promise._replace(
    max=load.promise.bw * more)), loads, st.sampled_from([1, 1, 2, 10]))


class Desk:
    """A device, and a flow with a cap and some blocks pending."""

    def __init__(self, lib, pending=0, promise=HELD, **knobs):
        self.device = Device(lib, 20, 10 * MS, **knobs)
        self.flow = self.device.init_flow(promise, 0)
        self.now = self.pos = 0
        self.arrive(pending)

    def arrive(self, count=1, flow=None, size=BLOCK):
        """Sequential requests arrive."""
        for _ in range(count):
            self.device.arrive(flow or self.flow, Request(size, self.pos), self.now)
            self.pos += size // 512

    def serve(self):
        """Unthrottle flows, choose one and serve a request of it in no time; the flow."""
        while self.device.unthrottle(self.now):
            pass
        flow = self.device.choose(self.now).flow
        if flow is not None:
            request, _ = self.device.dispatch(flow, self.now)
            self.device.complete(flow, request, self.now)
        return flow

    def served_at(self, now):
        """Is a request of the capped flow served at this time."""
        self.now = now
        return self.serve() is self.flow


@pytest.mark.parametrize("rule", ["paper", "slack"])
@pytest.mark.parametrize("weight", [0, 100])
@pytest.mark.parametrize("most", [1, 2.5, 3.3])
def test_a_cap_holds_on_an_idle_device(lib, rule, weight, most):
    """A flow gets its cap, to the block, for ten seconds; without the cap, the whole device."""
    server = Server(lib, CAPACITY, rule=rule)
    greedy = Greedy(server)
    promise = FREE._replace(max=int(most * FREE.bw), weight=weight)
    flow = greedy.join(promise, 10)
    [got] = rates(greedy.run(), [flow], 10)
    assert got == pytest.approx(promise.max, abs=BLOCK)
    server.device.set_cap(flow, 0, server.now)
    begin = server.now
    greedy.join(promise, 1, flow)
    assert rates(greedy.run(), [flow], 1, begin) == [pytest.approx(CAPACITY, rel=0.01)]


def test_other_flows_get_what_a_cap_leaves(lib):
    """By bandwidth the capped flow would have half of the device."""
    greedy = Greedy(Server(lib, CAPACITY))
    flows = [greedy.join(promise, 3) for promise in (FREE._replace(max=20 * BLOCK), FREE)]
    held, free = rates(greedy.run(), flows, 3)
    assert held == pytest.approx(20 * BLOCK, rel=0.02)
    assert free == pytest.approx(CAPACITY - held, rel=0.01)


@examples(150)
@given(st.lists(capped, min_size=1, max_size=3), st.lists(loads, max_size=2),
       st.sampled_from([10**5, 10**6, 10**8]), knobs)
def test_no_interval_exceeds_the_cap(lib, some, others, capacity, knobs):
    """In any time t, at most max * (t + 10 ms) and a largest request; all requests are served."""
    b_max, t_wait, rule = knobs
    server = Server(lib, capacity, b_max, t_wait, rule)
    jobs = serve(server, [*some, *others])
    for flow, promise in server.params.items():
        if promise.max:
            _within(promise.max, sorted((job.request for job in jobs if job.flow is flow),
                                        key=lambda request: request.sent))


def _within(most: int, sent: list[Request]) -> None:
    """Check all intervals between two requests, both counted."""
    largest = max(request.cost for request in sent)
    room = most * CAP_AHEAD / SECOND + largest
    bucket = room
    for before, request in pairwise(sent):
        bucket = min(room, bucket - before.cost + most * (request.sent - before.sent) / SECOND)
        assert bucket - request.cost >= -1


@on_time
@examples(100)
@given(st.lists(loads, min_size=1, max_size=3), st.lists(capped, min_size=1, max_size=2))
def test_others_are_on_time(lib, knobs, some, held):
    """As without caps: admitted, at a constant rate, late by a largest request at most."""
    server = server_of(lib, [load.promise for load in [*some, *held]], 0, knobs)
    check_on_time(server, serve(server, [*some, *held]), C_MAX)


def test_to_the_nanosecond(lib):
    """A flow is unthrottled 10 ms early, so that a late timer costs nothing in the long run."""
    desk = Desk(lib, pending=4)
    assert desk.served_at(0)
    assert desk.device.next_unthrottle() == REST
    assert not desk.served_at(REST - 1)
    assert desk.served_at(REST)
    assert not desk.served_at(200 * MS - CAP_AHEAD - 1)
    assert desk.served_at(200 * MS)
    assert desk.served_at(300 * MS - CAP_AHEAD)


def test_a_flow_below_its_cap_saves_nothing(lib):
    """Except for the 10 ms."""
    desk = Desk(lib)
    desk.now = 100 * SECOND
    desk.arrive(3)
    assert [desk.serve() is desk.flow for _ in range(3)] == [True, False, False]


def test_a_flow_is_throttled_when_its_next_request_arrives(lib):
    """Also if that arrives after the cap was exceeded."""
    desk = Desk(lib, pending=1)
    assert desk.served_at(0)
    assert desk.device.next_unthrottle() is None
    desk.now = REST - 1
    desk.arrive()
    assert not desk.device.view().has_work
    assert desk.device.next_unthrottle() == REST
    assert desk.served_at(REST)


@pytest.mark.parametrize("rule", ["paper", "slack"])
def test_a_throttled_flow_is_not_waited_for(lib, rule):
    """When a sequential reader is throttled, another flow has the device at once."""
    desk = Desk(lib, promise=HELD._replace(max=800 * BLOCK), rule=rule)
    other = desk.device.init_flow(FREE, 0)
    blocks = 0
    while not desk.flow.view().throttled:
        desk.arrive()
        assert desk.serve() is desk.flow
        blocks += 1
    assert blocks > SEQ_LAST
    desk.arrive(flow=other)
    assert desk.serve() is other


def test_a_throttled_flow_does_not_hold_the_clock(lib):
    """Though the head of the throttled flow conforms, the clock jumps for the other flow."""
    desk = Desk(lib, promise=HELD._replace(burst=65536), pending=2)
    other = desk.device.init_flow(FREE._replace(bw=20 * BLOCK), 0)
    assert desk.served_at(0)
    desk.arrive(count=10, flow=other)
    assert [desk.serve() is other for _ in range(10)] == [True] * 10
    desk.now = REST - 1
    assert desk.device.arrive(other, Request(BLOCK), desk.now).conforming


def test_a_throttled_request_is_due_later(lib):
    """A latency after the flow is unthrottled, so a cap is not taken for an overload."""
    desk = Desk(lib, promise=HELD._replace(burst=65536, latency=MS), pending=2, rule="slack")
    assert desk.served_at(0)
    desk.now = REST
    assert desk.device.unthrottle(REST) is desk.flow
    request, _ = desk.device.dispatch(desk.device.choose(REST).flow, REST)
    assert request.due == REST + MS
    assert desk.device.overload.late == 0


def test_merged_bytes_are_charged(lib):
    """A request of two blocks: the second was merged into the first."""
    desk = Desk(lib, pending=3)
    kept, gone, _ = desk.flow.queue
    desk.device.merge(desk.flow, kept, gone)
    desk.device.charge(desk.flow, BLOCK, 0)
    kept.size += gone.size
    assert desk.served_at(0)
    assert desk.device.next_unthrottle() == 200 * MS - CAP_AHEAD


def test_a_requeued_request_is_charged_once(lib):
    """The driver gives a request back and gets it again."""
    desk = Desk(lib, pending=2)
    request, _ = desk.device.dispatch(desk.device.choose(0).flow, 0)
    desk.device.requeue(desk.flow, request)
    desk.device.redispatch(desk.flow, request, 0)
    assert desk.device.next_unthrottle() == REST


def test_a_bypassing_request_is_charged(lib):
    """Flushed data is not throttled, but the pending requests are throttled for longer."""
    desk = Desk(lib, pending=1)
    desk.device.charge_bypass(desk.flow, BLOCK, 0)
    assert desk.device.next_unthrottle() == REST
    desk.device.charge_bypass(desk.flow, 2 * BLOCK, 0)
    assert desk.device.next_unthrottle() == 300 * MS - CAP_AHEAD
    assert not desk.served_at(300 * MS - CAP_AHEAD - 1)
    assert desk.served_at(300 * MS - CAP_AHEAD)


def test_the_debt_of_a_cap_is_bounded(lib):
    """Requests that bypass a cap throttle later ones for an hour at most."""
    desk = Desk(lib, pending=1)
    for _ in range(3):
        desk.device.charge_bypass(desk.flow, 1 << 30, desk.now)
        desk.now += MS
    assert desk.device.next_unthrottle() == 2 * MS + CAP_DEBT - CAP_AHEAD


def test_a_new_cap_counts_at_once(lib):
    """Pending requests are unthrottled; later ones are charged to the new cap."""
    desk = Desk(lib, pending=3)
    assert desk.served_at(0)
    desk.device.set_cap(desk.flow, 100 * BLOCK, 0)
    assert desk.device.next_unthrottle() is None
    assert [desk.serve() is desk.flow for _ in range(2)] == [True, True]
    desk.arrive()
    assert desk.device.next_unthrottle() == 20 * MS - CAP_AHEAD


def test_a_draining_queue_is_not_throttled(lib):
    """All pending requests are served at once, and charged to the cap."""
    desk = Desk(lib, pending=5)
    assert desk.served_at(0)
    assert desk.device.drain(True)
    assert [desk.serve() is desk.flow for _ in range(4)] == [True] * 4
    assert not desk.device.drain(True)
    assert desk.device.drain(False)
    desk.arrive()
    assert desk.served_at(0), "its last dispatch did not throttle the flow"
    desk.arrive()
    assert desk.device.next_unthrottle() == 600 * MS - CAP_AHEAD
