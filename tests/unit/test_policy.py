"""The policy's rules one by one, worked out by hand."""

import pytest

from tests.model.htbs import SEQ_GAP
from tests.model.reservation import COST_MIN, SECOND, Params, Request
from tests.model.slack import BACKGROUND_PART, EXPIRE
from tests.unit.host import Device

MS = 10**6
T_WAIT = 10 * MS
PAGE = 8  # sectors of 4096 bytes

# 4096 bytes take 1 ms, two requests of 4096 bytes are a burst; due within 20 ms or 50 ms.
SOON = Params(4_096_000, 8192, 20 * MS)
LATER = Params(4_096_000, 8192, 50 * MS)


class Desk:
    """A device, and shorthands for what the elevator does with it."""

    def __init__(self, lib, b_max=20, t_wait=T_WAIT, rule="paper", seek=0):
        self.device = Device(lib, b_max, t_wait, rule, seek)
        self.now = 0

    def init_flow(self, promise):
        """Create a flow."""
        return self.device.init_flow(promise, self.now)

    def arrive(self, flow, pos=0, sync=True, size=COST_MIN):
        """A request arrives, by default of 4096 bytes."""
        return self.device.arrive(flow, Request(size, pos, sync), self.now)

    def serve(self, took=0):
        """Choose a flow, dispatch a request, which completes `took` later; the flow."""
        flow = self.device.choose(self.now).flow
        if flow is not None:
            request, _ = self.device.dispatch(flow, self.now)
            self.now += took
            self.device.complete(flow, request, self.now)
        return flow

    def read(self, flow, count, pos=0):
        """Serve sequential synchronous reads, one at a time; where the last one ends."""
        for _ in range(count):
            self.arrive(flow, pos)
            assert self.serve() is flow
            pos += PAGE
        return pos


@pytest.fixture
def desk(lib):
    """As in the paper: B_max 20, T_wait 10 ms."""
    return Desk(lib)


# Turns.


def test_smallest_finish_tag_first(desk):
    """A request that arrived later may be due earlier."""
    later, soon = desk.init_flow(LATER), desk.init_flow(SOON)
    desk.arrive(later)
    desk.arrive(soon)
    assert [desk.serve(), desk.serve(), desk.serve()] == [soon, later, None]


def test_equals_take_turns(desk):
    """Of equal finish tags the one inserted first; a flow that was served is inserted again."""
    one, two = desk.init_flow(SOON), desk.init_flow(SOON)
    for flow in (one, one, two, two):
        desk.arrive(flow, pos=1 << 20)
    assert [desk.serve() for _ in range(4)] == [one, two, one, two]


def test_conforming_before_owing(desk):
    """The requests of a flood are due at its rate, so another request goes between them."""
    flood, modest = desk.init_flow(SOON), desk.init_flow(LATER)
    tags = [desk.arrive(flood).start for _ in range(40)]
    assert tags[:4] == [0, 0, 1 * MS, 2 * MS]
    assert desk.arrive(modest).start == 0
    served = [desk.serve() for _ in range(41)]
    # The modest flow's F is 50 ms. The flood's are 20, 20, 21, 22, ...: 31 are smaller.
    assert served.index(modest) == 31


def test_switch_is_reported_once(desk):
    """A choice tells that another flow became active, once."""
    one = desk.init_flow(SOON)
    desk.arrive(one)
    desk.arrive(one, pos=1 << 20)
    choice = desk.device.choose(0)
    assert choice.switched
    desk.device.dispatch(one, 0)
    assert not desk.device.choose(0).switched


# Runs.


@pytest.mark.parametrize("b_max", [1, 2, 20])
def test_run(lib, b_max):
    """Sequential requests are served in a row, B_max of them."""
    desk = Desk(lib, b_max)
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = desk.read(reader, 8)
    for i in range(25):
        desk.arrive(reader, pos + i * PAGE)
    desk.arrive(other)
    before = desk.device.view().run
    served = [desk.serve() for _ in range(26)]
    assert served.index(other) == max(0, b_max - before)


