"""The policy's decisions one by one, worked out by hand."""

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.host import Device, Request

MS = 10**6
T_WAIT = 10 * MS
PAGE = 8  # sectors of 4096 bytes
SEQ_GAP = 128  # sectors that a sequential request may leave out
EXPIRE = 30 * SECOND
BACKGROUND_PART = 16
RUN = 8  # of the longest positionings
SWEEP = 16

# 4096 bytes take 1 ms, two requests of 4096 bytes are a burst.
SOON = Params(4_096_000, 8192, 200 * MS)
LATER = Params(4_096_000, 8192, 500 * MS)
# One block each second is reserved, the rest is surplus.
SPARE = Params(4096, 4096, SECOND)


class Desk:
    """A device, and shorthands for what the elevator does with it."""

    def __init__(self, lib, position=10 * MS, t_wait=T_WAIT, rotational=True):
        self.device = Device(lib, rotational, position, t_wait)
        self.now = SECOND

    def init_flow(self, promise):
        """Create a flow."""
        return self.device.init_flow(promise, self.now)

    def arrive(self, flow, pos=0, sync=True, size=COST_MIN, write=False):
        """A request arrives, by default of 4096 bytes."""
        return self.device.arrive(flow, Request(size, pos, sync, write), self.now)

    def dispatch(self):
        """Choose a flow and dispatch a request of it; both, or None."""
        while self.device.unthrottle(self.now):
            pass
        flow = self.device.choose(self.now).flow
        return flow and (flow, self.device.dispatch(flow, self.now)[0])

    def serve(self, took=0):
        """Choose a flow, dispatch a request, which completes `took` later; the flow."""
        served = self.dispatch()
        if not served:
            return None
        self.now += took
        self.device.complete(*served, self.now)
        return served[0]

    def read(self, flow, count, pos=0, took=0):
        """Serve sequential synchronous reads, one at a time; where the last one ends."""
        for _ in range(count):
            self.arrive(flow, pos)
            assert self.serve(took) is flow
            pos += PAGE
        return pos


@pytest.fixture
def desk(lib):
    """A device that seeks, for 10 ms at most as it is believed, and a T_wait of 10 ms."""
    return Desk(lib)


@pytest.fixture
def flash(lib):
    """A device that does not seek."""
    return Desk(lib, position=MS, t_wait=0, rotational=False)


# What is owed.


def test_reserved_work_before_surplus(desk):
    """A flow that has had its burst waits for one that has not."""
    greedy, modest = desk.init_flow(SPARE), desk.init_flow(LATER)
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
    """On a device that seeks, while all can be in time; then the earliest deadline."""
    soon, later = desk.init_flow(SOON), desk.init_flow(LATER)
    desk.arrive(soon, 1 << 30)
    desk.arrive(later, PAGE)
    desk.now += waited * MS
    assert desk.serve() is (later if nearest else soon)


def test_surplus_is_not_charged(desk):
    """A flow that read alone far beyond its reservation is entitled to its burst afterwards."""
    flow = desk.init_flow(SOON)
    desk.read(flow, 1000)
    desk.now += 3 * MS
    desk.arrive(flow)
    assert desk.device.choose(desk.now).flow is flow
    request, _ = desk.device.dispatch(flow, desk.now)
    assert request.conforms


def test_a_request_conforms_if_it_is_entitled_when_it_arrives(desk):
    """Two blocks are a burst; the third is entitled a millisecond after them."""
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
    """It needs fewer seeks the more it has, so surplus goes before what it is owed."""
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
    """A random reader that was answered late catches up in one batch."""
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


# Runs.


def test_run(desk):
    """A sequential flow keeps the device from surplus of another for 8 positionings at worst."""
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


@pytest.mark.parametrize(("gap", "sequential"), [(0, True), (SEQ_GAP, True), (SEQ_GAP + 1, False),
                                                 (-PAGE, False)])
def test_gap(desk, gap, sequential):
    """A forward gap of 64 KiB is sequential, one more sector is not, nor is a step back."""
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

    After it the sweep goes on where it was.
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


