"""Single decisions of the policy, checked by hand: requests in flight."""

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.desk import MS, SOON, SPARE, T_WAIT

KEPT = 128  # HTBS_DEADLINES_MAX


def test_a_request_that_would_make_a_conforming_one_late_is_held(desk):
    """It is held until that request completes, or until a head may have expired."""
    tight, greedy = desk.init_flow(SOON._replace(latency=30 * MS)), desk.init_flow(SPARE)
    desk.arrive(tight)
    served = desk.dispatch()
    for i in range(5):
        desk.arrive(greedy, i << 30)
    sent = 0
    while desk.dispatch():
        sent += 1
    assert sent < 4
    assert desk.device.view().held
    assert desk.device.timer() == desk.now + 2 * desk.longest + T_WAIT
    desk.device.complete(*served, desk.now + MS)
    assert not desk.device.view().held


def test_a_conforming_request_in_flight_is_not_made_late(desk):
    """It is not made late even if, after a second, no other request of its flow is expected."""
    tight, greedy = desk.init_flow(SOON._replace(latency=SECOND + 20 * MS)), desk.init_flow(SPARE)
    desk.arrive(tight, sync=False)
    desk.dispatch()
    desk.now += SECOND + 15 * MS
    desk.arrive(greedy)
    assert not desk.dispatch()
    assert desk.device.view().held


def test_a_request_that_never_completes_holds_no_other_back(desk):
    """Because its task does not poll for it, or the device lost it.

    It holds others for a second.
    """
    lost, other = desk.init_flow(SOON), desk.init_flow(SOON)
    desk.arrive(lost, sync=False)
    desk.dispatch()
    desk.now += SOON.latency
    desk.arrive(other, 1 << 30)
    assert not desk.dispatch()
    desk.now += SECOND + 200 * MS
    for _ in range(20):
        assert desk.serve(MS) is other
        desk.arrive(other, 1 << 30)


def test_a_request_that_is_dispatched_late_is_not_passed(desk):
    """It has been in flight for a short time only, so it is not one that never completes."""
    late, other = desk.init_flow(SOON), desk.init_flow(SPARE)
    desk.arrive(late, sync=False)
    desk.now += 10 * SECOND
    served = desk.dispatch()
    desk.arrive(other, 1 << 30)
    assert not desk.dispatch()
    desk.device.complete(*served, desk.now + 10 * MS)
    desk.now += 10 * MS
    assert desk.dispatch()[0] is other


@pytest.mark.parametrize(("latency", "goes"), [(10 * MS, True), (20 * MS, False)])
def test_an_owed_request_is_not_held_for_one_with_more_time(desk, latency, goes):
    """It is dispatched even if the device is expected to take longer than its latency."""
    patient = desk.init_flow(SOON._replace(latency=40 * MS))
    desk.arrive(patient, sync=False)
    desk.dispatch()
    desk.now += 25 * MS
    desk.arrive(desk.init_flow(SOON._replace(latency=latency)))
    assert bool(desk.dispatch()) == goes


def test_a_request_in_flight_is_due_earlier_if_its_flow_is_behind(desk):
    """Otherwise the drive passes it for surplus as its latency allows, and bandwidth is lost."""
    behind = desk.init_flow(Params(204_800, 4096, SECOND))
    for _ in range(5):
        desk.arrive(behind, sync=False)
        desk.now += 300 * MS
        assert desk.serve(took=10 * MS) is behind
    desk.arrive(behind, sync=False)
    desk.dispatch()
    desk.arrive(desk.init_flow(SPARE))
    assert not desk.dispatch()
    assert desk.device.view().held


def test_surplus_in_flight_is_not_made_late(desk):
    """It is due as if it were pending, so the drive cannot pass it for ever."""
    modest, greedy = desk.init_flow(SPARE._replace(latency=30 * MS)), desk.init_flow(SPARE)
    for pos in (0, 1 << 20):
        desk.arrive(modest, pos, sync=False)
    conforming, surplus = (desk.dispatch()[1] for _ in range(2))
    assert (conforming.conforms, surplus.conforms) == (True, False)
    desk.device.complete(modest, conforming, desk.now)
    desk.now += SECOND + 20 * MS
    desk.arrive(greedy)
    assert not desk.dispatch()
    assert desk.device.view().held


def test_the_earliest_deadlines_in_flight_are_known(desk):
    """If the list is full, a late deadline is replaced by an earlier one."""
    greedy = desk.init_flow(SPARE._replace(burst=1 << 20, latency=100 * SECOND))
    tight = desk.init_flow(SOON._replace(latency=SECOND + 20 * MS))
    for i in range(KEPT + 8):
        desk.arrive(greedy, i << 20, sync=False)
        desk.dispatch()
    desk.arrive(tight, 1 << 30, sync=False)
    first = desk.dispatch()
    assert desk.device.view().in_flight == KEPT + 9
    desk.now += SECOND + 15 * MS
    desk.arrive(desk.init_flow(SPARE))
    assert not desk.dispatch()
    assert desk.device.view().held
    desk.device.complete(*first, desk.now + MS)
    assert desk.dispatch()