def test_random_requests_make_no_run(desk):
    """A flow that is not sequential loses the device to a smaller finish tag at once."""
    scattered, other = desk.init_flow(LATER), desk.init_flow(SOON)
    for pos in (0, 1 << 20, 1 << 30):
        desk.arrive(scattered, pos)
    assert desk.serve() is scattered
    desk.arrive(other)
    assert [desk.serve() for _ in range(3)] == [other, scattered, scattered]


@pytest.mark.parametrize(("gap", "sequential"), [(0, True), (SEQ_GAP, True), (SEQ_GAP + 1, False),
                                                 (-PAGE, False)])
def test_gap(desk, gap, sequential):
    """A forward gap of 64 KiB is sequential, one more sector is not, nor is a step back."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = 1 << 20
    for _ in range(6):
        desk.arrive(reader, pos)
        desk.serve()
        pos += PAGE + gap
    desk.arrive(reader, pos)
    desk.arrive(other)
    assert desk.serve() is (reader if sequential else other)


@pytest.mark.parametrize(("strays", "sequential"), [(3, True), (4, False)])
def test_history(desk, strays, sequential):
    """Five of the last eight are enough: three strays do not end anticipation, a fourth does."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = desk.read(reader, 9)
    for i in range(strays):
        desk.read(reader, 1, pos=(i + 1) << 30)
    desk.arrive(reader, pos)
    desk.arrive(other)
    assert desk.serve() is (reader if sequential else other)


# Waiting.


def waiting(desk):
    """A sequential read has just completed while another flow is backlogged: the device waits."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = desk.read(reader, 8)
    desk.arrive(reader, pos)
    assert desk.device.choose(desk.now).flow is reader
    request, _ = desk.device.dispatch(reader, desk.now)
    desk.arrive(other)
    choice = desk.device.choose(desk.now)
    assert choice.wait_began
    assert choice.flow is None
    assert desk.device.view().wait == "service"
    desk.now += 2 * MS
    assert desk.device.complete(reader, request, desk.now)
    assert desk.device.view().wait_until == desk.now + T_WAIT
    return reader, other, pos + PAGE


def test_wait_hit(desk):
    """The next request arrives within T_wait: it is served at once, and the run goes on."""
    reader, _, pos = waiting(desk)
    desk.now += T_WAIT - 1
    assert desk.serve() is None
    assert desk.arrive(reader, pos).hit
    assert desk.serve() is reader


def test_wait_ends(desk):
    """Without that request, the other flow is served T_wait after the completion, to the ns."""
    _, other, _ = waiting(desk)
    desk.now += T_WAIT - 1
    assert not desk.device.timeout(desk.now)
    assert desk.serve() is None
    desk.now += 1
    choice = desk.device.choose(desk.now)
    assert choice.timed_out
    assert choice.flow is other


def test_the_timer_ends_a_wait(desk):
    """Then no flow is active: a request that arrives too late has no preference."""
    reader, other, pos = waiting(desk)
    desk.now += T_WAIT
    assert desk.device.timeout(desk.now)
    assert desk.device.view().active is None
    assert not desk.arrive(reader, pos).hit
    assert desk.serve() is other


def test_another_arrival_does_not_end_a_wait(desk):
    """Only an arrival of the active flow does."""
    _, other, _ = waiting(desk)
    assert not desk.arrive(other).hit
    assert desk.device.view().wait == "arrival"


def test_wait_is_cancelled(desk):
    """By a change of a tunable, for example: the smallest finish tag is next."""
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
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = desk.read(reader, 8)
    desk.arrive(reader, pos)
    desk.device.choose(desk.now)
    request, _ = desk.device.dispatch(reader, desk.now)
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.requeue(reader, request)
    assert desk.serve() is other


def test_a_lost_request_is_not_waited_for_for_ever(desk):
    """A wait for a completion ends T_wait after the request would be late."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = desk.read(reader, 8)
    desk.arrive(reader, pos)
    desk.device.dispatch(desk.device.choose(desk.now).flow, desk.now)
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    desk.now += LATER.latency + T_WAIT - 1
    assert desk.serve() is None
    desk.now += 1
    assert desk.serve() is other


