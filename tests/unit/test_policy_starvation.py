"""Single decisions of the policy, checked by hand: the background, and expired heads."""

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit.desk import LATER, MS, SOON

EXPIRE = 30 * SECOND


def test_background_goes_last(desk):
    """Behind all other requests, even if those arrived later."""
    flow = desk.init_flow(LATER)
    desk.arrive(desk.device.background)
    desk.device.choose(desk.now)
    desk.device.dispatch(desk.device.background, desk.now)
    desk.arrive(desk.device.background)
    desk.arrive(flow)
    assert [desk.dispatch()[0] for _ in range(2)] == [flow, desk.device.background]


@pytest.mark.parametrize(("early", "first"), [(1, "flow"), (0, "background")])
def test_background_has_its_part(desk, early, first):
    """The background has a small part of the device's time, whatever others are owed."""
    flow, background = desk.init_flow(SOON), desk.device.background
    desk.arrive(background)
    assert desk.serve() is background
    desk.arrive(background)
    desk.now = desk.device.view().background_due - early
    desk.arrive(flow)
    assert desk.serve() is (flow if first == "flow" else background)


def test_background_ends_the_run_of_another(desk):
    """It has its part of the time during a long run, too; then no flow is active."""
    flow, background = desk.init_flow(LATER), desk.device.background
    desk.arrive(background)
    desk.serve()
    desk.arrive(background)
    pos = 0
    while desk.now < desk.device.view().background_due:
        pos = desk.read(flow, 1, pos, MS)
    desk.arrive(flow, pos)
    assert desk.serve() is background
    assert desk.device.view().active is None


def test_a_write_of_the_background_that_is_held_back_ends_no_run(desk):
    """It is due but may not be dispatched: the active flow keeps the device."""
    tight, flow, background = desk.init_flow(SOON), desk.init_flow(LATER), desk.device.background
    desk.device.quota.limit.value = 1 << 16
    desk.arrive(tight)
    assert desk.serve(MS) is tight
    for _ in range(2):
        desk.arrive(background, size=1 << 20, write=True)
    assert desk.serve(MS) in (background, None)
    pos = 0
    while desk.now < desk.device.view().background_due + 200 * MS:
        desk.arrive(flow, pos)
        pos += 8
        assert desk.serve(MS) in (flow, background)
    assert desk.device.view().run > 100


@pytest.mark.parametrize(("early", "first"), [(1, "soon"), (0, "slow")])
def test_an_expired_head_goes_first(desk, early, first):
    """It goes first even if it is due much later."""
    slow, soon = desk.init_flow(Params(4096, 4096, 100 * SECOND)), desk.init_flow(SOON)
    desk.arrive(slow, 1 << 30)
    desk.now += EXPIRE - early
    desk.arrive(soon)
    assert desk.serve() is {"soon": soon, "slow": slow}[first]


def test_between_expired_heads_the_rest_has_its_time(desk):
    """After each expired head the others have the device for two positionings."""
    slow = Params(4096, 4096, 100 * SECOND)
    one, two, soon = desk.init_flow(slow), desk.init_flow(slow), desk.init_flow(SOON)
    desk.arrive(one, sync=False)
    desk.arrive(two, sync=False)
    desk.now += EXPIRE
    for i in range(2):
        desk.arrive(soon, i << 30)
    assert [desk.serve(), desk.serve()] == [one, soon]
    desk.now += 30 * MS
    assert desk.serve() is two


def test_an_expired_head_that_goes_late_puts_off_no_other(desk):
    """The device takes its next request late; the next expired head is due as if it had not."""
    slow = Params(4096, 4096, 100 * SECOND)
    expired, soon = [desk.init_flow(slow) for _ in range(3)], desk.init_flow(SOON)
    for flow in expired:
        desk.arrive(flow, sync=False)
    desk.now += EXPIRE
    due = desk.now
    for late, flow in ((0, expired[0]), (10 * MS, expired[1])):
        desk.now = due + late
        assert desk.serve() is flow
        due += 2 * desk.longest
    desk.arrive(soon)
    desk.now = due - 1
    assert desk.dispatch()[0] is soon
    desk.now = due
    assert desk.dispatch()[0] is expired[2]