def test_a_sweep_passes_the_oldest_request_sixteen_times_at_most(desk):
    """Then that goes, wherever it is."""
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
    """With a request in flight the oldest is next."""
    flow = desk.init_flow(LATER)
    for place in (50, 90, 10):
        desk.arrive(flow, place << 20)
    assert [desk.dispatch()[1].pos >> 20 for _ in range(3)] == [50, 90, 10]


def test_switch_is_reported_once(desk):
    """A choice tells that another flow became active, once."""
    one = desk.init_flow(SOON)
    desk.arrive(one)
    desk.arrive(one, pos=1 << 20)
    choice = desk.device.choose(desk.now)
    assert choice.switched
    desk.device.dispatch(one, desk.now)
    assert not desk.device.choose(desk.now).switched


# Waiting.


def waiting(desk):
    """A sequential read has just completed while another flow is backlogged: the device waits."""
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
    """The next request arrives in time: it is served at once, and the run goes on."""
    reader, _, pos = waiting(desk)
    desk.now += T_WAIT // 16 - 1
    assert desk.serve() is None
    assert desk.arrive(reader, pos).hit
    assert desk.serve() is reader


def test_wait_ends(desk):
    """Without that request, the other flow is served when the wait is over, to the nanosecond."""
    _, other, _ = waiting(desk)
    assert desk.device.view().wait_until == desk.now + T_WAIT // 16
    desk.now += T_WAIT // 16 - 1
    assert not desk.device.timeout(desk.now)
    assert desk.serve() is None
    desk.now += 1
    choice = desk.device.choose(desk.now)
    assert choice.timed_out
    assert choice.flow is other


def test_the_timer_ends_a_wait(desk):
    """Then no flow is active: a request that arrives too late has no preference."""
    reader, other, pos = waiting(desk)
    desk.now += T_WAIT // 16
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
    """It ends earlier if a request arrives that would be late otherwise."""
    waiting(desk)
    until = desk.device.view().wait_until
    tight = desk.init_flow(SOON._replace(latency=10 * MS))
    assert desk.arrive(tight, 1 << 40).wait_shortened
    assert desk.device.view().wait_until < until
    assert desk.serve() is tight


def test_wait_is_cancelled(desk):
    """By a change of a tunable, for example."""
    _, other, _ = waiting(desk)
    assert desk.device.cancel_wait()
    assert desk.serve() is other
    assert not desk.device.cancel_wait()


def test_wait_ends_with_its_reservation(desk):
    """The device does not wait for a flow that is gone."""
    reader, other, _ = waiting(desk)
    assert desk.device.exit_flow(reader)
    assert desk.serve() is other


def test_no_wait_for_a_request_that_was_given_back(desk):
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


def never_waits(desk):
    """Is another request served while the active flow has nothing pending."""
    other = desk.init_flow(SPARE)
    desk.arrive(other)
    return desk.serve() is other


