"""Single decisions of the policy, checked by hand: waits."""

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit.desk import MS, PAGE, SOON, SPARE, T_WAIT, Desk


def waiting(desk):
    """A sequential read has just completed, another flow is backlogged, and the device waits."""
    reader, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    pos = desk.read(reader, 9)
    desk.arrive(reader, pos)
    served = desk.dispatch()
    desk.arrive(other)
    choice = desk.device.choose(desk.now)
    assert choice.wait_began
    assert choice.flow is None
    assert desk.device.view().wait == "service"
    desk.now += 2 * MS
    assert desk.device.complete(*served, desk.now)
    return reader, other, pos + PAGE


def test_wait_hit(desk):
    """The next request arrives in time: it is served at once, and the run continues."""
    reader, _, pos = waiting(desk)
    desk.now += MS - 1
    assert desk.serve() is None
    assert desk.arrive(reader, pos).hit
    assert desk.serve() is reader


def test_wait_ends(desk):
    """If that request does not arrive, the other flow is served when the wait ends, to the ns."""
    _, other, _ = waiting(desk)
    assert desk.device.view().wait_until == desk.now + MS
    desk.now += MS - 1
    assert not desk.device.timeout(desk.now)
    assert desk.serve() is None
    desk.now += 1
    choice = desk.device.choose(desk.now)
    assert choice.timed_out
    assert choice.flow is other


def test_the_timer_ends_a_wait(desk):
    """After that no flow is active: a request that arrives too late has no preference."""
    reader, other, pos = waiting(desk)
    desk.now += MS
    assert desk.device.timeout(desk.now)
    assert desk.device.view().active is None
    assert not desk.arrive(reader, pos).hit
    assert desk.serve() is other


def test_another_arrival_does_not_end_a_wait(desk):
    """Only an arrival of the active flow does."""
    _, other, _ = waiting(desk)
    assert not desk.arrive(other).hit
    assert desk.device.view().wait == "arrival"


def test_a_wait_makes_no_other_flow_late(desk):
    """The wait ends earlier if a request arrives that would otherwise be late."""
    waiting(desk)
    until = desk.device.view().wait_until
    tight = desk.init_flow(SOON._replace(latency=10 * MS))
    assert desk.arrive(tight, 1 << 40).wait_shortened
    assert desk.device.view().wait_until < until
    assert desk.serve() is tight


def test_wait_is_cancelled(desk):
    """A change of a tunable cancels it, for example."""
    _, other, _ = waiting(desk)
    assert desk.device.cancel_wait()
    assert desk.serve() is other
    assert not desk.device.cancel_wait()


def test_wait_ends_with_its_reservation(desk):
    """The device does not wait for a flow that is gone."""
    reader, other, _ = waiting(desk)
    assert desk.device.exit_flow(reader)
    assert desk.serve() is other


def test_no_wait_for_a_requeued_request(desk):
    """A requeued request may bypass the policy, so the wait for its completion ends."""
    reader, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    pos = desk.read(reader, 9)
    desk.arrive(reader, pos)
    _, request = desk.dispatch()
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.requeue(reader, request)
    assert desk.serve() is other


def test_a_lost_request_is_not_waited_for_for_ever(desk):
    """A wait for a completion ends T_wait after the request would be late."""
    reader, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    pos = desk.read(reader, 9)
    desk.arrive(reader, pos)
    desk.dispatch()
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.view().wait_until <= desk.now + SPARE.latency + T_WAIT
    desk.now = desk.device.view().wait_until
    assert desk.dispatch()[0] is other


def beside_a_run(desk):
    """A random reader with one request in flight, after a run of a flow with many requests.

    The request in flight is the reader's, and neither flow is entitled to one. Also return how much
    less time than the other the reader had, ns.
    """
    reader, deep = desk.init_flow(SPARE), desk.init_flow(SPARE)
    for place in range(9):
        desk.arrive(reader, place << 30)
        assert desk.serve(10 * MS) is reader
    since = desk.now
    for place in range(90):
        desk.arrive(deep, place << 20, sync=False)
    assert desk.serve(10 * MS) is deep
    desk.arrive(reader, 9 << 30)
    while (sent := desk.dispatch())[0] is deep:
        desk.now += 10 * MS
        desk.device.complete(*sent, desk.now)
    return reader, sent, desk.now - since - 9 * 10 * MS


