"""Whether a device that claims to seek does seek: claim.c."""

import heapq
import random
from itertools import count

import pytest

from tests.model.reservation import SECOND, Params
from tests.unit.desk import MS, PAGE, Desk

READER = Params(40 << 20, 1 << 20, 100 * MS)
# No more than a disk can do.
MODEST = Params(100 << 12, 1 << 20, SECOND)


class Drive:
    """A device that serves `side` reads side by side, and a flow."""

    def __init__(self, lib, side, took=MS, rotational=True, promise=READER):
        self.desk = Desk(lib, rotational=rotational, claims=True)
        self.flow = self.desk.init_flow(promise)
        self.took = took
        self.serves(side)
        self.flight = []
        self.most = 0
        self.rng, self.pos = random.Random(1), None

    @property
    def seeks(self):
        """Return true if the device is taken for one that seeks."""
        return bool(self.desk.device.view().seeks)

    def serves(self, side):
        """From now on the device serves `side` requests at a time."""
        self.free = [self.desk.now] * side

    def burst(self, count, **habits):
        """`count` requests arrive together, and all requests in the device complete."""
        for _ in range(count):
            self.desk.arrive(self.flow, self.place(), **habits)
        while self.flow.queue or self.flight:
            while served := self.desk.dispatch():
                self._send(served)
            first = min(self.flight, key=lambda sent: sent[0])
            self.flight.remove(first)
            self.desk.now = first[0]
            self.desk.device.complete(*first[1:], self.desk.now)

    def place(self):
        """Return the position of the next request."""
        if self.pos is None:
            return 8 * self.rng.randrange(1 << 30)
        self.pos += PAGE
        return self.pos

    def _send(self, served):
        which = min(range(len(self.free)), key=self.free.__getitem__)
        done = self.desk.now
        if not served[1].write:
            done = self.free[which] = max(self.free[which], self.desk.now) + self.took
        self.flight.append((done, *served))
        self.most = max(self.most, len(self.flight))

    def rounds(self, count, together=4, **habits):
        """Serve one request and `together` requests in turn; return true if it is taken to seek."""
        for _ in range(count):
            self.burst(1, **habits)
            self.burst(together, **habits)
        return self.seeks


def test_a_device_that_serves_side_by_side_does_not_seek(lib):
    drive = Drive(lib, side=32)
    assert drive.rounds(120)
    assert not drive.rounds(20)


def test_a_device_that_serves_one_after_the_other_seeks(lib):
    assert Drive(lib, side=1).rounds(1000)


@pytest.mark.parametrize(("side", "seeks"), [(2, True), (3, True), (4, False), (8, False)])
def test_four_at_a_time_are_side_by_side(lib, side, seeks):
    assert Drive(lib, side).rounds(200) is seeks


def test_writes_are_no_samples(lib):
    """A cache completes writes at once, even beside three reads."""
    drive = Drive(lib, side=1)
    for _ in range(800):
        drive.burst(1)
        for write in (False, False, False, True):
            drive.desk.arrive(drive.flow, drive.place(), write=write)
        drive.burst(0)
    assert drive.seeks


def test_writes_that_are_alone_are_no_samples(lib):
    drive = Drive(lib, side=32)
    for _ in range(200):
        drive.rounds(1)
        drive.burst(1, write=True)
    assert not drive.seeks


@pytest.mark.parametrize("first", [True, False])
def test_reads_beside_writes_are_no_samples(lib, first):
    """A write goes before four reads, or while they are in flight: the last read takes long."""
    drive = Drive(lib, side=32, promise=Params(40 << 20, 1 << 20, SECOND))
    assert not drive.rounds(140)
    desk = drive.desk
    for _ in range(300):
        drive.burst(1)
        for write in [True] * first + [False] * 4:
            desk.arrive(drive.flow, drive.place(), write=write)
        flight = list(iter(desk.dispatch, None))
        assert len(flight) == 4 + first
        desk.now += MS
        for served in flight[:2]:
            desk.device.complete(*served, desk.now)
        desk.arrive(drive.flow, drive.place(), write=True)
        flight = [*flight[2:], desk.dispatch()]
        desk.now += 5 * MS
        for served in flight:
            desk.device.complete(*served, desk.now)
    assert not drive.seeks


class NewestFirst(Drive):
    """A device that serves four requests at a time, the newest ones first."""

    def _send(self, served):
        if len(self.flight) >= 4:
            self.flight = [(done + self.took, *rest) for done, *rest in self.flight]
        self.flight.append((self.desk.now + self.took, *served))


def test_reads_in_a_crowd_are_no_samples(lib):
    """Reads that the device passes in favour of newer ones take longer than alone."""
    drive = NewestFirst(lib, side=4)
    assert not drive.rounds(140)
    assert not drive.rounds(300, together=16)


def test_four_are_tried_where_there_is_room_for_more(lib):
    drive = NewestFirst(lib, side=4, promise=Params(40 << 20, 1 << 20, SECOND))
    assert not drive.rounds(200, together=16)


@pytest.mark.parametrize(("took", "seeks"), [(MS, False), (3 * MS, True)])
def test_most_reads_may_be_alone(lib, took, seeks):
    """A device that takes as long as a disk counts as one.

    A disk may serve four blocks of a track within one revolution.
    """
    drive = Drive(lib, side=32, took=took, promise=MODEST)
    for _ in range(200):
        drive.rounds(2, together=1)
        drive.burst(4)
    assert drive.seeks is seeks


