"""The policy's decisions one by one, worked out by hand: what a device may have in flight."""

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.desk import MS, SOON, SPARE

KEPT = 128  # HTBS_DEADLINES_MAX


def test_a_request_that_would_make_a_conforming_one_late_is_held(desk):
    """Until that completes."""
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
    assert desk.device.timer() is None
    desk.device.complete(*served, desk.now + MS)
    assert not desk.device.view().held


def test_a_conforming_request_in_flight_is_not_made_late(desk):
    """Though no other is expected any more, a second after it."""
    tight, greedy = desk.init_flow(SOON._replace(latency=SECOND + 20 * MS)), desk.init_flow(SPARE)
    desk.arrive(tight, sync=False)
    desk.dispatch()
    desk.now += SECOND + 15 * MS
    desk.arrive(greedy)
    assert not desk.dispatch()
    assert desk.device.view().held


@pytest.mark.parametrize(("latency", "goes"), [(10 * MS, True), (20 * MS, False)])
def test_what_is_owed_sooner_is_not_held_for_what_has_more_time(desk, latency, goes):
    """However long the device is thought to take for it."""
    patient = desk.init_flow(SOON._replace(latency=40 * MS))
    desk.arrive(patient, sync=False)
    desk.dispatch()
    desk.now += 25 * MS
    desk.arrive(desk.init_flow(SOON._replace(latency=latency)))
    assert bool(desk.dispatch()) == goes


def test_a_request_in_flight_has_as_much_less_time_as_its_flow_is_behind(desk):
    """The drive passes it for surplus else, as its latency allows: its bandwidth is not kept."""
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
    """It is due when it would be if it were pending: the drive must not pass it for ever."""
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
    """Of more than are kept: a late one is forgotten for one that is earlier."""
    greedy = desk.init_flow(SPARE._replace(burst=1 << 20, latency=100 * SECOND))
    tight = desk.init_flow(SOON._replace(latency=SECOND + 20 * MS))
    for i in range(KEPT + 8):
        desk.arrive(greedy, i << 20, sync=False)
        desk.dispatch()
    desk.arrive(tight, 1 << 30, sync=False)
    desk.dispatch()
    assert desk.device.view().in_flight == KEPT + 9
    desk.now += SECOND + 15 * MS
    desk.arrive(desk.init_flow(SPARE))
    assert not desk.dispatch()
    assert desk.device.view().held


def test_a_request_of_a_long_queue_is_not_passed_for_ever(desk):
    """Its deadline is later than all that are kept. The requests with these complete first."""
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


