"""Single decisions of the policy, checked by hand: runs, and the order within a flow."""

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit.desk import LATER, MS, PAGE, RUN, SOON, SPARE

SEQ_GAP = 128  # sectors that a sequential request may skip
SWEEP = 16


def test_run(desk):
    """Beside surplus a sequential flow keeps the device for 8 worst-case positionings."""
    reader, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    pos = desk.read(reader, 9)
    service = desk.device.service
    longest = service.position + 5 * service.deviation
    begin = desk.now
    for i in range(4):
        desk.arrive(other, i << 30)
    while True:
        desk.arrive(reader, pos)
        if desk.serve(MS) is not reader:
            break
        pos += PAGE
    assert RUN * longest - 2 * MS <= desk.now - begin <= RUN * longest + 2 * MS


@pytest.mark.parametrize(("bw", "possible"), [(640_000, True), (670_000, False)])
def test_what_a_reservation_takes_is_a_mean_of_small_and_large_requests(desk, bw, possible):
    """4 and 16 KiB in turn, 10 ms each: no bandwidth above 655 KB/s can be kept.

    A reservation that can be kept has its latency as the deadline, others have a second.
    """
    flow = desk.init_flow(SOON._replace(bw=bw))
    for i in range(800):
        desk.arrive(flow, i % 7 << 30, size=(4 if i % 2 else 16) << 10)
        desk.serve(10 * MS)
    desk.arrive(flow, 0)
    assert (flow.view().deadline <= desk.now + 200 * MS) is possible


@pytest.mark.parametrize("asks", ["before", "after"])
def test_a_reader_with_one_request_at_a_time_has_its_batch(desk, asks):
    """It is owed its requests, and is waited for until its run is as long as two positionings.

    The driver asks for a request before the last one completes, or afterwards.
    """
    reader, other = desk.init_flow(SOON), desk.init_flow(LATER)
    pos = desk.read(reader, 9)
    desk.arrive(reader, pos)
    desk.arrive(other, 1 << 30)
    desk.now += SECOND
    begin, end = desk.now, desk.now + 2 * desk.device.service.position
    while desk.now < end:
        served = desk.dispatch()
        assert served[0] is reader
        if asks == "before":
            assert desk.dispatch() is None
        desk.now += MS * 5 // 4  # one request each millisecond is owed
        desk.device.complete(*served, desk.now)
        if desk.now < end:
            assert desk.dispatch() is None
            desk.arrive(other, 2 << 30)
            assert desk.dispatch() is None
            assert desk.device.view().wait == "arrival"
        pos += PAGE
        desk.arrive(reader, pos)
    assert desk.now - begin >= 4 * MS
    assert desk.dispatch()[0] is other


@pytest.mark.parametrize(("gap", "sequential"), [(0, True), (SEQ_GAP, True), (SEQ_GAP + 1, False),
                                                 (-PAGE, False)])
def test_gap(desk, gap, sequential):
    """A forward gap of 64 KiB is sequential. One more sector is not, nor is a step back."""
    reader = desk.init_flow(LATER)
    pos = 1 << 20
    for _ in range(9):
        desk.arrive(reader, pos)
        desk.serve()
        pos += PAGE + gap
    assert bool(reader.view().sequential) is sequential


@pytest.mark.parametrize(("strays", "sequential"), [(3, True), (4, False)])
def test_history(desk, strays, sequential):
    """Five of the last eight are enough: three strays do not end anticipation, a fourth does."""
    reader = desk.init_flow(LATER)
    desk.read(reader, 9)
    for i in range(strays):
        desk.read(reader, 1, pos=(i + 1) << 30)
    assert bool(reader.view().sequential) is sequential


def test_sweep(desk):
    """A flow with several requests pending is served by position; the oldest goes first.

    After the oldest request the sweep continues where it was.
    """
    flow = desk.init_flow(LATER)
    places = [50, 10, 90, 30, 70, 20]
    for place in places:
        desk.arrive(flow, place << 20)
    served = []
    while served := [*served, desk.dispatch()]:
        if served[-1] is None:
            break
        desk.device.complete(*served[-1], desk.now)
    assert [request.pos >> 20 for _, request in served[:-1]] == [50, 10, 20, 30, 70, 90]