def test_a_stall_counts_for_little(lib):
    drive = Drive(lib, side=32)
    drive.rounds(16)
    drive.took = 100 * MS
    drive.burst(4)
    drive.took = MS
    assert not drive.rounds(200)


def test_a_long_first_read_counts_for_little(lib):
    """The disk had to spin up."""
    drive = Drive(lib, side=1, took=4 * SECOND)
    drive.burst(1)
    drive.took = 8 * MS
    assert drive.rounds(300)


def test_old_samples_count_for_less(lib):
    """A thousand reads took a tenth of the time, before the cache was full."""
    drive = Drive(lib, side=32, took=MS // 10)
    drive.rounds(500, together=1)
    drive.took = MS
    assert not drive.rounds(160)


def test_sequential_reads_are_no_samples(lib):
    """A disk has read them ahead."""
    drive = Drive(lib, side=32)
    drive.pos = 0
    assert drive.rounds(300)


def test_three_at_a_time_are_no_samples(lib):
    assert Drive(lib, side=32).rounds(300, together=3)


def together(lib, took, latency, apart=1 << 20, rate=100):
    """Return how many of ten requests that arrive together a device has at once; one conforms."""
    drive = Drive(lib, 1, took, promise=Params(rate << 12, 4096, latency))
    drive.rounds(20, together=1)
    for number in range(10):
        drive.desk.arrive(drive.flow, number * apart)
    return sum(1 for _ in iter(drive.desk.dispatch, None))


@pytest.mark.parametrize("apart", [1 << 20, PAGE])
def test_a_fast_device_is_tried_with_four(lib, apart):
    """The deadlines leave no room for four in the worst case, but on average they do."""
    assert together(lib, MS, 10 * MS, apart) == 4


def test_a_device_that_may_be_a_disk_is_not_tried(lib):
    assert together(lib, 2 * MS, 20 * MS) < 4


def test_a_device_with_a_reservation_beyond_any_disk_is_tried(lib):
    """A thousand reads a second are reserved, and each takes 3 ms alone."""
    assert together(lib, 3 * MS, 16 * MS) < 4
    assert together(lib, 3 * MS, 16 * MS, rate=1000) == 4


def test_a_request_that_would_be_late_is_not_tried(lib):
    assert together(lib, MS, 4 * MS) < 4


def test_writes_are_not_tried(lib):
    drive = Drive(lib, 1, promise=Params(100 << 12, 4096, 10 * MS))
    drive.rounds(20, together=1)
    for pos, write in enumerate([False, False, False, True]):
        drive.desk.arrive(drive.flow, pos << 20, write=write)
    assert len(list(iter(drive.desk.dispatch, None))) == 3


def test_a_device_that_seemed_not_to_seek_is_tried_again(lib):
    """It may be a disk that was served from a cache."""
    drive = Drive(lib, side=32)
    assert not drive.rounds(140)
    drive.serves(1)
    assert any(drive.rounds(1) for _ in range(140))
    drive.serves(32)
    assert not drive.rounds(140)


def test_a_device_that_is_known_is_not_tried(lib):
    drive = Drive(lib, side=1)
    assert drive.rounds(40)
    drive.serves(32)
    assert drive.rounds(300)


def test_a_device_that_does_not_claim_to_seek_is_not_tried(lib):
    assert not Drive(lib, side=1, rotational=False).rounds(300)


def test_service_times_of_a_cache_are_forgotten(lib):
    """A disk was served from its cache while it was taken for a device that does not seek."""
    drive = Drive(lib, side=32, took=MS // 5)
    assert not drive.rounds(140)
    drive.serves(1)
    drive.took = 8 * MS
    assert any(drive.rounds(1) for _ in range(140))
    drive.desk.arrive(drive.flow, 1 << 20)
    assert drive.desk.dispatch()
    assert drive.desk.device.view().load > 4 * MS


def overload_ends(lib, rotational):
    """Return when an overload ends that began when the device was slow for half a second, in s.

    Two flows have 24 reads in flight each, on a device that serves 16 side by side.
    """
    drive = Drive(lib, side=32, rotational=rotational)
    assert not drive.rounds(140)
    desk, numbers, flight = drive.desk, count(), []
    flows = [desk.init_flow(Params(3000 << 12, 16 << 12, 50 * MS)) for _ in range(2)]
    began, start = None, desk.now
    for flow in flows * 24:
        desk.arrive(flow, drive.place())
    while desk.now < start + 5 * SECOND:
        took = 200 * MS if SECOND // 2 < desk.now - start < SECOND else MS
        while len(flight) < 16 and (served := desk.dispatch()):
            heapq.heappush(flight, (desk.now + took, next(numbers), served))
        if len(flight) == 16:
            desk.device.hold_for_tag()
        desk.now, _, served = heapq.heappop(flight)
        desk.device.complete(*served, desk.now)
        desk.arrive(served[0], drive.place())
        overload = desk.device.view().overload
        began = began or overload
        if began and not overload:
            return (desk.now - start) / SECOND
    return None


def test_an_overload_ends_on_a_device_that_only_claimed_to_seek(lib):
    known = overload_ends(lib, False)
    assert known < 3
    assert overload_ends(lib, True) < known + 0.5