def test_what_one_flow_takes_is_not_believed_of_a_new_one(desk):
    """A reader that stays in one place says nothing of how far a new one makes the disk go."""
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
def test_what_the_last_requests_take_does_not_depend_on_their_size(desk, stream):
    """8 ms and the transfer of 1 MiB, on a drive of 250 and of 50 MB/s."""
    flow, size = desk.init_flow(SPARE), 1 << 20
    desk.device.service.stream = stream
    for i in range(1000):
        desk.arrive(flow, (i % 2) << 30, size=size)
        desk.serve(8 * MS + size * stream // 1024)
    assert desk.device.depth[0].position == pytest.approx(8 * MS, rel=0.05)


def test_a_slow_device_is_told_from_a_revolution_that_was_missed(desk):
    """A request that takes as long as to position is a slow transfer if all of them do."""
    stream, size, pos = desk.init_flow(SPARE), 1 << 20, 0
    for _ in range(800):
        desk.arrive(stream, pos := pos + size // 512, size=size)
        desk.serve(22 * MS)
    assert desk.device.service.stream == pytest.approx(22 * MS / 1024, rel=0.02)
    for i in range(400):
        desk.arrive(stream, pos := pos + size // 512, size=size)
        desk.serve(100 * MS if i % 20 == 19 else 22 * MS)
    assert desk.device.service.stream == pytest.approx(22 * MS / 1024, rel=0.02)


def test_a_drive_positions_for_shorter_the_more_it_has_to_choose_from(desk):
    """So its last requests take longer than in the mean."""
    flow = desk.init_flow(SPARE._replace(latency=SECOND))
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

    # The one in flight may be the last. Were it among many, a request would fit in from 30 ms on.
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


def cached(desk, writer, count):
    """The drive completes writes at once, which it has to position for."""
    for pos in range(count):
        desk.arrive(writer, (pos + 1) << 30, sync=False, write=True)
        assert desk.serve() is writer


def reader_of_ten_ms(desk, latency):
    """A reader that had some requests, each of which took 10 ms."""
    tight = desk.init_flow(SOON._replace(bw=204_800, latency=latency))
    for pos in range(200):
        desk.now += SECOND // 10
        desk.arrive(tight, (pos % 2) << 40)
        desk.serve(10 * MS)
    return tight


@pytest.mark.parametrize(("writes", "waits"), [(1, True), (6, True), (40, False)])
def test_what_is_owed_begins_the_earlier_the_more_the_drive_destages(desk, writes, waits):
    """A sequential flow's head waits for as long as it can. A write counts 5 ms."""
    writer, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    tight = desk.init_flow(SOON._replace(bw=204_800, latency=150 * MS))
    pos = desk.read(tight, 20, took=10 * MS)
    desk.now += 10 * SECOND
    cached(desk, writer, writes)
    desk.arrive(other, 1 << 40, sync=False)
    desk.arrive(tight, pos, sync=False)
    assert desk.dispatch()[0] is (other if waits else tight)


def test_a_write_is_held_while_the_drive_destages(desk):
    """It would make a read late that may arrive; a timer releases it when there is room."""
    writer = desk.init_flow(SPARE)
    reader_of_ten_ms(desk, 50 * MS)
    desk.device.quota.limit.value = 16_000_000_000
    sent = 0
    for pos in range(20):
        desk.arrive(writer, (pos + 1) << 30, sync=False, write=True)
    while desk.serve():
        sent += 1
    assert 1 < sent < 5
    assert desk.device.view().held
    at = desk.device.timer()
    assert desk.now < at <= desk.now + 50 * MS
    desk.now = at
    assert desk.serve() is writer


@pytest.mark.parametrize(("early", "tells"), [(0, True), (1023, True), (1025, False)])
def test_a_read_tells_what_it_waits_though_its_time_is_rounded(desk, early, tells):
    """The caller keeps times to 1024 ns: a read that the drive served alone is one still."""
    writer, tight = desk.init_flow(SPARE), reader_of_ten_ms(desk, 200 * MS)
    desk.device.quota.limit.value = 16_000_000_000
    for pos in range(60):
        desk.now += SECOND
        cached(desk, writer, 5)
        desk.arrive(tight, (pos % 2) << 40)
        flow, read = desk.dispatch()
        read.sent.at -= early
        desk.now += 10 * MS
        desk.device.complete(flow, read, desk.now)
    desk.device.quota.limit.value = 16_000_000_000
    for pos in range(40):
        desk.arrive(writer, (pos + 1) << 30, sync=False, write=True)
    sent = 0
    while desk.serve():
        sent += 1
    assert (sent == 40) == tells


def test_a_read_may_fit_where_a_write_does_not(desk):
    """Of surplus: the write would be destaged before what is expected."""
    writer, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    reader_of_ten_ms(desk, 85 * MS)
    desk.device.quota.limit.value = 16_000_000_000
    desk.arrive(other, 1 << 45, sync=False)
    assert desk.serve() is other
    for pos in range(20):
        desk.arrive(writer, (pos + 1) << 30, sync=False, write=True)
    while desk.serve():
        pass
    assert desk.device.view().held
    desk.arrive(other, 1 << 45, sync=False)
    assert desk.dispatch()[0] is other


def test_a_write_that_takes_long_is_destaged_meanwhile(desk):
    """The drive takes it once its cache has room: a read waits for that, and for no more."""
    slow, fast = desk.init_flow(SPARE), desk.init_flow(SPARE)
    for pos in range(200):
        desk.now += SECOND // 10
        desk.arrive(slow, pos % 2 << 40, sync=False, write=True)
        desk.serve(12 * MS)
    desk.now += 10 * SECOND
    reader_of_ten_ms(desk, 40 * MS)
    desk.device.quota.limit.value = 16_000_000_000
    cached(desk, fast, 1)
    desk.arrive(slow, 1 << 35, sync=False, write=True)
    assert desk.dispatch()[0] is slow


@pytest.mark.parametrize(("rate", "possible"), [(80, True), (200, False)])
def test_a_reservation_of_cached_writes_may_be_impossible(desk, rate, possible):
    """A drive takes 200 writes a second into its cache, but not to the medium, at 10 ms each.

    A flow that is behind a pace that cannot be kept has its whole latency.
    """
    tight = reader_of_ten_ms(desk, SECOND)
    writer = desk.init_flow(SOON._replace(bw=rate * COST_MIN))
    desk.device.quota.limit.value = 16_000_000_000
    for second in range(200):
        desk.now += SECOND
        cached(desk, writer, 5)
        desk.arrive(tight, second % 2 << 40)
        desk.serve(60 * MS)
    desk.arrive(writer, 1 << 35, write=True)
    desk.now += 300 * MS
    assert desk.serve() is writer
    desk.arrive(writer, 1 << 36, write=True)
    assert (writer.view().deadline < desk.now + SOON.latency) == possible


def test_what_a_read_waits_for_is_no_time_of_its_own(desk):
    """But it is of the writes: each is charged a positioning, three times as any write."""
    writer, tight = desk.init_flow(SPARE), reader_of_ten_ms(desk, SECOND)
    other = desk.init_flow(SPARE)

    def behind_writes(count):
        """Write, and read behind that; how much the writer is charged."""
        desk.now += 120 * SECOND
        cached(desk, writer, 1)
        share = writer.view().share
        cached(desk, writer, count - 1)
        charged = writer.view().share - share
        desk.arrive(tight, 1 << 40)
        desk.serve((count + 1) * 10 * MS)
        return charged

    assert behind_writes(5) == 0
    position = desk.device.service.position
    charged = behind_writes(5)
    assert desk.device.service.position == pytest.approx(position, rel=0.02)
    desk.now += 120 * SECOND
    desk.arrive(other, 1 << 40)
    desk.serve()
    share = other.view().share
    desk.arrive(other, 1 << 30)
    desk.serve(4 * 3 * 10 * MS)
    assert other.view().share - share == pytest.approx(charged, rel=0.1)


def test_a_sequential_head_that_is_owed_does_not_wait_for_surplus_that_is_held(desk):
    """Though the drive destages longer than that can wait."""
    writer, other = desk.init_flow(SPARE), desk.init_flow(SPARE)
    tight = desk.init_flow(SOON._replace(bw=204_800, latency=100 * MS))
    pos = desk.read(tight, 20, took=MS)
    desk.now += 10 * SECOND
    cached(desk, writer, 24)
    desk.arrive(other, 1 << 40, sync=False)
    desk.arrive(tight, pos, sync=False)
    arrived = desk.now
    while not (first := desk.dispatch()):
        desk.now = desk.device.timer()
        assert desk.now < arrived + 100 * MS
    assert first[0] is tight