def order(desk, flow, oldest):
    """Return the order of dispatch of the oldest request, a write and a read, up to the oldest."""
    desk.arrive(flow, 5 << 20, **oldest)
    desk.arrive(flow, 9 << 20, sync=False, write=True)
    desk.arrive(flow, 7 << 20)
    served = []
    while served[-1:] != [5]:
        chosen, request = desk.dispatch()
        assert chosen is flow
        served.append(request.pos >> 20)
        desk.now += MS
        desk.device.complete(chosen, request, desk.now)
    return served


@pytest.mark.parametrize(("oldest", "conforms", "served"), [
    ({"sync": False, "write": True}, False, [7, 9, 5]),
    ({"sync": False, "write": True}, True, [5]),
    ({"sync": True, "write": True}, False, [5]),
    ({"sync": True}, False, [5]),
])
def test_a_synchronous_request_passes_the_oldest_one(desk, oldest, conforms, served):
    """It does not pass one that conforms or is synchronous; then the others go by position."""
    flow, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    for each in (flow, other):
        desk.arrive(each, 6 << 20)
        assert desk.serve(MS) is each
    desk.now += 2 * SECOND if conforms else 0
    desk.device.quota.limit.value = 1 << 32
    assert order(desk, flow, oldest) == served


def test_a_request_that_passes_the_oldest_is_due_no_earlier(desk):
    """It does not conform either: with the large request before it the flow exceeds its curve."""
    flow = desk.init_flow(Params(4_096_000, 32768, 100 * MS))
    began = desk.now
    desk.arrive(flow, size=32768)
    desk.serve(MS)
    desk.arrive(flow, 5 << 20, sync=False, write=True, size=32768)
    desk.arrive(flow, 7 << 20)
    _, read = desk.dispatch()
    assert read.sync
    assert read.sent.due == began + 108 * MS
    assert not read.conforms


def test_the_oldest_request_is_passed_fifteen_times_in_a_row_at_most(desk):
    """This holds for short runs beside a flow with synchronous requests, too."""
    flow, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    desk.read(flow, 1)
    desk.arrive(flow, 5 << 20, sync=False, write=True)
    for place in range(40):
        for each in (flow, other):
            desk.arrive(each, place << 30)
    passed = -1
    chosen, request = None, None
    while not request or request.sync:
        chosen, request = desk.dispatch()
        desk.now += 10 * MS
        desk.device.complete(chosen, request, desk.now)
        passed += chosen is flow
    assert 0 < passed < SWEEP


def test_no_request_passes_an_expired_one(desk):
    """A synchronous request of its flow does not pass it, either."""
    flow = desk.init_flow(SPARE)
    desk.read(flow, 1)
    desk.arrive(flow, 5 << 20, sync=False, write=True)
    desk.now += 30 * SECOND
    desk.arrive(flow, 7 << 20)
    assert not desk.dispatch()[1].sync


def test_requests_of_flash_go_in_their_order(flash):
    """The drive orders them by itself."""
    flow = flash.init_flow(SPARE)
    flash.read(flow, 1)
    flash.arrive(flow, 5 << 20, sync=False, write=True)
    flash.arrive(flow, 7 << 20)
    assert not flash.dispatch()[1].sync


def test_a_sweep_passes_the_oldest_request_sixteen_times_at_most(desk):
    """After sixteen requests the oldest one is dispatched, wherever it is."""
    flow = desk.init_flow(LATER)
    for place in (10, 20, 30):
        desk.arrive(flow, place << 20)
    for _ in range(2):
        desk.serve()
    desk.arrive(flow, 1)
    desk.serve()
    for i in range(40):
        desk.arrive(flow, (1 << 50) + (i << 20))
    order = []
    for _ in range(SWEEP):
        served = desk.dispatch()
        order.append(served[1].pos)
        desk.device.complete(*served, desk.now)
    assert 1 in order


def test_a_device_that_queues_orders_by_itself(desk):
    """While a request is in flight the oldest is next."""
    flow = desk.init_flow(LATER)
    for place in (50, 90, 10):
        desk.arrive(flow, place << 20)
    assert [desk.dispatch()[1].pos >> 20 for _ in range(3)] == [50, 90, 10]


def test_switch_is_reported_once(desk):
    """A choice reports once that another flow became active."""
    one = desk.init_flow(SOON)
    desk.arrive(one)
    desk.arrive(one, pos=1 << 20)
    choice = desk.device.choose(desk.now)
    assert choice.switched
    desk.device.dispatch(one, desk.now)
    assert not desk.device.choose(desk.now).switched
