"""Slack, the seek time, waits and overload: worked out by hand."""

from ctypes import byref

import pytest

from tests.model.reservation import Params
from tests.unit.host import WRAP, COverload, CService, memory
from tests.unit.test_policy import MS, PAGE, SECOND, Desk

SEEK = 10 * MS


class Heads:
    """Backlogged flows, each with (due, count), in the order of their finish tags."""

    def __init__(self, lib, *heads):
        self.lib, self.tree = lib, memory(lib, "tree")
        self.nodes = []
        lib.htbs_tree_init(self.tree)
        for finish, (due, count) in enumerate(heads):
            node = memory(lib, "node")
            lib.host_node_set(node, 0, finish)
            lib.host_node_set_due(node, due % WRAP, count)
            lib.htbs_tree_insert(self.tree, node)
            self.nodes.append(node)

    def end(self, end, active=None, seek=SEEK, in_flight=0):
        """When the run of the active flow has to end."""
        service = CService()
        self.lib.htbs_service_init(byref(service), seek)
        node = None if active is None else self.nodes[active]
        return self.lib.htbs_slack_end(byref(service), self.tree, node, in_flight, end % WRAP)


# Slack.


def test_no_other_flow(lib):
    """Without another flow only its bound ends a run."""
    assert Heads(lib).end(SECOND) == SECOND
    assert Heads(lib, (0, 9)).end(SECOND, active=0) == SECOND


def test_one_other_flow(lib):
    """The head needs a seek, and so may the next request of the run."""
    assert Heads(lib, (100 * MS, 1)).end(SECOND) == 80 * MS


def test_the_run_ends_anyway(lib):
    """A later deadline does not extend the run."""
    assert Heads(lib, (5 * SECOND, 1)).end(SECOND) == SECOND


@pytest.mark.parametrize(("dues", "end"), [
    ((100, 100), 70),  # the second is served behind the first
    ((100, 200), 80),
    ((100, 105, 200), 75),
    ((100, 105, 112), 72),
    ((200, 50), 20),  # the first has the smaller finish tag, so the second is served behind it
])
def test_each_request_has_a_seek(lib, dues, end):
    """Heads are served in the order of finish tags; the tightest deadline counts."""
    assert Heads(lib, *((due * MS, 1) for due in dues)).end(SECOND) == end * MS


def test_a_burst_is_due_with_its_first_request(lib):
    """Eight seeks for the burst, and one for the run."""
    assert Heads(lib, (200 * MS, 8)).end(SECOND) == 110 * MS
    assert Heads(lib, (200 * MS, 8), (210 * MS, 2)).end(SECOND) == 100 * MS


def test_the_active_flow_is_left_out(lib):
    """The run belongs to the active flow, so its own head bounds nothing."""
    heads = Heads(lib, (100 * MS, 1), (30 * MS, 4), (100 * MS, 1))
    assert heads.end(SECOND, active=1) == 70 * MS
    assert heads.end(SECOND) == -30 * MS % WRAP


def test_too_late_already(lib):
    """The end of the run is in the past."""
    assert Heads(lib, (5 * MS, 1)).end(SECOND) == -15 * MS % WRAP


def test_sixteen_heads_are_looked_at(lib):
    """The active flow counts as one of them; later heads are ignored."""
    heads = [(900 * MS, 1)] * 15
    assert Heads(lib, *heads, (100 * MS, 1)).end(SECOND) == -70 * MS % WRAP
    assert Heads(lib, *heads, (900 * MS, 1), (100 * MS, 1)).end(SECOND) == 730 * MS
    assert Heads(lib, *heads, (900 * MS, 1), (100 * MS, 1)).end(SECOND, active=3) == 740 * MS


def test_time_wraps(lib):
    """A deadline past the end of 64 bits is later than one before it."""
    now = WRAP - 50 * MS
    assert Heads(lib, (now + 100 * MS, 1)).end(now + SECOND) == 30 * MS
    assert Heads(lib, (now + 30 * MS, 1)).end(now + SECOND) == now + 10 * MS