def test_no_wait_without_t_wait(lib):
    """T_wait 0: the device is never idle."""
    desk = Desk(lib, t_wait=0)
    desk.read(desk.init_flow(SPARE), 9)
    assert never_waits(desk)


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
    """Four think times, the longest wait, must not take longer than to position."""
    reader = desk.init_flow(SPARE)
    pos = 0
    for _ in range(20):
        desk.now += pause
        pos = desk.read(reader, 1, pos, took=MS // 10)
    assert never_waits(desk) is not waits


def test_a_long_pause_counts_for_twice_t_wait(desk):
    """It says no more than one that was too long to wait for."""
    reader = desk.init_flow(SPARE)
    pos = desk.read(reader, 9)
    desk.now += 100 * SECOND
    desk.read(reader, 1, pos)
    assert reader.view().think == 2 * T_WAIT // 8


# The background.


def test_background_goes_last(desk):
    """Behind all others, even if those arrived later."""
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
    """The background has its part of the time during a long run, too; then no flow is active."""
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


# Heads that have expired.


@pytest.mark.parametrize(("early", "first"), [(1, "soon"), (0, "slow")])
def test_an_expired_head_goes_first(desk, early, first):
    """However late it is due."""
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


# What a device may have in flight.


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
    for i in range(40):
        desk.arrive(greedy, i << 20, sync=False)
        desk.dispatch()
    desk.arrive(tight, 1 << 30, sync=False)
    desk.dispatch()
    assert desk.device.view().in_flight == 41
    desk.now += SECOND + 15 * MS
    desk.arrive(desk.init_flow(SPARE))
    assert not desk.dispatch()
    assert desk.device.view().held


def test_the_last_request_of_many_is_served_alone(desk):
    """A drive positions for shorter the more it has to choose from."""
    flow = desk.init_flow(SPARE._replace(latency=SECOND))
    for _ in range(64):
        for pos in range(4):
            desk.arrive(flow, pos << 20, sync=False)
        requests = [desk.dispatch()[1] for _ in range(4)]
        for request, took in zip(requests, (1, 1, 1, 9), strict=True):
            desk.now += took * MS
            desk.device.complete(flow, request, desk.now)
    assert desk.device.alone.position == pytest.approx(9 * MS, rel=0.15)
    assert desk.device.service.position == pytest.approx(3 * MS, rel=0.15)


def flood(flash, write):
    """A reader that conforms, and a flood that is held back."""
    tight, greedy = flash.init_flow(SOON._replace(latency=MS)), flash.init_flow(SPARE)
    flash.device.quota.rate, flash.device.window.limit = 1 << 20, 4 * 256
    flash.arrive(tight)
    flash.serve()
    for _ in range(60):
        flash.arrive(greedy, size=65536, write=write)
    while flash.dispatch():
        pass
    assert flash.device.view().held
    return tight, greedy


def test_writes_beyond_their_quota_are_held(flash):
    """Until the quota has filled; reserved work goes on."""
    tight, greedy = flood(flash, write=True)
    at = flash.device.timer()
    assert flash.now < at <= flash.now + SECOND
    flash.arrive(tight)
    assert flash.dispatch()[0] is tight
    assert not flash.dispatch()
    quota = flash.device.quota
    filled = quota.filled + -quota.tokens * SECOND // quota.rate
    while not (served := flash.dispatch()):
        flash.now = flash.device.timer()
        assert not flash.device.timeout(flash.now)
    assert served[0] is greedy
    assert filled <= flash.now < filled + 2 * MS


def test_writes_beyond_their_quota_are_held_on_a_device_that_seeks(desk):
    """What a volatile cache takes at once it owes to the medium; a reader is not held with them."""
    writer, reader = (desk.init_flow(SPARE._replace(weight=weight)) for weight in (10_000, 1))
    tight = desk.init_flow(SOON)
    desk.read(reader, 8, took=MS)
    desk.now += SECOND
    desk.device.quota.rate = 1 << 20
    desk.arrive(tight)
    desk.serve()
    for place in range(20):
        desk.arrive(writer, place << 20, sync=False, size=65536, write=True)
    served = 0
    while desk.serve() is writer:
        served += 1
    assert 2 <= served <= 4
    assert desk.device.view().held
    assert desk.now < desk.device.timer() <= desk.now + SECOND
    desk.arrive(reader, 1 << 30, sync=False)
    assert desk.serve() is reader


def test_reads_beyond_their_window_are_held(flash):
    """Until one completes; reserved work goes on."""
    tight, _ = flood(flash, write=False)
    assert flash.device.view().in_flight == 4
    assert flash.device.timer() > flash.now
    flash.arrive(tight)
    served = flash.dispatch()
    assert served[0] is tight
    assert not flash.dispatch()
    flash.device.complete(*served, flash.now)
    assert not flash.device.view().held


def test_a_flow_does_not_limit_its_own_surplus(flash):
    """Alone it has the drive, though some of its requests conform."""
    flow = flash.init_flow(SOON)
    for place in range(16):
        flash.arrive(flow, place << 20)
    for _ in range(16):
        assert flash.dispatch()
    assert not flash.device.view().held


def test_a_stale_timer_does_not_release_a_held_request(flash):
    """The timer may have been set for an earlier time."""
    flood(flash, write=True)
    assert not flash.device.timeout(flash.device.timer() - 1)
    assert flash.device.view().held


def test_a_late_request_lowers_the_limits(flash):
    """A conforming request that completes after it is due; one in half of its time does not."""
    tight = flash.init_flow(SOON._replace(latency=MS))
    quota, window = flash.device.quota, flash.device.window
    window.limit = 8 * 256
    before = quota.rate, window.limit
    flash.arrive(tight)
    flash.serve(took=MS // 2)
    assert (quota.rate, window.limit) == before
    flash.now += SECOND
    flash.arrive(tight)
    flash.serve(took=MS + 1)
    assert quota.rate < before[0]
    assert window.limit < before[1]


@pytest.mark.parametrize("tighter", [False, True])
def test_a_request_in_time_raises_the_limits_unless_a_tighter_one_is_expected(flash, tighter):
    """Of what has a longer latency all are in time; but if there is no other it has to do."""
    flow = flash.init_flow(SPARE._replace(latency=2 * SECOND))
    flash.arrive(flow)
    served = flash.dispatch()
    flash.now += SECOND
    if tighter:
        flash.arrive(flash.init_flow(SOON._replace(latency=SECOND)))
        flash.serve()
    quota = flash.device.quota
    quota.rate, quota.full = 1 << 20, True
    flash.device.complete(*served, flash.now)
    assert (quota.rate > 1 << 20) != tighter


# Changes.


def test_merge_keeps_the_earlier_place(desk):
    """Whichever of the two requests is kept, and what both cost."""
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
    """A bio was merged into it: it needs more of the burst."""
    flow = desk.init_flow(SOON)
    for i in range(2):
        desk.arrive(flow, pos=i << 20)
    desk.serve()
    start = flow.view().start
    desk.device.grow(flow, flow.queue[0], 8192)
    assert flow.view().start > start


def test_a_new_promise_begins_with_a_full_burst(desk):
    """And counts for pending requests at once."""
    flow = desk.init_flow(SPARE)
    for i in range(3):
        desk.arrive(flow, i << 20)
    desk.serve()
    assert flow.view().start > desk.now
    desk.device.configure(flow, Params(1 << 20, 1 << 20, MS), desk.now)
    assert flow.view().start <= desk.now
    assert flow.view().deadline <= desk.now + MS


def test_a_new_weight_begins_with_a_new_share(desk):
    """What a flow had over a small weight would keep it back for long over a large one."""
    flow, other = desk.init_flow(SPARE._replace(weight=1)), desk.init_flow(SPARE)
    for i in range(20):
        desk.arrive(flow, i << 30)
        desk.serve(10 * MS)
    assert flow.view().share > other.view().share
    for each in (flow, other):
        desk.device.configure(each, SPARE._replace(weight=100), desk.now)
    assert flow.view().share == other.view().share


def test_a_request_past_the_policy_counts_as_in_flight(desk):
    """So the number in flight is right after its completion."""
    flow = desk.init_flow(SOON)
    request = Request(COST_MIN)
    desk.device.redispatch(flow, request, desk.now)
    assert flow.view().in_flight == 1
    assert not desk.device.complete(flow, request, desk.now + 5)
    assert flow.view().in_flight == 0
    assert desk.device.view().load == 0


@pytest.mark.parametrize("reserved", [True, False])
def test_a_request_that_bypasses_the_policy_is_charged_if_it_is_entitled(desk, reserved):
    """Else it is surplus, which is charged as device time."""
    flow = desk.init_flow(SOON if reserved else SPARE)
    if not reserved:
        desk.device.charge_bypass(flow, COST_MIN, desk.now)
    before = flow.view().tag
    desk.device.charge_bypass(flow, COST_MIN, desk.now)
    assert (flow.view().tag > before) is reserved
