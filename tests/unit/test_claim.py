"""Whether a device that claims to seek does: claim.c."""

import random

import pytest

from tests.model.reservation import Params
from tests.unit.desk import MS, PAGE, Desk

READER = Params(40 << 20, 1 << 20, 100 * MS)


class Drive:
    """A device and a flow, of which it serves `side` reads side by side."""

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
        """Whether it is taken for one that does."""
        return bool(self.desk.device.view().seeks)

    def serves(self, side):
        """From now on it serves so many at a time."""
        self.free = [self.desk.now] * side

    def burst(self, count, **habits):
        """So many requests arrive together, and all that the device has completes."""
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
        """Where the next request is."""
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
        """One request, and some, so many times; whether it is taken for one that seeks then."""
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


def test_writes_tell_nothing(lib):
    """A cache completes them at once, also beside three reads."""
    drive = Drive(lib, side=1)
    for _ in range(800):
        drive.burst(1)
        for write in (False, False, False, True):
            drive.desk.arrive(drive.flow, drive.place(), write=write)
        drive.burst(0)
    assert drive.seeks


def test_what_it_took_long_ago_counts_for_less(lib):
    """Its cache is full since: a thousand reads alone took a tenth of the time."""
    drive = Drive(lib, side=32, took=MS // 10)
    drive.rounds(500, together=1)
    drive.took = MS
    assert not drive.rounds(160)


def test_reads_in_sequence_tell_nothing(lib):
    """A disk has read them ahead."""
    drive = Drive(lib, side=32)
    drive.pos = 0
    assert drive.rounds(300)


def test_three_at_a_time_tell_nothing(lib):
    assert Drive(lib, side=32).rounds(300, together=3)


def together(lib, took, latency, **habits):
    """How many of ten requests that arrive together a device has at once: one conforms."""
    drive = Drive(lib, 1, took, promise=Params(100 << 12, 4096, latency))
    drive.rounds(20, together=1)
    for pos in range(10):
        drive.desk.arrive(drive.flow, pos << 20, **habits)
    return sum(1 for _ in iter(drive.desk.dispatch, None))


def test_a_fast_device_is_tried_with_four(lib):
    """The deadlines leave no room for as many at worst, but in the mean."""
    assert together(lib, MS, 10 * MS) == 4


def test_a_device_that_may_be_a_disk_is_not_tried(lib):
    assert together(lib, 2 * MS, 20 * MS) < 4


def test_a_request_that_would_be_late_is_not_tried(lib):
    assert together(lib, MS, 4 * MS) < 4


def test_writes_are_not_tried(lib):
    assert together(lib, MS, 10 * MS, write=True) < 4


def test_what_seemed_not_to_seek_is_tried_again(lib):
    """As of a disk that was served from a cache."""
    drive = Drive(lib, side=32)
    assert not drive.rounds(140)
    drive.serves(1)
    assert any(drive.rounds(1) for _ in range(140))
    drive.serves(32)
    assert not drive.rounds(140)


def test_what_is_known_is_not_tried(lib):
    drive = Drive(lib, side=1)
    assert drive.rounds(40)
    drive.serves(32)
    assert drive.rounds(300)


def test_a_device_that_does_not_claim_to_seek_is_not_tried(lib):
    assert not Drive(lib, side=1, rotational=False).rounds(300)