# The seek time.


class Disk:
    """A device with given service times."""

    def __init__(self, lib, seek):
        self.lib, self.service, self.now = lib, CService(), 0
        lib.htbs_service_init(byref(self.service), seek)

    def serve(self, took, streaming=False):
        """Serve one request; the estimate of a seek afterwards."""
        self.lib.htbs_service_begin(byref(self.service), self.now, streaming)
        self.now += took
        self.lib.htbs_service_end(byref(self.service), self.now)
        return self.service.seek


def test_the_largest_time_counts(lib):
    """A longer time counts at once."""
    disk = Disk(lib, 10 * MS)
    assert [disk.serve(12 * MS), disk.serve(19 * MS), disk.serve(19 * MS)] == [
        12 * MS, 19 * MS, 19 * MS]


def test_the_seek_time_fades(lib):
    """By 1/1024 of the difference with each shorter time: by half in 710 requests."""
    disk = Disk(lib, 20_480_000)
    assert disk.serve(10_240_000) == 20_470_000
    for _ in range(709):
        disk.serve(0)
    assert disk.service.seek == pytest.approx(10_240_000, rel=0.001)


def test_requests_of_a_run_are_no_seeks(lib):
    """Their times do not change the estimate."""
    disk = Disk(lib, 10 * MS)
    assert disk.serve(1000, streaming=True) == 10 * MS
    assert disk.serve(50 * MS, streaming=True) == 10 * MS


def test_an_outlier_only_doubles_the_seek_time(lib):
    """A disk that had to spin up is no slower afterwards."""
    disk = Disk(lib, 10 * MS)
    assert disk.serve(8 * SECOND) == 20 * MS + 1
    for _ in range(20):
        disk.serve(8 * SECOND)
    assert disk.service.seek == SECOND


def test_requests_under_way_together(lib):
    """The service of a request begins when the one before completes."""
    disk = Disk(lib, MS)
    lib.htbs_service_begin(byref(disk.service), 0, False)
    for now, seek in ((2 * MS, 2 * MS), (5 * MS, 3 * MS)):
        lib.htbs_service_end(byref(disk.service), now)
        assert disk.service.seek == seek


# Overload.


def account(lib, overload, late, times):
    """Account some turns; after which of them an overload began."""
    return [n for n in range(1, times + 1)
            if lib.htbs_overload_account(byref(overload), late)]


def test_ten_late_turns_are_an_overload(lib):
    """Each counts for 1/32: (31/32)^9 is above 3/4, (31/32)^10 is not."""
    overload = COverload()
    assert account(lib, overload, True, 50) == [10]
    assert overload.now


@pytest.mark.parametrize(("timely", "overloaded"), [(4, False), (2, True)])
def test_a_quarter_is_bearable(lib, timely, overloaded):
    """One late turn in five is no overload, one in three is."""
    overload = COverload()
    for _ in range(200):
        account(lib, overload, True, 1)
        account(lib, overload, False, timely)
    assert overload.now == overloaded


def test_turns_in_time_do_not_end_an_overload(lib):
    """Only `htbs_overload_end()` does; then late turns are forgotten."""
    overload = COverload()
    account(lib, overload, True, 20)
    assert not account(lib, overload, False, 1000)
    assert overload.now
    assert lib.htbs_overload_end(byref(overload))
    assert not lib.htbs_overload_end(byref(overload))
    assert not overload.now
    assert account(lib, overload, True, 20) == [10]


# The policy, by the rule of slack.

SOON = Params(4_096_000, 8192, 100 * MS)
LATER = Params(4_096_000, 8192, 500 * MS)


@pytest.fixture
def desk(lib):
    """T_wait 10 ms, a B_max that is never reached, a seek of 10 ms."""
    return Desk(lib, b_max=1 << 20, rule="slack", seek=SEEK)


