"""In an overload no flow counts for more than the whole device: worked out by hand."""

import pytest

from tests.model.reservation import Params
from tests.unit.host import WRAP
from tests.unit.test_policy import MS, SECOND, Desk
from tests.unit.test_slack import SEEK, overload

ABSURD = Params(1 << 30, 1 << 30, 100 * MS)
TEN = Params(40_960, 4096, 100 * MS)  # blocks a second


@pytest.fixture
def desk(lib):
    """T_wait 10 ms, a B_max that is never reached, a seek that takes 10 ms."""
    return Desk(lib, b_max=1 << 20, rule="slack", seek=SEEK)


@pytest.mark.parametrize("latency", [100 * MS, 5 * SECOND])
@pytest.mark.parametrize("others", [1, 3, 9])
def test_each_flow_gets_an_equal_part_of_its_reservation(desk, others, latency):
    """At least, whatever the other flows reserve, with sixteen requests pending each.

    A flow with a longer latency than theirs first waits for the difference.
    """
    ten = TEN._replace(latency=latency)
    small, *absurd = [desk.init_flow(ten), *(desk.init_flow(ABSURD) for _ in range(others))]
    overload(desk, absurd)
    served, begin, pos = [], desk.now, 0
    for flow in [*absurd * 16, small]:
        desk.arrive(flow, pos := pos + (1 << 30))
    while desk.now < begin + 200 * SECOND:
        served.append(desk.serve(10 * MS))
        desk.arrive(served[-1], pos := pos + (1 << 30))
    assert desk.device.overload.now
    first = others * (latency - ABSURD.latency) // SECOND
    assert served.count(small) >= 10 * (200 - first) // (others + 1)
    assert served.count(absurd[0]) > 10 * served.count(small) // 2


def struggle(desk):
    """In an overload, a flow that reserves all has two requests pending; also, their v."""
    flow, other = desk.init_flow(ABSURD), desk.init_flow(TEN)
    overload(desk, (flow, other))
    v = desk.arrive(other).start
    for _ in range(2):
        desk.arrive(flow)
    return flow, v


@pytest.mark.parametrize(("took", "back"), [(30 * MS, 30 * MS), (5 * SECOND, SECOND)])
def test_tags_of_pending_requests_move_ahead(desk, took, back):
    """By the time that the device took for the request before, a second at most."""
    flow, v = struggle(desk)
    request, _ = desk.device.dispatch(flow, desk.now)
    assert flow.view().finish == v + ABSURD.latency
    desk.now += took
    desk.device.complete(flow, request, desk.now)
    assert flow.view().finish == v + back + ABSURD.latency


@pytest.mark.parametrize("rule", ["paper", "slack"])
def test_only_in_an_overload(lib, rule):
    """With policy=paper not even there."""
    desk = Desk(lib, b_max=1 << 20, rule=rule, seek=SEEK)
    flow = desk.init_flow(ABSURD)
    if rule == "paper":
        overload(desk, (flow, desk.init_flow(TEN)))
    start = [desk.arrive(flow).start for _ in range(2)]
    desk.serve(SECOND)
    assert flow.view().finish == start[1] + ABSURD.latency


def begin(desk, flow, other):
    """An overload begins: turns of another flow are late while a request takes a second."""
    pos = 0
    while not desk.device.overload.now:
        pos += 1 << 30
        desk.arrive(flow, pos)
        sent, _ = desk.device.dispatch(flow, desk.now)
        desk.arrive(other, 2 * pos)
        desk.now += SECOND
        assert desk.device.choose(desk.now).flow is other
        late, _ = desk.device.dispatch(other, desk.now)
        desk.device.complete(flow, sent, desk.now)
        desk.device.complete(other, late, desk.now)


def test_the_device_tag_outlasts_the_overload(desk):
    """By the time that the device took; reserved work is not charged to the share tag."""
    flow, other = desk.init_flow(TEN._replace(weight=100, latency=10 * SECOND)), desk.init_flow(TEN)
    begin(desk, flow, other)
    desk.arrive(other, 1 << 50)
    starts = [desk.arrive(flow, pos).start for pos in (1 << 30, 1 << 40)]
    assert flow.view().finish > starts[0] + flow.curve.params.latency
    assert desk.serve() is other
    assert not desk.device.overload.now
    assert [desk.serve(), desk.serve()] == [flow, flow]
    assert flow.view().share == 0


def test_the_device_tag_is_forgotten(desk):
    """When the overload is over and virtual time has reached it; also after a wrap."""
    flow, v = struggle(desk)
    request, _ = desk.device.dispatch(flow, desk.now)
    desk.now += 30 * MS
    desk.device.complete(flow, request, desk.now)
    assert flow.view().finish == v + 30 * MS + ABSURD.latency
    while desk.serve():
        pass
    desk.now += 1 << 63
    arrival = desk.arrive(flow)
    assert flow.view().finish == (arrival.v + ABSURD.latency) % WRAP