def test_late_choice_waits_no_longer(desk):
    """T_wait runs from the completion, not from the choice."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    desk.read(reader, 8)
    done = desk.now
    desk.now += 4 * MS
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.view().wait_until == done + T_WAIT


def never_waits(desk, reader):
    """Is another request served while the active flow has nothing pending."""
    other = desk.init_flow(SOON)
    desk.arrive(other)
    return desk.serve() is other


def test_no_wait_without_t_wait(lib):
    """T_wait 0: the device is never idle."""
    desk = Desk(lib, t_wait=0)
    reader = desk.init_flow(LATER)
    desk.read(reader, 8)
    assert never_waits(desk, reader)


def test_no_wait_after_b_max(lib):
    """No wait when the run is over. The sixth read is the first that is known to be sequential."""
    desk = Desk(lib, b_max=8)
    reader = desk.init_flow(LATER)
    desk.read(reader, 5 + 8)
    assert desk.device.view().run == 8
    assert never_waits(desk, reader)


def test_no_wait_for_random_readers(desk):
    """The next request needs a seek anyway."""
    reader = desk.init_flow(LATER)
    for i in range(8):
        desk.read(reader, 1, pos=i << 30)
    assert never_waits(desk, reader)


def test_no_wait_for_writers(desk):
    """No task waits for an asynchronous write, so the next one does not depend on it."""
    writer = desk.init_flow(LATER)
    for i in range(8):
        desk.arrive(writer, i * PAGE, sync=False)
        desk.serve()
    assert never_waits(desk, writer)


def test_no_wait_while_more_is_in_flight(desk):
    """The next request of a flow with two in flight does not depend on one completion."""
    reader = desk.init_flow(LATER)
    pos = desk.read(reader, 8)
    for i in range(2):
        desk.arrive(reader, pos + i * PAGE)
        desk.device.dispatch(desk.device.choose(desk.now).flow, desk.now)
    assert never_waits(desk, reader)


@pytest.mark.parametrize(("pauses", "waits"), [(6, True), (7, False)])
def test_think_time(lib, pauses, waits):
    """The device does not wait for a flow whose mean think time is T_wait or longer.

    A new pause counts for 1/8, and for 2 T_wait at most. With T_wait 8 ns, long pauses bring the
    mean to 2, 3, 4, 5, 6, 7, 8 ns.
    """
    desk = Desk(lib, t_wait=8)
    reader = desk.init_flow(LATER)
    pos = desk.read(reader, 8)
    for _ in range(pauses):
        desk.now += SECOND
        pos = desk.read(reader, 1, pos)
    assert reader.view().think == pauses + 1
    assert never_waits(desk, reader) != waits


# The virtual clock.


def test_time_jumps_on_arrival(desk):
    """When all start tags are in the future, the clock jumps to the smallest one."""
    flood, other = desk.init_flow(SOON), desk.init_flow(LATER)
    for _ in range(4):
        desk.arrive(flood)
    assert [desk.serve(), desk.serve()] == [flood, flood]
    # The flood's third request has S = 1 ms; nothing conforms at 0.
    arrival = desk.arrive(other)
    assert (arrival.jump, arrival.v, arrival.start) == (MS, MS, MS)


def test_no_jump_while_a_conforming_request_waits(desk):
    """The deadline of a pending conforming request does not move."""
    flood, other = desk.init_flow(SOON), desk.init_flow(LATER)
    desk.arrive(other)
    for _ in range(20):
        assert desk.arrive(flood).jump == 0
    assert desk.device.clock.drift == 0


def test_no_jump_past_a_conforming_head(desk):
    """Not even when the next request in turn does not conform and is due before that head."""
    flood, other = desk.init_flow(SOON), desk.init_flow(LATER)
    for _ in range(4):
        desk.arrive(flood)
    assert [desk.serve(), desk.serve()] == [flood, flood]
    # The clock jumps to the flood's third request; the other's conforms. The fourth has S = 2 ms.
    assert desk.arrive(other).start == MS
    assert desk.serve() is flood
    choice = desk.device.choose(desk.now)
    assert (choice.flow, choice.jump) == (flood, 0)
    assert desk.device.clock.drift == MS


def test_a_reader_alone_is_not_charged_for_spare_capacity(desk):
    """A synchronous reader has nothing pending at an arrival, so the clock jumps at the choice.

    1000 reads in no time take 1000 ms at the reserved rate. Without the jump the next tag would be
    a second ahead; with it, the tag is 1 ms ahead, as after a burst.
    """
    reader = desk.init_flow(LATER)
    desk.read(reader, 1000)
    assert desk.now == 0
    assert desk.device.clock.drift == 998 * MS
    arrival = desk.arrive(reader)
    assert arrival.start - arrival.v == MS


def test_an_idle_reservation_gains_by_a_jump(desk):
    """The flood of another flow moves virtual time, so a used burst is full again."""
    idle, flood = desk.init_flow(SOON), desk.init_flow(SOON)
    desk.arrive(idle)
    desk.arrive(idle)
    assert [desk.serve(), desk.serve()] == [idle, idle]
    desk.read(flood, 10)
    arrivals = [desk.arrive(idle), desk.arrive(idle)]
    assert all(arrival.start == arrival.v for arrival in arrivals)


# The background.


def test_background_goes_last(desk):
    """Behind conforming requests, even if those arrived later."""
    flow = desk.init_flow(LATER)
    desk.arrive(desk.device.background)
    desk.arrive(flow)
    assert [desk.serve(), desk.serve()] == [flow, desk.device.background]


# The estimate of a seek, and how long the background waits for its part then.
SEEK = 10 * MS
PART = BACKGROUND_PART * (SEEK + 1)


@pytest.mark.parametrize(("early", "first"), [(1, "flow"), (0, "background")])
def test_background_has_its_part(lib, early, first):
    """The background has a small part of the device's time, whatever the tags of others."""
    desk = Desk(lib, seek=SEEK)
    flow = desk.init_flow(SOON)
    desk.arrive(desk.device.background)
    desk.now = PART - early
    desk.arrive(flow)
    assert desk.serve() is (flow if first == "flow" else desk.device.background)


