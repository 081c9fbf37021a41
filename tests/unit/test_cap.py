"""Caps: no flow exceeds its cap, others lose nothing because of it, every request is served."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params
from tests.unit.desk import MS, Desk
from tests.unit.strategies import examples

BLOCK = 4096
CAP_AHEAD = 10 * MS  # how far a flow may be ahead of its cap
CAP_DEBT = 3600 * SECOND
# 4096 bytes take 100 ms of the cap.
HELD = Params(4096, BLOCK, SECOND, max=10 * BLOCK)
FREE = Params(10 * BLOCK, BLOCK, 500 * MS)
REST = 100 * MS - CAP_AHEAD  # how long a flow is throttled after a block


class Capped(Desk):
    """A device, and a flow with a cap and some blocks pending."""

    def __init__(self, lib, pending=0, promise=HELD, **knobs):
        super().__init__(lib, **{"t_wait": 0, **knobs})
        self.begin = self.now
        self.flow = self.init_flow(promise)
        for _ in range(pending):
            self.arrive(self.flow)

    def served_at(self, after):
        """Return true if a request of the capped flow is served `after` the begin."""
        self.now = self.begin + after
        return self.serve() is self.flow

    def unthrottled(self):
        """Return when a flow is unthrottled, after the begin."""
        at = self.device.next_unthrottle()
        return None if at is None else at - self.begin


@examples(100)
@given(most=st.sampled_from([1, 2, 10]), sizes=st.lists(st.sampled_from([4096, 8192, 65536]),
                                                        min_size=1, max_size=40),
       pauses=st.lists(st.sampled_from([0, 0, MS, 50 * MS, SECOND]), min_size=40, max_size=40))
def test_no_interval_exceeds_the_cap(lib, most, sizes, pauses):
    """In any time t at most max * (t + 10 ms) and one largest request; all requests are served."""
    desk = Capped(lib, promise=HELD._replace(max=most * 10 * BLOCK))
    other = desk.init_flow(FREE)
    sent = []
    for size, pause in zip(sizes, pauses, strict=False):
        desk.arrive(desk.flow, size=size)
        desk.arrive(other, 1 << 30)
        desk.now += pause
        _serve_all(desk, sent)
    while desk.flow.queue:
        desk.now = desk.device.next_unthrottle()
        _serve_all(desk, sent)
    assert len(sent) == len(sizes)
    _within(desk.flow.params.max, sent)


def _serve_all(desk: Capped, sent: list[tuple[int, int]]) -> None:
    while served := desk.dispatch():
        flow, request = served
        if flow is desk.flow:
            sent.append((desk.now, request.cost))
        desk.device.complete(flow, request, desk.now)


def _within(most: int, sent: list[tuple[int, int]]) -> None:
    """Check all intervals between two requests, including both."""
    room = most * CAP_AHEAD / SECOND + max(cost for _, cost in sent)
    bucket = room
    for (then, before), (now, cost) in pairwise(sent):
        bucket = min(room, bucket - before + most * (now - then) / SECOND)
        assert bucket - cost >= -1


def test_to_the_nanosecond(lib):
    """A flow is unthrottled 10 ms early, so that a late timer costs nothing in the long run."""
    desk = Capped(lib, pending=4)
    assert desk.served_at(0)
    assert desk.unthrottled() == REST
    assert not desk.served_at(REST - 1)
    assert desk.served_at(REST)
    assert not desk.served_at(200 * MS - CAP_AHEAD - 1)
    assert desk.served_at(200 * MS)
    assert desk.served_at(300 * MS - CAP_AHEAD)


def test_a_flow_below_its_cap_saves_nothing(lib):
    """It saves up nothing, except that it may be 10 ms ahead."""
    desk = Capped(lib)
    desk.now += 100 * SECOND
    for _ in range(3):
        desk.arrive(desk.flow)
    assert [desk.serve() is desk.flow for _ in range(3)] == [True, False, False]


def test_a_flow_is_throttled_when_its_next_request_arrives(lib):
    """This is so even if that request arrives after the cap was exceeded."""
    desk = Capped(lib, pending=1)
    assert desk.served_at(0)
    assert desk.unthrottled() is None
    desk.now = desk.begin + REST - 1
    desk.arrive(desk.flow)
    assert not desk.device.view().has_work
    assert desk.unthrottled() == REST
    assert desk.served_at(REST)


def test_a_throttled_flow_is_not_waited_for(lib):
    """If a sequential reader is throttled, another flow gets the device at once."""
    desk = Capped(lib, promise=HELD._replace(max=800 * BLOCK), t_wait=10 * MS)
    other, pos = desk.init_flow(FREE), 0
    while not desk.flow.view().throttled:
        pos = desk.read(desk.flow, 1, pos)
    assert pos > 8 * 8
    desk.arrive(other)
    assert desk.serve() is other


def test_a_throttled_request_is_due_later(lib):
    """It is due a latency after the flow is unthrottled, so a cap seems to be no overload."""
    desk = Capped(lib, pending=2, promise=HELD._replace(burst=65536, latency=50 * MS))
    assert desk.served_at(0)
    desk.now += REST
    request = desk.dispatch()[1]
    assert request.conforms
    assert request.due == desk.begin + REST + 50 * MS


def test_merged_bytes_are_charged(lib):
    """A request of two blocks: the second one was merged into the first."""
    desk = Capped(lib, pending=3)
    kept, gone, _ = desk.flow.queue
    desk.device.merge(desk.flow, kept, gone)
    assert desk.served_at(0)
    assert desk.unthrottled() == 200 * MS - CAP_AHEAD


def test_a_requeued_request_is_charged_once(lib):
    """The driver returns a request and gets it again."""
    desk = Capped(lib, pending=2)
    flow, request = desk.dispatch()
    desk.device.requeue(flow, request)
    desk.device.redispatch(flow, request, desk.now)
    assert desk.unthrottled() == REST


def test_a_bypassing_request_is_charged(lib):
    """A flushed write is not throttled, but the pending requests are throttled for longer."""
    desk = Capped(lib, pending=1)
    desk.device.charge_bypass(desk.flow, BLOCK, desk.now)
    assert desk.unthrottled() == REST
    desk.device.charge_bypass(desk.flow, 2 * BLOCK, desk.now)
    assert desk.unthrottled() == 300 * MS - CAP_AHEAD
    assert not desk.served_at(300 * MS - CAP_AHEAD - 1)
    assert desk.served_at(300 * MS - CAP_AHEAD)


def test_the_debt_of_a_cap_is_bounded(lib):
    """Requests that bypass a cap throttle later ones for an hour at most."""
    desk = Capped(lib, pending=1)
    for _ in range(3):
        desk.device.charge_bypass(desk.flow, 1 << 30, desk.now)
        desk.now += MS
    assert desk.unthrottled() == 2 * MS + CAP_DEBT - CAP_AHEAD


def test_a_new_cap_counts_at_once(lib):
    """Pending requests are unthrottled; later ones are charged to the new cap."""
    desk = Capped(lib, pending=3)
    assert desk.served_at(0)
    desk.device.set_cap(desk.flow, 100 * BLOCK, desk.now)
    assert desk.unthrottled() is None
    assert [desk.serve() is desk.flow for _ in range(2)] == [True, True]
    desk.arrive(desk.flow)
    assert desk.unthrottled() == 20 * MS - CAP_AHEAD


def test_a_draining_queue_is_not_throttled(lib):
    """All pending requests are served at once, and charged to the cap."""
    desk = Capped(lib, pending=5)
    assert desk.served_at(0)
    assert desk.device.drain(True)
    assert [desk.serve() is desk.flow for _ in range(4)] == [True] * 4
    assert not desk.device.drain(True)
    assert desk.device.drain(False)
    desk.arrive(desk.flow)
    assert desk.served_at(0), "its last dispatch did not throttle the flow"
    desk.arrive(desk.flow)
    assert desk.unthrottled() == 600 * MS - CAP_AHEAD


def test_a_request_unthrottled_by_a_drain_has_waited(lib):
    """It is owed now, not only when its cap would unthrottle it, and it can expire."""
    desk = Capped(lib, pending=5, promise=HELD._replace(burst=65536))
    assert desk.served_at(0)
    desk.device.charge_bypass(desk.flow, 100 * BLOCK, desk.now)
    assert desk.device.drain(True)
    assert desk.device.unthrottle(desk.now) is desk.flow
    assert desk.flow.view().start <= desk.now
    assert desk.serve() is desk.flow
    assert desk.flow.view().start <= desk.now


@pytest.mark.parametrize("max_", [0, 20 * BLOCK])
def test_a_change_of_the_cap_loses_no_request(lib, max_):
    """It does not matter if a flow is throttled then."""
    desk = Capped(lib, pending=4)
    assert desk.served_at(0)
    desk.device.configure(desk.flow, HELD._replace(max=max_), desk.now)
    assert desk.serve() is desk.flow


def test_a_throttled_flow_saves_up_no_share(lib):
    """It does not lack what others had meanwhile: it begins where they are, minus a run."""
    desk = Capped(lib, 2, HELD._replace(weight=1, max=BLOCK // 5))
    other = desk.init_flow(FREE._replace(weight=1))
    assert desk.serve(10 * MS) is desk.flow
    while desk.flow.queue:
        desk.arrive(other, 1 << 30)
        desk.serve(10 * MS)
    run = 8 * desk.longest << 6
    assert other.view().share > 3 * run
    assert abs(other.view().share - desk.flow.view().share) < 1.1 * run


@pytest.mark.parametrize("most", [0, 1 << 30])
@pytest.mark.parametrize("rotational", [False, True])
def test_throttled_requests_are_in_time_after_a_change_of_the_cap(lib, rotational, most):
    """They are due a latency after they are unthrottled, so they do not count as late."""
    promise = Params(BLOCK, 1 << 20, 200 * MS, max=10 * BLOCK)
    desk = Capped(lib, 100, promise, rotational=rotational)
    for _ in range(500):
        desk.serve(MS // 10)
        desk.now += 10 * MS
    desk.device.set_cap(desk.flow, most, desk.now)
    before = desk.device.view().margin
    for _ in range(40):
        flow, request = desk.dispatch()
        assert not request.conforms or request.due > desk.now + 100 * MS
        desk.now += MS // 10
        desk.device.complete(flow, request, desk.now)
    assert not desk.device.view().overload
    assert desk.device.view().margin == before