def test_a_flow_that_had_less_than_its_share_keeps_the_device(desk):
    """It keeps the device until it lacks no more than one positioning of its share.

    Otherwise a reader with one request in flight has one request for each run of a neighbour.
    """
    reader, sent, less = beside_a_run(desk)
    since = desk.now
    while sent and sent[0] is reader:
        desk.now += 10 * MS
        desk.device.complete(*sent, desk.now)
        sent = desk.dispatch()
        if not sent:
            desk.arrive(reader, desk.now << 10)
            sent = desk.dispatch()
    assert less - desk.longest <= desk.now - since <= less + 10 * MS
    assert less > 3 * desk.longest


def test_a_flow_that_had_less_than_its_share_is_waited_for(desk):
    """The device waits for it for a moment, as for any flow that keeps the device."""
    _, sent, _ = beside_a_run(desk)
    desk.device.complete(*sent, desk.now)
    assert desk.device.choose(desk.now).wait_began


def never_waits(desk):
    """Return true if another request is served while the active flow has none pending."""
    other = desk.init_flow(SPARE)
    desk.arrive(other)
    return desk.serve() is other


def test_no_wait_without_t_wait(lib):
    """T_wait 0: the device is never idle."""
    desk = Desk(lib, t_wait=0)
    desk.read(desk.init_flow(SPARE), 9)
    assert never_waits(desk)


def test_no_wait_for_a_completion_without_t_wait(lib):
    """The device is not kept for the active flow while a request of it is in flight, either."""
    desk = Desk(lib, t_wait=0)
    reader, other = (desk.init_flow(SPARE) for _ in range(2))
    place = desk.read(reader, 9)
    desk.arrive(reader, place)
    desk.arrive(other, 1 << 30)
    assert {desk.dispatch()[0] for _ in range(2)} == {reader, other}


def test_no_wait_for_random_readers(desk):
    """The next request needs a seek anyway."""
    reader = desk.init_flow(SPARE)
    for i in range(8):
        desk.read(reader, 1, pos=i << 30)
    assert never_waits(desk)


def test_no_wait_for_writers(desk):
    """No task waits for an asynchronous write, so the next one does not depend on it."""
    writer = desk.init_flow(SPARE)
    for i in range(9):
        desk.arrive(writer, i * PAGE, sync=False)
        desk.serve()
    assert never_waits(desk)


@pytest.mark.parametrize(("pause", "waits"), [(MS // 2, True), (3 * MS, False)])
def test_think_time(desk, pause, waits):
    """Four think times, the longest wait, must be shorter than a positioning."""
    reader = desk.init_flow(SPARE)
    pos = 0
    for _ in range(20):
        desk.now += pause
        pos = desk.read(reader, 1, pos, took=MS // 10)
    assert never_waits(desk) is not waits


def test_a_long_pause_counts_for_twice_t_wait(desk):
    """It tells no more than a pause that was too long to wait for."""
    reader = desk.init_flow(SPARE)
    pos = desk.read(reader, 9)
    desk.now += 100 * SECOND
    desk.read(reader, 1, pos)
    assert reader.view().think == 2 * T_WAIT // 8


@pytest.mark.parametrize(("waits", "overload"), [
    ((150, 150, 0), False),    # at most 100 ms behind, and in time
    ((150, 150, 150), True),   # a whole latency behind in the end
    ((250, 250, 0), True)], ids=str)
def test_turns_that_begin_late(lib, waits, overload):
    """A turn is late after the latency, or a latency behind the pace, unless it catches up.

    The flow has one request in flight, reserves one in 100 ms, and has a latency of 200 ms. The
    background has the device after each of its requests.
    """
    desk = Desk(lib, t_wait=0)
    flow, background = desk.init_flow(Params(40_960, 4096, 200 * MS)), desk.device.background
    began = False
    for _ in range(100):
        for wait in waits:
            desk.arrive(flow, desk.now << 10)
            desk.now += wait * MS
            assert desk.device.choose(desk.now).flow is flow
            request, over = desk.device.dispatch(flow, desk.now)
            desk.device.complete(flow, request, desk.now)
            began |= over
            desk.arrive(background)
            assert desk.serve() is background
    assert began is overload