def test_background_goes_one_by_one(lib):
    """However many requests have waited, one is eligible for each part of the time."""
    desk = Desk(lib, seek=SEEK)
    flow = desk.init_flow(SOON)
    for _ in range(3):
        desk.arrive(desk.device.background)
    desk.now = 5 * PART
    for _ in range(3):
        desk.arrive(flow)
    assert [desk.serve() for _ in range(3)] == [desk.device.background, flow, flow]
    desk.now += PART
    assert [desk.serve(), desk.serve(), desk.serve()] == [desk.device.background, flow,
                                                          desk.device.background]


@pytest.mark.parametrize("rule", ["paper", "slack"])
def test_background_ends_the_run_of_another(lib, rule):
    """The background has its part of the time during a long run, too."""
    desk = Desk(lib, b_max=4096, rule=rule, seek=SEEK)
    flow = desk.init_flow(LATER._replace(latency=SECOND))
    desk.arrive(desk.device.background)
    pos = 0
    while desk.now < PART:
        pos = desk.read(flow, 1, pos)
        desk.now += MS
    desk.arrive(flow, pos)
    assert [desk.serve(), desk.serve()] == [desk.device.background, flow]


# Heads that have expired.


@pytest.mark.parametrize("rule", ["paper", "slack"])
@pytest.mark.parametrize(("early", "first"), [(1, "soon"), (0, "slow")])
def test_an_expired_head_goes_first(lib, rule, early, first):
    """However large its finish tag is."""
    desk = Desk(lib, rule=rule)
    slow, soon = desk.init_flow(Params(4096, 4096, 100 * SECOND)), desk.init_flow(SOON)
    desk.arrive(slow)
    desk.now = EXPIRE - early
    desk.arrive(soon)
    assert desk.serve() is {"soon": soon, "slow": slow}[first]