def test_a_request_of_a_long_queue_is_not_passed_for_ever(desk):
    """Its deadline is later than all that are kept; requests with these complete first."""
    greedy = desk.init_flow(SPARE._replace(burst=1 << 20, latency=10 * SECOND))
    patient = desk.init_flow(SOON._replace(latency=20 * SECOND))
    sent = []
    for i in range(KEPT):
        desk.arrive(greedy, i << 20, sync=False)
        sent.append(desk.dispatch())
    desk.arrive(patient, 1 << 30, sync=False)
    last = desk.dispatch()
    for each in sent:
        desk.device.complete(*each, desk.now + MS)
    desk.now += 20 * SECOND - 5 * MS
    desk.arrive(desk.init_flow(SPARE))
    assert not desk.dispatch()
    desk.device.complete(*last, desk.now + MS)
    assert desk.dispatch()


def test_estimates_of_a_flow_do_not_apply_to_a_new_one(desk):
    """A reader that stays in one place does not tell how far the disk seeks for a new one."""
    near = desk.init_flow(SPARE)
    for i in range(200):
        desk.arrive(near, (i % 2) << 20)
        desk.serve(MS)
    assert desk.device.service.position < 1.1 * MS
    new = desk.init_flow(SPARE)
    desk.arrive(new, 1 << 40)
    desk.dispatch()
    assert desk.device.view().load > 5 * MS


