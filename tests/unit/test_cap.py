"""Caps: nobody has more than his, the others lose nothing by it, and nothing is left behind."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.order import CAP_DEBT
from tests.model.reservation import CAP_AHEAD, SECOND, SEQ_LAST, Params, Request
from tests.unit.host import Device
from tests.unit.server import Server
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
REST = 100 * MS - CAP_AHEAD  # one that has had a block goes on after so long

# A cap is no less than the bandwidth.
capped = st.builds(lambda load, more: replace(load, promise=load.promise._replace(
    max=load.promise.bw * more)), loads, st.sampled_from([1, 1, 2, 10]))


class Desk:
    """A device, and a reservation with a cap that has some blocks pending."""

    def __init__(self, lib, pending=0, promise=HELD, **knobs):
        self.device = Device(lib, 20, 10 * MS, **knobs)
        self.flow = self.device.init_flow(promise, 0)
        self.now = self.pos = 0
        self.arrive(pending)

    def arrive(self, count=1, flow=None, size=BLOCK):
        """So many requests, one behind the other."""
        for _ in range(count):
            self.device.arrive(flow or self.flow, Request(size, self.pos), self.now)
            self.pos += size // 512

    def serve(self):
        """Who was throttled for long enough goes on; choose; serve at once. Who was it."""
        while self.device.unthrottle(self.now):
            pass
        flow = self.device.choose(self.now).flow
        if flow is not None:
            request, _ = self.device.dispatch(flow, self.now)
            self.device.complete(flow, request, self.now)
        return flow

    def served_at(self, now):
        """Is one of the reservation then."""
        self.now = now
        return self.serve() is self.flow


@pytest.mark.parametrize("rule", ["paper", "slack"])
@pytest.mark.parametrize("weight", [0, 100])
@pytest.mark.parametrize("most", [1, 2.5, 3.3])
def test_an_idle_device_is_no_reason_for_more(lib, rule, weight, most):
    """The cap to the block and the 10 ms, over ten seconds; then without it all of the device."""
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


def test_what_is_left_goes_to_the_others(lib):
    """By bandwidth the capped one would have half."""
    greedy = Greedy(Server(lib, CAPACITY))
    flows = [greedy.join(promise, 3) for promise in (FREE._replace(max=20 * BLOCK), FREE)]
    held, free = rates(greedy.run(), flows, 3)
    assert held == pytest.approx(20 * BLOCK, rel=0.02)
    assert free == pytest.approx(CAPACITY - held, rel=0.01)


@settings(max_examples=150)
@given(st.lists(capped, min_size=1, max_size=3), st.lists(loads, max_size=2),
       st.sampled_from([10**5, 10**6, 10**8]), knobs)
def test_in_no_time_more_than_the_cap(lib, some, others, capacity, knobs):
    """max * (t + 10 ms) and a largest request, in whatever time; and all is served at last."""
    b_max, t_wait, rule = knobs
    server = Server(lib, capacity, b_max, t_wait, rule)
    jobs = serve(server, [*some, *others])
    for flow, promise in server.params.items():
        if promise.max:
            _within(promise.max, sorted((job.request for job in jobs if job.flow is flow),
                                        key=lambda request: request.sent))


def _within(most: int, sent: list[Request]) -> None:
    """Between any two of these, both counted."""
    largest = max(request.cost for request in sent)
    room = most * CAP_AHEAD / SECOND + largest
    bucket = room
    for before, request in pairwise(sent):
        bucket = min(room, bucket - before.cost + most * (request.sent - before.sent) / SECOND)
        assert bucket - request.cost >= -1


@on_time
@settings(max_examples=100)
@given(st.lists(loads, min_size=1, max_size=3), st.lists(capped, min_size=1, max_size=2))
def test_others_are_on_time(lib, knobs, some, held):
    """As without caps: admitted, constant rate, never late by more than a largest request."""
    server = server_of(lib, [load.promise for load in [*some, *held]], 0, knobs)
    check_on_time(server, serve(server, [*some, *held]), C_MAX)


def test_to_the_nanosecond(lib):
    """It goes on 10 ms early, so that a late timer costs it nothing: then the next waits longer."""
    desk = Desk(lib, pending=4)
    assert desk.served_at(0)
    assert desk.device.next_unthrottle() == REST
    assert not desk.served_at(REST - 1)
    assert desk.served_at(REST)
    assert not desk.served_at(200 * MS - CAP_AHEAD - 1)
    assert desk.served_at(200 * MS)
    assert desk.served_at(300 * MS - CAP_AHEAD)


def test_a_flow_that_had_less_has_saved_nothing(lib):
    """But for the 10 ms."""
    desk = Desk(lib)
    desk.now = 100 * SECOND
    desk.arrive(3)
    assert [desk.serve() is desk.flow for _ in range(3)] == [True, False, False]


def test_it_is_stopped_when_its_next_request_comes(lib):
    """Not only if that was there when it had too much."""
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
    """A reader in sequence is throttled: another has the device at once."""
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


def test_virtual_time_jumps_without_it(lib):
    """It conforms, but is throttled: for the other that is no reason to owe for what it uses."""
    desk = Desk(lib, promise=HELD._replace(burst=65536), pending=2)
    other = desk.device.init_flow(FREE._replace(bw=20 * BLOCK), 0)
    assert desk.served_at(0)
    desk.arrive(count=10, flow=other)
    assert [desk.serve() is other for _ in range(10)] == [True] * 10
    desk.now = REST - 1
    assert desk.device.arrive(other, Request(BLOCK), desk.now).conforming


def test_due_when_it_may_go_on(lib):
    """The second of a burst is due a latency after the cap lets it go on; that is no overload."""
    desk = Desk(lib, promise=HELD._replace(burst=65536, latency=MS), pending=2, rule="slack")
    assert desk.served_at(0)
    desk.now = REST
    assert desk.device.unthrottle(REST) is desk.flow
    request, _ = desk.device.dispatch(desk.device.choose(REST).flow, REST)
    assert request.due == REST + MS
    assert desk.device.overload.late == 0


def test_what_a_merge_added_counts(lib):
    """A request of two blocks, the second of which was merged into it."""
    desk = Desk(lib, pending=3)
    kept, gone, _ = desk.flow.queue
    desk.device.merge(desk.flow, kept, gone)
    desk.device.charge(desk.flow, BLOCK, 0)
    kept.size += gone.size
    assert desk.served_at(0)
    assert desk.device.next_unthrottle() == 200 * MS - CAP_AHEAD


def test_what_comes_back_counts_once(lib):
    """The driver gives it back and gets it again."""
    desk = Desk(lib, pending=2)
    request, _ = desk.device.dispatch(desk.device.choose(0).flow, 0)
    desk.device.requeue(desk.flow, request)
    desk.device.redispatch(desk.flow, request, 0)
    assert desk.device.next_unthrottle() == REST


def test_what_goes_past_the_policy_counts(lib):
    """Flushed data is not held up, but what is pending is, for so much longer."""
    desk = Desk(lib, pending=1)
    desk.device.charge_bypass(desk.flow, BLOCK, 0)
    assert desk.device.next_unthrottle() == REST
    desk.device.charge_bypass(desk.flow, 2 * BLOCK, 0)
    assert desk.device.next_unthrottle() == 300 * MS - CAP_AHEAD
    assert not desk.served_at(300 * MS - CAP_AHEAD - 1)
    assert desk.served_at(300 * MS - CAP_AHEAD)


def test_not_for_ever(lib):
    """What can't be throttled is held against it for an hour at most."""
    desk = Desk(lib, pending=1)
    for _ in range(3):
        desk.device.charge_bypass(desk.flow, 1 << 30, desk.now)
        desk.now += MS
    assert desk.device.next_unthrottle() == 2 * MS + CAP_DEBT - CAP_AHEAD


def test_another_cap_counts_at_once(lib):
    """What was held up goes on; from then on it is the new one that holds."""
    desk = Desk(lib, pending=3)
    assert desk.served_at(0)
    desk.device.set_cap(desk.flow, 100 * BLOCK, 0)
    assert desk.device.next_unthrottle() is None
    assert [desk.serve() is desk.flow for _ in range(2)] == [True, True]
    desk.arrive()
    assert desk.device.next_unthrottle() == 20 * MS - CAP_AHEAD


def test_a_queue_that_has_to_be_emptied_is(lib):
    """At once, and it is held against it afterwards."""
    desk = Desk(lib, pending=5)
    assert desk.served_at(0)
    assert desk.device.drain(True)
    assert [desk.serve() is desk.flow for _ in range(4)] == [True] * 4
    assert not desk.device.drain(True)
    assert desk.device.drain(False)
    desk.arrive()
    assert desk.served_at(0), "it was not throttled when it last had something"
    desk.arrive()
    assert desk.device.next_unthrottle() == 600 * MS - CAP_AHEAD