def test_an_expired_background_goes_first(lib):
    """Also when its part of the time is not due yet."""
    desk = Desk(lib, seek=SECOND)
    flow = desk.init_flow(SOON)
    for _ in range(2):
        desk.arrive(desk.device.background)
    desk.now = BACKGROUND_PART * (SECOND + 1)
    desk.arrive(flow)
    assert [desk.serve(), desk.serve()] == [desk.device.background, flow]
    desk.now = EXPIRE
    desk.arrive(flow)
    assert desk.serve() is desk.device.background


def test_between_expired_heads_the_rest_has_its_time(lib):
    """After each expired head, oldest first, the others have the device for two seeks."""
    desk = Desk(lib, seek=SEEK)
    slow = LATER._replace(latency=100 * SECOND)
    late, later, soon = desk.init_flow(slow), desk.init_flow(slow), desk.init_flow(SOON)
    desk.arrive(later)
    desk.now = 1
    desk.arrive(late)
    desk.now = EXPIRE + 1
    for _ in range(2):
        desk.arrive(soon)
    assert [desk.serve(), desk.serve()] == [later, soon]
    desk.now += 2 * SEEK
    assert [desk.serve(), desk.serve()] == [late, soon]


def test_background_does_not_stop_time(desk):
    """A request of the background neither holds the virtual clock nor lets it jump."""
    flow = desk.init_flow(SOON)
    desk.arrive(desk.device.background)
    assert desk.device.choose(0).jump == 0
    desk.read(flow, 3)
    assert desk.device.clock.drift == MS


def test_background_ends_a_run(desk):
    """The background is never active, so no flow is active afterwards."""
    flow = desk.init_flow(LATER)
    desk.read(flow, 8)
    desk.now = SECOND
    desk.arrive(desk.device.background)
    assert desk.serve() is desk.device.background
    assert desk.device.view().active is None


# Changes.


def test_merge_keeps_the_earlier_tag(desk):
    """Whichever of the two requests is kept has the smaller tag, and its place."""
    flow = desk.init_flow(SOON)
    for i in range(4):
        desk.arrive(flow, pos=i << 20)
    first, _, _, last = flow.queue
    desk.device.merge(flow, last, first)
    assert [request.start for request in flow.queue] == [0, 0, MS]
    assert flow.queue[0] is last
    assert flow.view().pending == 3


def test_a_new_promise_is_no_loss(desk):
    """Pending requests get tags by the fresh curve; a tag only moves back."""
    flow = desk.init_flow(SOON)
    for _ in range(5):
        desk.arrive(flow)
    assert [request.start for request in flow.queue] == [0, 0, MS, 2 * MS, 3 * MS]
    desk.device.configure(flow, Params(SOON.bw * 2, 8192, MS), 0)
    assert [request.start for request in flow.queue] == [0, 0, MS // 2, MS, 3 * MS // 2]
    desk.device.configure(flow, Params(4096, 8192, MS), 0)
    assert [request.start for request in flow.queue] == [0, 0, MS // 2, MS, 3 * MS // 2]


def test_a_new_deadline_counts_at_once(desk):
    """The new latency also counts for requests that are pending."""
    one, two = desk.init_flow(SOON), desk.init_flow(LATER)
    desk.arrive(one)
    desk.arrive(two)
    desk.device.configure(two, SOON._replace(latency=MS), 0)
    assert desk.serve() is two


def test_a_request_past_the_policy_counts_as_in_flight(desk):
    """So the number in flight is right after its completion."""
    flow = desk.init_flow(SOON)
    request = Request(COST_MIN)
    desk.device.redispatch(flow, request, 0)
    assert flow.view().in_flight == 1
    assert not desk.device.complete(flow, request, 5)
    assert flow.view().in_flight == 0