@pytest.mark.parametrize("stream", [4096, 20480])
def test_estimates_by_queue_depth_do_not_depend_on_the_size(desk, stream):
    """8 ms and the transfer of 1 MiB, on a drive of 250 and of 50 MB/s."""
    flow, size = desk.init_flow(SPARE), 1 << 20
    desk.device.service.stream = stream
    for i in range(1000):
        desk.arrive(flow, (i % 2) << 30, size=size)
        desk.serve(8 * MS + size * stream // 1024)
    assert desk.device.depth[0].position == pytest.approx(8 * MS, rel=0.05)


def test_a_slow_device_is_told_from_a_revolution_that_was_missed(desk):
    """A near request that takes a positioning is a slow transfer if all of them take that long."""
    stream, size, pos = desk.init_flow(SPARE), 1 << 20, 0
    for _ in range(800):
        desk.arrive(stream, pos := pos + size // 512, size=size)
        desk.serve(22 * MS)
    assert desk.device.service.stream == pytest.approx(22 * MS / 1024, rel=0.02)
    for i in range(400):
        desk.arrive(stream, pos := pos + size // 512, size=size)
        desk.serve(100 * MS if i % 20 == 19 else 22 * MS)
    assert desk.device.service.stream == pytest.approx(22 * MS / 1024, rel=0.02)


def test_a_longer_queue_shortens_positioning(desk):
    """So its last requests take longer than the average."""
    flow = desk.init_flow(SPARE._replace(latency=SECOND))
    desk.arrive(flow)
    desk.serve(50 * MS)
    for _ in range(256):
        for pos in range(4):
            desk.arrive(flow, pos << 20, sync=False)
        requests = [desk.dispatch()[1] for _ in range(4)]
        for request, took in zip(requests, (1, 2, 4, 9), strict=True):
            desk.now += took * MS
            desk.device.complete(flow, request, desk.now)
    last, few, many = (time.position for time in desk.device.depth[:3])
    assert last == pytest.approx(9 * MS, rel=0.15)
    assert few == pytest.approx(3 * MS, rel=0.15)
    assert many == pytest.approx(MS, rel=0.15)
    assert desk.device.service.position == pytest.approx(4 * MS, rel=0.15)

    # The request in flight may be the last. If it were one of many, a request would fit in from 30
    # ms on.
    for latency, fits in ((33 * MS, False), (100 * MS, True)):
        desk.now += 5 * SECOND
        tight = desk.init_flow(SOON._replace(latency=latency))
        desk.arrive(tight, 1 << 30, sync=False)
        first = desk.dispatch()
        assert first[0] is tight
        desk.arrive(flow, 5 << 20, sync=False)
        assert bool(desk.dispatch()) is fits
        desk.now += MS
        desk.device.complete(*first, desk.now)
        desk.serve()


@pytest.mark.parametrize(("longest", "fits"), [(9 * MS, True), (60 * MS, False)])
def test_few_requests_take_no_longer_than_the_longest_recent_one(desk, longest, fits):
    """The longest time is a bound even if late requests have widened the margin.

    Otherwise a drive would have only one request in flight.
    """
    late = desk.init_flow(SPARE._replace(latency=MS))
    for took in (longest, *[3 * MS, 9 * MS] * 200):
        desk.arrive(late, desk.now % 3 << 30, sync=False)
        desk.serve(took)
    desk.now += 5 * SECOND
    desk.arrive(desk.init_flow(SOON._replace(latency=50 * MS)), 1 << 30, sync=False)
    assert desk.dispatch()
    desk.arrive(desk.init_flow(SPARE), 1 << 40, sync=False)
    assert bool(desk.dispatch()) is fits


def stalled(desk, stalls):
    """Return a flow with a long latency, after `stalls` stalls of 300 ms among requests of 1 ms."""
    flow = desk.init_flow(SPARE._replace(latency=10 * SECOND))
    for took in (*[300 * MS] * stalls, *[MS] * 2000):
        desk.arrive(flow, sync=False)
        assert desk.serve(took=took) is flow
    assert desk.device.service.position < 2 * MS
    return flow


@pytest.mark.parametrize(("stalls", "room"), [(1, True), (2, False)])
def test_a_request_in_flight_is_in_time_though_the_device_stalls(desk, stalls, room):
    """A single stall does not count: the drive may have had to spin up."""
    greedy = stalled(desk, stalls)
    tight = desk.init_flow(SOON._replace(latency=250 * MS))
    desk.arrive(tight, 1 << 20, sync=False)
    first = desk.dispatch()
    assert first[0] is tight
    desk.arrive(greedy, 1 << 30, sync=False)
    assert bool(desk.dispatch()) is room
    desk.device.complete(*first, desk.now)
    assert room or desk.dispatch()


@pytest.mark.parametrize(("stalls", "latency", "room"), [
    (1, 302 * MS, True), (2, 302 * MS, False), (2, 250 * MS, True)])
def test_a_request_that_is_expected_is_in_time_though_the_device_stalls(desk, stalls, latency,
                                                                        room):
    """The device keeps time for it, and for a stall that is shorter than the latency."""
    greedy = stalled(desk, stalls)
    desk.arrive(desk.init_flow(SOON._replace(latency=latency)), 1 << 20, sync=False)
    desk.serve()
    for place in (1 << 30, 1 << 31):
        desk.arrive(greedy, place, sync=False)
    assert desk.dispatch()
    assert bool(desk.dispatch()) is room


def cached(desk, writer, count):
    """The drive completes writes at once, and has to position for them later."""
    for pos in range(count):
        desk.arrive(writer, (pos + 1) << 30, sync=False, write=True)
        assert desk.serve() is writer


def reader_of_ten_ms(desk, latency):
    """Return a reader after some requests that took 10 ms each."""
    tight = desk.init_flow(SOON._replace(bw=204_800, latency=latency))
    for pos in range(200):
        desk.now += SECOND // 10
        desk.arrive(tight, (pos % 2) << 40)
        desk.serve(10 * MS)
    return tight


@pytest.mark.parametrize(("rate", "possible"), [(80, True), (200, False)])
def test_a_reservation_of_cached_writes_may_be_impossible(desk, rate, possible):
    """A drive caches 200 writes a second, but takes 10 ms for each to write it to the medium.

    A flow that is behind a pace that cannot be kept has its whole latency.
    """
    tight = reader_of_ten_ms(desk, SECOND)
    writer = desk.init_flow(SOON._replace(bw=rate * COST_MIN))
    desk.device.quota.limit.value = 16_000_000_000
    for second in range(200):
        desk.now += SECOND
        cached(desk, writer, 5)
        desk.arrive(tight, second % 2 << 40)
        desk.serve(10 * MS)
    desk.arrive(writer, 1 << 35, write=True)
    desk.now += 300 * MS
    assert desk.serve() is writer
    desk.arrive(writer, 1 << 36, write=True)
    assert (writer.view().deadline < desk.now + SOON.latency) == possible


@pytest.mark.parametrize("reads", [False, True])
def test_a_cached_write_is_no_sample(desk, reads):
    """Reads have shown that the drive positions, so it positions for the write later."""
    writer = desk.init_flow(SPARE)
    if reads:
        reader_of_ten_ms(desk, SECOND)
    position = desk.device.service.position
    desk.now += 120 * SECOND
    cached(desk, writer, 400)
    if reads:
        assert desk.device.service.position == position
    else:
        assert desk.device.service.position < MS


def test_a_near_write_is_a_sample(desk):
    """It takes a part of a revolution, like each write of a database's log, and is not cached."""
    writer = desk.init_flow(SPARE)
    reader_of_ten_ms(desk, SECOND)
    desk.now += 120 * SECOND
    for pos in range(400):
        desk.arrive(writer, (pos % 2) << 12, sync=False, write=True)
        assert desk.serve(2 * MS) is writer
    assert desk.device.service.position == pytest.approx(2 * MS, rel=0.1)
