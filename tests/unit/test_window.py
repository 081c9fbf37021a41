"""The window: the surplus in flight on a device that queues, while requests conform."""

from ctypes import byref

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params, Request
from tests.model.window import HOLD, MAX, ONE
from tests.unit.host import CWindow, Device

MS = 10**6
TIGHT = Params(1_000_000, 4096, 10 * MS)
GREEDY = Params(4096, 4096, SECOND)


@pytest.fixture
def window(lib):
    """A window in its initial state."""
    fresh = CWindow()
    lib.htbs_window_init(byref(fresh))
    return fresh


def test_without_conforming_requests_there_is_no_window(lib, window):
    """Then any number of requests may be in flight."""
    window.limit = ONE
    assert lib.htbs_window_open(byref(window), 1000, 0)
    lib.htbs_window_hold(byref(window), 0)
    assert not lib.htbs_window_open(byref(window), 1, HOLD - 1)
    assert lib.htbs_window_open(byref(window), 1, HOLD)


def test_an_idle_device_may_always_have_a_request(lib, window):
    """However small the window is; else it would stay closed."""
    lib.htbs_window_hold(byref(window), 0)
    for _ in range(100):
        lib.htbs_window_update(byref(window), 1, 10, 10)
    assert window.limit == ONE
    assert lib.htbs_window_open(byref(window), 0, 0)


def test_a_late_request_shrinks_the_window_from_what_was_in_flight(lib, window):
    """By an eighth of the requests in flight, even if the window is larger."""
    lib.htbs_window_update(byref(window), 16, 51, 100)
    assert window.limit == 14 * ONE
    lib.htbs_window_update(byref(window), 500, 51, 100)
    assert window.limit == 14 * ONE * 7 // 8


def test_a_window_grows_only_if_it_was_full(lib, window):
    """A request that is in time with few in flight does not show that more would be in time."""
    window.limit = 4 * ONE
    lib.htbs_window_hold(byref(window), 0)
    lib.htbs_window_update(byref(window), 1, 50, 100)
    assert window.limit == 4 * ONE
    assert not lib.htbs_window_open(byref(window), 4, 0)
    lib.htbs_window_update(byref(window), 1, 50, 100)
    lib.htbs_window_update(byref(window), 1, 50, 100)
    assert window.limit == 4 * ONE + ONE // 32