def read(desk, reader, count=8):
    """Serve sequential reads; where the last one ends. The seek time stays SEEK."""
    pos = desk.read(reader, count)
    desk.device.service.seek = SEEK
    return pos


def serve_until(desk, reader, pos, pause=MS):
    """A reader keeps two requests pending; the flow that ends its run, and when."""
    desk.arrive(reader, pos)
    while True:
        pos += PAGE
        desk.arrive(reader, pos)
        flow = desk.serve()
        if flow is not reader:
            return flow, desk.now
        desk.now += pause


def test_a_run_ends_in_time_for_another(desk):
    """A head due within 100 ms waits for 80 ms: a seek for it and one for the run."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = read(desk, reader)
    desk.arrive(other, 1 << 30)
    assert serve_until(desk, reader, pos) == (other, 80 * MS)


def test_a_run_ends_in_time_for_a_burst(desk):
    """A seek for each of two requests, and one for the run."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = read(desk, reader)
    desk.arrive(other, 1 << 30)
    desk.arrive(other, 1 << 31)
    assert serve_until(desk, reader, pos) == (other, 70 * MS)


def test_no_more_of_a_flood_than_a_burst_is_due(desk):
    """Of ten pending requests two may be due at once."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = read(desk, reader)
    for n in range(10):
        desk.arrive(other, (n + 1) << 30)
    assert serve_until(desk, reader, pos) == (other, 70 * MS)


def test_b_max_bounds_a_run(lib):
    """With policy=slack, too."""
    desk = Desk(lib, b_max=20, rule="slack", seek=SEEK)
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    pos = read(desk, reader)
    before = desk.device.view().run
    desk.arrive(other, 1 << 30)
    assert serve_until(desk, reader, pos) == (other, (20 - before) * MS)


def test_a_run_of_a_second(desk):
    """A run ends after a second, even if the other head could wait for longer."""
    promises = [LATER._replace(latency=seconds * SECOND) for seconds in (3, 2)]
    reader, other = map(desk.init_flow, promises)
    pos = read(desk, reader)
    desk.arrive(other, 1 << 30)
    flow, now = serve_until(desk, reader, pos)
    assert (flow, now) == (other, SECOND)


@pytest.mark.parametrize(("think", "patience"), [
    (0, 625_000),  # a sixteenth of T_wait
    (100_000, 625_000),
    (MS, 4 * MS),
    (2_500_000, 10 * MS),
    (9 * MS, 10 * MS),  # T_wait
])
def test_length_of_a_wait(desk, think, patience):
    """Four times the mean think time, a sixteenth of T_wait at least, T_wait at most."""
    reader, other = desk.init_flow(LATER), desk.init_flow(LATER)
    pos = read(desk, reader)
    for _ in range(100):
        desk.now += think
        pos = desk.read(reader, 1, pos)
    assert think - 20 < reader.view().think <= think
    desk.now += think
    desk.arrive(reader, pos)
    request, _ = desk.device.dispatch(desk.device.choose(desk.now).flow, desk.now)
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.complete(reader, request, desk.now)
    assert desk.device.view().wait_until == pytest.approx(desk.now + patience, abs=80)


@pytest.mark.parametrize(("think", "seek", "waits"), [
    (1200, 10, True), (1300, 10, False),  # us; an eighth of a seek
    (600, 1, True), (650, 1, False),  # a sixteenth of T_wait
    (9900, 100, True), (10_100, 100, False),  # T_wait
])
def test_a_reader_that_thinks_for_longer_than_a_seek_is_not_waited_for(desk, think, seek, waits):
    """A wait of four think times would take longer than two seeks."""
    desk.device.set_rotational(True)
    reader, other = desk.init_flow(LATER), desk.init_flow(LATER)
    pos = read(desk, reader)
    for _ in range(100):
        desk.now += think * 1000
        pos = desk.read(reader, 1, pos)
    desk.arrive(other, 1 << 30)
    desk.device.service.seek = seek * MS
    assert desk.device.choose(desk.now).wait_began == waits


def test_another_arrival_cuts_a_wait_short(desk):
    """The wait ends when the new head must be served; the caller is told, for its timer."""
    reader, other, urgent = desk.init_flow(LATER), desk.init_flow(LATER), desk.init_flow(
        Params(4_096_000, 8192, 20_500_000))
    read(desk, reader)
    desk.arrive(other)
    assert desk.device.choose(desk.now).wait_began
    assert desk.device.view().wait_until == 625_000
    assert not desk.arrive(other).wait_shortened
    assert desk.arrive(urgent).wait_shortened
    assert desk.device.view().wait_until == 500_000
    desk.now += 500_000
    choice = desk.device.choose(desk.now)
    assert choice.timed_out
    assert choice.flow is urgent


def overload(desk, flows):
    """Each flow has twenty late turns."""
    for n in range(20):
        for flow in flows:
            desk.arrive(flow, ((n * 7 + 1) << 30) % (1 << 40))
        desk.now += SECOND
        for _ in flows:
            desk.serve()
    assert desk.device.overload.now


@pytest.mark.parametrize(("latency", "left", "late"), [
    (100, 5, 0), (100, 4, 1),  # half a seek at least
    (10, 0, 0), (10, -1, 1),  # 0 if the latency is no longer than a seek
])
def test_a_turn_is_late_without_time_for_half_a_seek(desk, latency, left, late):
    """Its request will probably be late."""
    desk.device.set_rotational(True)
    flow = desk.init_flow(SOON._replace(latency=latency * MS))
    desk.arrive(flow, 1 << 30)
    desk.now += (latency - left) * MS
    desk.serve()
    assert bool(desk.device.overload.late) == bool(late)


def longest_run(desk, promise, requests):
    """The longest run of a reader beside another flow, in an overload."""
    reader, other, third = desk.init_flow(promise), desk.init_flow(SOON), desk.init_flow(SOON)
    overload(desk, (other, third))
    for n in range(requests):
        desk.arrive(reader, n * PAGE)
        desk.arrive(other, (n * 7 + 1) << 30)
    desk.now += SECOND
    served = []
    for _ in range(requests):
        served.append("r" if desk.serve(MS) is reader else "o")
        desk.device.service.seek = SEEK
    return max(len(run) for run in "".join(served).split("o"))


def test_in_an_overload_a_run_takes_eight_seeks(desk):
    """80 requests of 1 ms, whatever the deadlines."""
    assert longest_run(desk, SOON, 300) == 80


def test_in_an_overload_no_flow_gets_far_ahead(desk):
    """Half a second by tags: ten requests of a flow with twenty a second, and one beyond."""
    assert longest_run(desk, SOON._replace(bw=81_920, burst=4096), 3000) == 11


def test_in_an_overload_shares_are_as_bandwidths(desk):
    """Two flows with four requests pending each, whatever their tags were before."""
    small = desk.init_flow(SOON._replace(bw=61_440))  # of 204,800 that the device does
    large = desk.init_flow(SOON._replace(bw=184_320))
    overload(desk, (small, large))
    for n in range(4):
        desk.arrive(small, (n * 3 + 1) << 30)
    for n in range(4):
        desk.arrive(large, (n * 5 + 1) << 30)
    desk.now += SECOND
    served = []
    for n in range(200):
        flow = desk.serve(20 * MS)
        served.append(flow)
        desk.arrive(flow, (n * 11 + 1) << 30)
    assert desk.device.overload.now
    assert served.count(large) == pytest.approx(3 * served.count(small), abs=8)


def test_an_overload_ends_when_all_is_in_time(desk):
    """At the first choice at which all pending requests can be in time."""
    reader, other = desk.init_flow(LATER), desk.init_flow(SOON)
    overload(desk, (reader, other))
    desk.arrive(other)
    choice = desk.device.choose(desk.now)
    assert choice.overload_ended
    assert not desk.device.overload.now
