"""The length of turns in a crowd: more requests conform than can be in time with a seek each."""

from ctypes import byref

import pytest

from tests.model.reservation import Params
from tests.unit.host import CService, memory
from tests.unit.test_policy import MS, PAGE, SECOND, Desk

SEEK = 10 * MS
TURN = SEEK // 8  # the initial length of a turn
NEAR = Params(4_096_000, 409_600, 60 * MS)


@pytest.fixture
def service(lib):
    """A device whose seeks take 10 ms, in its initial state."""
    fresh = CService()
    lib.htbs_service_init(byref(fresh), SEEK)
    return fresh


def crowded(lib, service, *heads, in_flight=0):
    """Is there a crowd of these heads: (latency in ms, how many requests, do they conform)."""
    tree, nodes = memory(lib, "tree"), []
    lib.htbs_tree_init(tree)
    for place, (latency, count, conforms) in enumerate(heads):
        nodes.append(memory(lib, "node"))
        lib.host_node_set(nodes[-1], place, place + latency * MS)
        lib.host_node_set_due(nodes[-1], 0, count)
        lib.host_node_set_conforms(nodes[-1], conforms)
        lib.htbs_tree_insert(tree, nodes[-1])
    return lib.htbs_slack_crowded(byref(service), tree, in_flight)


@pytest.mark.parametrize(("heads", "in_flight", "crowd"), [
    ([], 9, False),
    ([(60, 1, True)] * 5, 0, False),  # behind one that the device has just begun to serve
    ([(60, 1, True)] * 6, 0, True),
    ([(60, 1, True)] * 4, 1, False),
    ([(60, 1, True)] * 4, 2, True),
    ([(60, 1, True), (60, 4, True)], 0, False),
    ([(60, 1, True), (60, 5, True)], 0, True),
    ([(60, 1, True)] * 5 + [(60, 9, False)], 0, False),  # surplus can wait
    ([(60, 1, True)] * 5 + [(70, 1, True)], 0, False),  # so can a head with a later deadline
    ([(60, 1, True)] * 5 + [(70, 2, True)], 0, True),  # unless those before take all the time
    ([(9, 1, True)], 0, True),
])
def test_a_crowd(lib, service, heads, in_flight, crowd):
    """Not all conforming requests would be in time, had they arrived just now."""
    assert crowded(lib, service, *heads, in_flight=in_flight) == crowd


def test_sixteen_heads_are_looked_at(lib, service):
    """Heads behind them are ignored."""
    heads = [(SECOND // MS, 1, True)] * 15
    assert not crowded(lib, service, *heads, (2000, 1, True), (2000, 500, True))
    assert crowded(lib, service, *heads, (2000, 500, True))


def test_turns_grow_by_steps_and_shrink_by_half(lib, service):
    """A turn that begins with three seeks left to its deadline is in time."""
    lib.htbs_service_begin_turn(byref(service), 3 * SEEK)
    assert service.turn == TURN + SEEK // 256
    lib.htbs_service_begin_turn(byref(service), 3 * SEEK - 1)
    assert service.turn == (TURN + SEEK // 256) // 2


def test_turns_have_a_maximum(lib, service):
    """A second and a step at most."""
    for _ in range(60_000):
        lib.htbs_service_begin_turn(byref(service), SECOND)
    assert service.turn == pytest.approx(SECOND, rel=0.001)


@pytest.fixture
def desk(lib):
    """A disk and six sequential readers with one request pending each."""
    desk = Desk(lib, b_max=1 << 20, rule="slack", seek=SEEK)
    desk.device.set_rotational(True)
    desk.flows = [desk.init_flow(NEAR) for _ in range(6)]
    for place, flow in enumerate(desk.flows):
        desk.read(flow, 8, place << 30)
        desk.now += SECOND
    desk.device.service.seek, desk.device.service.turn = SEEK, 4 * MS
    return desk


def crowd(desk):
    """After a pause a request of each flow arrives; that of the first is served in 7 ms."""
    desk.now += SECOND
    for place, flow in enumerate(desk.flows):
        desk.arrive(flow, (place << 30) + 8 * PAGE)
    assert desk.serve(7 * MS) is desk.flows[0]


def test_a_turn_in_a_crowd(desk):
    """Though no other head can wait, a turn lasts for 4 ms and a step after its first request."""
    crowd(desk)
    begin = desk.now
    for n in range(20):
        desk.arrive(desk.flows[0], (9 + n) * PAGE)
        if desk.serve(MS) is not desk.flows[0]:
            break
        desk.device.service.seek = SEEK
    assert desk.now - begin == 6 * MS
    assert n == 5


def test_the_device_waits_for_the_flow_in_its_turn(desk):
    """As long as the turn lasts, if the next request has not arrived."""
    crowd(desk)
    for n in range(6):  # until its mean think time is little more than a millisecond
        assert not desk.device.view().wait
        desk.arrive(desk.flows[0], (9 + n) * PAGE)
        assert desk.serve() is desk.flows[0]
        desk.device.service.seek = SEEK
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.view().wait_until == desk.now + 4 * MS + SEEK // 256


def test_surplus_has_no_turn_in_a_crowd(desk):
    """The run of a flood ends when its burst of a hundred requests is used up."""
    crowd(desk)
    for n in range(200):
        desk.arrive(desk.flows[0], (9 + n) * PAGE)
    served = 0
    while desk.serve() is desk.flows[0]:
        served += 1
    assert served == 100


def test_no_crowd_by_the_rule_of_the_paper(desk):
    """Only B_max and T_wait bound a run; the length of a turn does not change."""
    desk.device.set_rule("paper")
    for place, flow in enumerate(desk.flows):
        desk.arrive(flow, (place << 30) + 8 * PAGE)
    desk.arrive(desk.flows[0], 9 * PAGE)  # a crowd also when the last one is served
    assert desk.serve() is desk.flows[-1]
    assert desk.device.choose(desk.now).wait_began
    desk.now += SECOND
    assert desk.serve() is desk.flows[0]
    assert desk.device.service.turn == 4 * MS


def test_no_crowd_on_a_device_that_does_not_seek(desk):
    """A longer turn saves no seeks there."""
    desk.device.set_rotational(False)
    crowd(desk)
    desk.arrive(desk.flows[0], 9 * PAGE)
    assert desk.serve() is desk.flows[1]