def test_a_window_has_a_maximum(lib, window):
    """No device takes more requests."""
    lib.htbs_window_hold(byref(window), 0)
    assert not lib.htbs_window_open(byref(window), MAX // ONE, 0)
    lib.htbs_window_update(byref(window), 1, 50, 100)
    assert window.limit == MAX


class Drive:
    """A device with a window of two, a tight flow and a greedy flow with ten requests pending."""

    def __init__(self, lib, rule="slack", reorders=False):
        self.device = Device(lib, 20, 0, rule, MS)
        self.device.set_rotational(reorders)
        self.tight, self.greedy = (self.device.init_flow(each, 0) for each in (TIGHT, GREEDY))
        self.first = self.arrive(self.tight)
        self.dispatch(self.tight)
        self.arrive(self.greedy)
        self.device.complete(self.greedy, self.dispatch(self.greedy), 0)
        self.windows(2 * ONE)
        for _ in range(10):
            self.arrive(self.greedy)

    def windows(self, limit) -> None:
        """Set the size of both windows."""
        for window in self.device.windows:
            window.limit = limit

    def arrive(self, flow, now=0, write=False) -> Request:
        """A request arrives."""
        request = Request(COST_MIN, write=write)
        self.device.arrive(flow, request, now)
        return request

    def dispatch(self, flow, now=0) -> Request:
        """A request of the flow is chosen and dispatched."""
        assert self.device.choose(now).flow is flow
        return self.device.dispatch(flow, now)[0]


def test_surplus_is_held_back_by_a_full_window(lib):
    """The window is full with a surplus request and the conforming one."""
    drive = Drive(lib)
    request = drive.dispatch(drive.greedy)
    assert drive.device.choose(1).held
    assert not drive.device.view().has_work
    drive.device.complete(drive.greedy, request, 2)
    assert drive.device.view().has_work
    drive.dispatch(drive.greedy, 3)


def test_a_flow_that_exits_releases_no_other(lib):
    """A held head is judged again when a request completes, not when another flow exits."""
    drive = Drive(lib)
    gone = drive.device.init_flow(GREEDY, 0)
    drive.windows(8 * ONE)
    drive.arrive(gone)
    request = drive.dispatch(drive.greedy)
    last = drive.device.dispatch(gone, 0)[0] if drive.device.choose(0).flow is gone else None
    assert last
    drive.device.complete(gone, last, 1)
    drive.windows(ONE)
    assert drive.device.choose(1).held
    drive.device.exit_flow(gone)
    assert not drive.device.view().has_work
    drive.device.complete(drive.greedy, request, 2)
    assert drive.device.view().has_work


def test_reads_and_writes_have_windows_apart(lib):
    """The window for reads is full, the window for writes is not."""
    drive = Drive(lib)
    drive.dispatch(drive.greedy)
    writer = drive.device.init_flow(GREEDY._replace(bw=1 << 20), 0)
    drive.arrive(writer, write=True)
    drive.device.complete(writer, drive.dispatch(writer), 0)
    drive.windows(2 * ONE)
    for _ in range(5):
        drive.arrive(writer, write=True)
    drive.dispatch(writer)
    drive.dispatch(writer)
    assert drive.device.choose(1).held


@pytest.mark.parametrize("reorders", [False, True])
def test_a_held_flow_delays_no_other(lib, reorders):
    """Except surplus on a rotational device, which waits for the held flow rather than seek."""
    drive = Drive(lib, reorders=reorders)
    writer = drive.device.init_flow(GREEDY._replace(latency=10 * SECOND), 0)
    drive.dispatch(drive.greedy)
    drive.arrive(writer, write=True)
    drive.device.complete(writer, drive.dispatch(writer), 0)
    drive.windows(ONE)
    drive.arrive(writer, write=True)
    choice = drive.device.choose(1)
    assert choice.held == reorders
    assert choice.flow is (None if reorders else writer)


@pytest.mark.parametrize("reorders", [False, True])
def test_reserved_work_passes_surplus_that_is_held_back(lib, reorders):
    """Even if its finish tag is later, and on a rotational device, too."""
    drive = Drive(lib, reorders=reorders)
    reserved = drive.device.init_flow(GREEDY._replace(latency=10 * SECOND), 0)
    drive.dispatch(drive.greedy)
    drive.arrive(reserved)
    assert drive.device.choose(1).flow is reserved


def test_reserved_work_is_found_behind_much_surplus(lib):
    """However many heads with smaller finish tags are held back."""
    drive = Drive(lib)
    reserved = drive.device.init_flow(GREEDY._replace(latency=10 * SECOND), 0)
    others = [drive.device.init_flow(GREEDY, 0) for _ in range(40)]
    drive.windows(ONE)
    for other in others:
        drive.arrive(other)
        drive.device.complete(other, drive.dispatch(other), 0)
        drive.windows(ONE)
        drive.arrive(other)
    drive.arrive(reserved)
    assert drive.device.choose(1).flow is reserved


def test_entitlement_is_judged_when_a_choice_is_made(lib):
    """A head that came early is eligible once its time has come, whatever is in flight."""
    drive = Drive(lib)
    drive.windows(ONE)
    pace = COST_MIN * SECOND // GREEDY.bw
    drive.device.windows[False].until = 10 * pace
    assert drive.device.choose(pace - 1).held
    drive.arrive(drive.tight, pace)  # else nothing changes, and no choice is made
    assert drive.device.choose(pace).flow is drive.greedy


def test_a_conforming_request_makes_older_ones_eligible(lib):
    """Start tags do not fall in a flow, so older requests are entitled with a conforming one."""
    drive = Drive(lib)
    drive.windows(ONE)
    assert drive.device.choose(1).held
    drive.device.clock_advance(1000 * SECOND, 1)
    assert drive.device.arrive(drive.greedy, Request(COST_MIN), 2).conforming
    assert drive.device.choose(2).flow is drive.greedy


def test_next_dispatchable_by_weight(lib):
    """No head is entitled, so the first share tag counts, though another finish tag is smaller."""
    drive = Drive(lib)
    light, heavy = (drive.device.init_flow(GREEDY._replace(weight=weight), 0)
                    for weight in (1, 200))
    # From here on the greedy flow has the smallest share tag, and is held back.
    drive.dispatch(drive.greedy)
    for _ in range(3):
        for writer in (light, heavy):
            drive.arrive(writer, write=True)
            drive.device.complete(writer, drive.dispatch(writer), 0)
            drive.windows(2 * ONE)
    drive.arrive(light, write=True)
    drive.arrive(heavy, write=True)
    assert drive.device.choose(1).flow is heavy


def test_a_late_request_shrinks_both_windows(lib):
    """Reads or writes in flight may be the cause."""
    drive = Drive(lib)
    drive.device.complete(drive.tight, drive.first, 9 * MS)
    assert [window.limit for window in drive.device.windows] == [ONE, ONE]


def test_a_conforming_request_is_not_bound_by_the_window(lib):
    """A conforming request is dispatched though the window is full."""
    drive = Drive(lib)
    drive.dispatch(drive.greedy)
    assert drive.device.choose(1).held
    drive.arrive(drive.tight, 5 * MS)
    drive.dispatch(drive.tight, 5 * MS)


def test_the_paper_has_no_window(lib):
    """With policy=paper only B_max and T_wait bound anything."""
    drive = Drive(lib, "paper")
    for _ in range(10):
        drive.dispatch(drive.greedy)


@pytest.mark.parametrize("later", [0, 1])
def test_no_request_is_dispatched_that_may_make_a_conforming_one_late(lib, later):
    """A third request in flight may delay the first by three seeks; that is due at 10 ms."""
    drive = Drive(lib, reorders=True)
    drive.dispatch(drive.greedy)
    drive.windows(MAX)
    now = 10 * MS - 3 * drive.device.service.seek + later
    assert drive.device.choose(now).held == bool(later)


@pytest.mark.parametrize("later", [0, 1])
def test_an_eligible_head_counts_half_a_seek_each(lib, later):
    """An eligible second request may delay the first by one and a half seeks; due at 10 ms."""
    drive = Drive(lib, reorders=True)
    other = drive.device.init_flow(TIGHT._replace(latency=5 * MS), 0)
    now = 10 * MS - 3 * drive.device.service.seek // 2 + later
    drive.arrive(other, now)
    assert drive.device.choose(now).held == bool(later)


def test_in_an_overload_all_conforming_requests_are_dispatched(lib):
    """Deadlines are lost anyway, and the device is faster with more requests to choose from."""
    drive = Drive(lib, reorders=True)
    other = drive.device.init_flow(TIGHT._replace(latency=5 * MS), 0)
    drive.device.overload.now = True
    drive.arrive(other, 11 * MS)
    drive.dispatch(other, 11 * MS)
    assert drive.device.choose(11 * MS).held


def test_deadlines_beyond_the_maximum_are_ignored(lib):
    """Nor do they disturb the others when they complete."""
    drive = Drive(lib, reorders=True)
    drive.device.service.seek = 0
    tight = [drive.device.init_flow(TIGHT._replace(latency=(20 + n) * MS), 0) for n in range(40)]
    gone = [(flow, drive.arrive(flow)) for flow in tight]
    for flow, request in gone:
        assert drive.dispatch(flow) is request
    drive.device.service.seek = MS
    for flow, request in [*gone, (drive.tight, drive.first)]:
        assert drive.device.choose(9 * MS).held or flow is drive.tight
        drive.device.complete(flow, request, 9 * MS)
    drive.windows(MAX)
    drive.dispatch(drive.greedy, 9 * MS)


def test_a_completed_request_holds_back_no_other(lib):
    """Nor does a requeued request, while the driver does not have it."""
    for gone in ("complete", "requeue"):
        drive = Drive(lib, reorders=True)
        drive.dispatch(drive.greedy)
        drive.windows(MAX)
        assert drive.device.choose(9 * MS).held
        arguments = (9 * MS,) if gone == "complete" else ()
        getattr(drive.device, gone)(drive.tight, drive.first, *arguments)
        drive.windows(MAX)
        drive.dispatch(drive.greedy, 9 * MS)


def test_an_idle_device_has_no_deadlines(lib):
    """Even if a deadline was not removed, as a merge had changed that of its request."""
    drive = Drive(lib, reorders=True)
    drive.first.due += MS
    drive.device.complete(drive.tight, drive.first, 9 * MS)
    drive.windows(MAX)
    drive.dispatch(drive.greedy, 20 * MS)
    drive.dispatch(drive.greedy, 20 * MS)


def test_a_sequential_reader_is_waited_for_with_many_in_flight(lib):
    """A rotational device would seek to others; with policy=paper it has one in flight at most."""
    for rule, reorders, waits in (("slack", True, True), ("slack", False, False),
                                  ("paper", True, False)):
        device = Device(lib, 20, 10 * MS, rule, MS)
        device.set_rotational(reorders)
        reader, other = device.init_flow(GREEDY, 0), device.init_flow(GREEDY, 0)
        for n in range(8):
            device.arrive(reader, Request(COST_MIN, pos=8 * n), 0)
        for _ in range(8):
            device.dispatch(device.choose(0).flow, 0)
        device.arrive(other, Request(COST_MIN, pos=1 << 30), 0)
        choice = device.choose(0)
        assert choice.wait_began == waits
        assert choice.flow is (None if waits else other)
