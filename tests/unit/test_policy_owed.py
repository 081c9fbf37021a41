"""Single decisions of the policy, checked by hand: owed requests."""

from itertools import pairwise

import pytest

from tests.model.reservation import SECOND
from tests.unit.desk import LATER, MS, PAGE, SOON, SPARE, T_WAIT


def test_reserved_work_before_surplus(desk):
    """A flow that used its burst waits for one that did not, even though that one had more time."""
    greedy, modest = desk.init_flow(SPARE), desk.init_flow(LATER)
    for pos in range(4):
        desk.arrive(modest, pos << 20)
        assert desk.serve(20 * MS) is modest
        desk.now += SECOND
    desk.arrive(greedy)
    assert desk.serve() is greedy
    desk.arrive(greedy, 1 << 20)
    desk.arrive(modest)
    assert [desk.serve(), desk.serve()] == [modest, greedy]


def test_the_earliest_deadline_of_reserved_work_first(flash):
    """A request that arrived later may be due earlier."""
    later, soon = flash.init_flow(LATER), flash.init_flow(SOON)
    flash.arrive(later)
    flash.arrive(soon)
    assert [flash.serve(), flash.serve(), flash.serve()] == [soon, later, None]


@pytest.mark.parametrize(("waited", "nearest"), [(100, True), (185, False), (190, False)])
def test_the_nearest_of_reserved_work_first(desk, waited, nearest):
    """On a device that seeks the nearest head goes while all can be in time, later the earliest."""
    soon, later = desk.init_flow(SOON), desk.init_flow(LATER)
    desk.arrive(soon, 1 << 30)
    desk.arrive(later, PAGE)
    desk.now += waited * MS
    assert desk.serve() is (later if nearest else soon)


def test_surplus_is_not_charged(desk):
    """A flow that was alone and read far beyond its reservation has its whole burst afterwards."""
    flow = desk.init_flow(SOON)
    desk.read(flow, 1000)
    desk.now += 3 * MS
    desk.arrive(flow)
    assert desk.device.choose(desk.now).flow is flow
    request, _ = desk.device.dispatch(flow, desk.now)
    assert request.conforms


def test_a_request_conforms_if_it_is_entitled_when_it_arrives(desk):
    """Two blocks are a burst; the third one is entitled a millisecond later."""
    flow = desk.init_flow(SOON)
    for i in range(4):
        desk.arrive(flow, i << 20)
    requests = []
    for _ in range(4):
        requests.append(desk.dispatch()[1])
        desk.now += MS
        desk.device.complete(flow, requests[-1], desk.now)
    assert [request.conforms for request in requests] == [True, True, False, False]
    assert [request.due - SECOND - SOON.latency for request in requests] == [0, 0, MS, 2 * MS]


def test_a_sequential_flow_waits_until_it_is_due(desk):
    """The more requests it has, the fewer seeks it needs, so surplus goes before its owed ones."""
    reader = desk.init_flow(LATER._replace(bw=LATER.bw // 10, weight=1))
    other = desk.init_flow(SPARE._replace(weight=1000))
    pos = desk.read(reader, 9, took=MS // 2)
    desk.now += T_WAIT
    for i in range(3):
        desk.arrive(other, i << 30)
    assert [desk.serve(MS), desk.serve(MS)] == [other, other]
    desk.arrive(reader, pos)
    assert desk.serve(MS) is other
    desk.arrive(other, 1 << 40)
    desk.now += LATER.latency - 5 * MS
    assert desk.serve() is reader


def test_a_flow_behind_its_pace_keeps_the_device(desk):
    """A random reader whose requests were late catches up in one batch."""
    late, other = desk.init_flow(LATER._replace(bw=204_800)), desk.init_flow(SOON)
    for took in (10 * MS, 90 * MS):
        desk.arrive(late)
        desk.serve(took)
    desk.arrive(other)
    served = []
    for i in range(1, 4):
        desk.arrive(late, i << 20)
        served.append(desk.serve(5 * MS))
    assert served == [late, late, late]


RARE = SPARE._replace(latency=100 * MS)


def test_late_requests_widen_the_margin(desk, flash):
    """The margin of the worst case; many requests in time narrow it to the initial margin."""
    for device, seeks in ((desk, True), (flash, False)):
        flow, margin = device.init_flow(RARE), device.device.view().margin
        for _ in range(4):
            device.now += SECOND
            device.arrive(flow)
            device.serve(120 * MS)
        assert (device.device.view().margin > 1.2 * margin) is seeks
        for _ in range(20_000):
            device.now += SECOND
            device.arrive(flow)
            device.serve(MS)
        assert device.device.view().margin == margin


def test_the_first_late_request_doubles_the_margin(desk):
    """Each later one widens it by a smaller part, as with the limits."""
    flow, margins = desk.init_flow(RARE._replace(latency=30 * MS)), [desk.device.view().margin]
    for _ in range(3):
        desk.now += SECOND
        desk.arrive(flow)
        desk.serve(40 * MS)
        margins.append(desk.device.view().margin)
    parts = [one / other for one, other in pairwise(margins)]
    assert parts == pytest.approx([1 / 2, 3 / 4, 7 / 8], rel=0.01)


@pytest.mark.parametrize("latency", [100 * MS, 200 * MS])
def test_requests_late_by_a_stall_do_not_widen_the_margin(desk, latency):
    """No margin makes up for a stall that is as long as a latency, however many there are."""
    flow, margin = desk.init_flow(RARE._replace(latency=latency)), desk.device.view().margin
    for _ in range(3):
        desk.now += 2 * SECOND
        for place in range(3):
            desk.arrive(flow, place << 30)
        for took in (400 * MS, MS, MS):
            desk.serve(took)
    assert desk.device.view().margin == margin


def test_the_margin_has_a_bound(desk):
    """Otherwise heads would have to be served before they are entitled if many are late."""
    flow, margin = desk.init_flow(RARE), desk.device.view().margin
    for _ in range(200):
        desk.now += SECOND
        desk.arrive(flow)
        desk.serve(200 * MS)
    assert desk.device.view().margin // margin == margin // 256
