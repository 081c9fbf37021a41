"""Single decisions of the policy, checked by hand: changes of a flow or a request."""

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.desk import MS, SOON, SPARE
from tests.unit.host import Request


def test_merge_keeps_the_earlier_place(desk):
    """Either request may be kept. It costs as much as both."""
    flow = desk.init_flow(SOON)
    for i in range(4):
        desk.arrive(flow, pos=i << 20)
    first, _, _, last = flow.queue
    desk.device.merge(flow, last, first)
    assert flow.queue[0] is last
    assert flow.view().pending == 3
    assert desk.dispatch()[1] is last
    assert last.sent.cost == 2 * COST_MIN


def test_a_request_that_has_grown_is_entitled_later(desk):
    """A bio was merged into the request, which then needs more of the burst."""
    flow = desk.init_flow(SOON)
    for i in range(2):
        desk.arrive(flow, pos=i << 20)
    desk.serve()
    start = flow.view().start
    desk.device.grow(flow, flow.queue[0], 8192)
    assert flow.view().start > start


def test_a_new_reservation_begins_with_a_full_burst(desk):
    """The new reservation applies to pending requests at once."""
    flow = desk.init_flow(SPARE)
    for i in range(3):
        desk.arrive(flow, i << 20)
    desk.serve()
    assert flow.view().start > desk.now
    desk.device.configure(flow, Params(1 << 20, 1 << 20, MS), desk.now)
    assert flow.view().start <= desk.now
    assert flow.view().deadline <= desk.now + MS


def test_a_flow_is_as_new_once_its_burst_is_whole(desk):
    """A new flow has a whole burst and no debt; a flow that lacks either is kept."""
    flow, pooled = desk.init_flow(SPARE), desk.init_flow(None)
    desk.device.configure_pool(pooled, SPARE, desk.now)
    for each in (flow, pooled):
        for i in range(3):
            desk.arrive(each, i << 20)
    while flow.queue or pooled.queue:
        desk.serve()
    tag = flow.view().tag
    assert tag > desk.now
    assert not flow.as_new(tag - 1)
    assert flow.as_new(tag)
    assert pooled.as_new(desk.now)
    desk.device.set_cap(flow, 1 << 30, desk.now)
    assert not flow.as_new(tag)


def test_a_new_weight_begins_with_a_new_share(desk):
    """Otherwise its time with a small weight would delay it for long with a large weight."""
    flow, other = desk.init_flow(SPARE._replace(weight=1)), desk.init_flow(SPARE)
    for i in range(20):
        desk.arrive(flow, i << 30)
        desk.serve(10 * MS)
    assert flow.view().share > other.view().share
    for each in (flow, other):
        desk.device.configure(each, SPARE._replace(weight=100), desk.now)
    assert flow.view().share == other.view().share


def test_a_request_that_bypasses_the_policy_counts_as_in_flight(desk):
    """The number in flight is then right after it completes."""
    flow = desk.init_flow(SOON)
    request = Request(COST_MIN)
    desk.device.redispatch(flow, request, desk.now)
    assert flow.view().in_flight == 1
    assert not desk.device.complete(flow, request, desk.now + 5)
    assert flow.view().in_flight == 0
    assert desk.device.view().load == 0


def test_a_request_that_bypasses_the_policy_ends_the_idle_time(desk):
    """Nothing was owed to the flow meanwhile, so its later requests are not behind."""
    flow = desk.init_flow(SOON)
    desk.now += 10 * SECOND
    desk.device.charge_bypass(flow, COST_MIN, desk.now)
    assert flow.view().tag == desk.now + MS


@pytest.mark.parametrize("reserved", [True, False])
def test_a_request_that_bypasses_the_policy_is_charged_if_it_is_entitled(desk, reserved):
    """If it is not entitled it is surplus, which is charged as device time."""
    flow = desk.init_flow(SOON if reserved else SPARE)
    if not reserved:
        desk.device.charge_bypass(flow, COST_MIN, desk.now)
    before = flow.view().tag
    desk.device.charge_bypass(flow, COST_MIN, desk.now)
    assert (flow.view().tag > before) is reserved
