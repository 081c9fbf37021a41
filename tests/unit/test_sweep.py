"""The order of requests in a flow, by position or by age: worked out by hand."""

import pytest

from tests.model.reservation import SECOND, Params
from tests.model.slack import SWEEP
from tests.unit.test_policy import MS, Desk
from tests.unit.test_slack import SEEK, overload

GREEDY = Params(40_960, 4096, SECOND)  # one request of a flood conforms
SOON = Params(4_096_000, 8192, 100 * MS)  # two requests conform
FAR = 1 << 20


class Seeker(Desk):
    """A disk that takes one request at a time; positions are in units of FAR sectors."""

    def __init__(self, lib, rule="slack", seeks=True):
        super().__init__(lib, b_max=1 << 20, rule=rule, seek=SEEK)
        self.device.set_rotational(seeks)

    def arrive_at(self, flow, *places):
        """A request arrives at each of these positions."""
        for place in places:
            self.arrive(flow, place * FAR)

    def serve_many(self, count=1, took=MS):
        """Serve requests one after the other: their positions."""
        return [self._serve_one(took) for _ in range(count)]

    def _serve_one(self, took):
        flow = self.device.choose(self.now).flow
        request, _ = self.device.dispatch(flow, self.now)
        self.now += took
        self.device.complete(flow, request, self.now)
        return request.pos // FAR


@pytest.fixture
def disk(lib):
    """A disk with policy=slack and a seek of 10 ms."""
    return Seeker(lib)


def test_the_oldest_then_by_position(disk):
    """The oldest request goes first, then the others from the first sector on."""
    writer = disk.init_flow(GREEDY)
    disk.arrive_at(writer, 5, 8, 4, 9, 2)
    assert disk.serve_many(5) == [5, 2, 4, 8, 9]


def test_in_one_direction(disk):
    """A request that arrives behind the sweep waits for the next sweep."""
    writer = disk.init_flow(GREEDY)
    disk.arrive_at(writer, 5, 8, 4, 9, 2)
    assert disk.serve_many(3) == [5, 2, 4]
    disk.arrive_at(writer, 3, 6)
    assert disk.serve_many(4) == [6, 8, 9, 3]


def test_among_equals_the_first_that_came(disk):
    """Requests at the same position, which may be where the last one ended."""
    writer = disk.init_flow(GREEDY)
    for pos in (9 * FAR, 8, 0, 8):
        disk.arrive(writer, pos)
    _, one, none, other = writer.queue
    disk.serve_many(1)
    for left in ([one, other], [other], []):
        disk.serve_many(1)
        assert writer.queue == left
    assert none.pos == 0


@pytest.mark.parametrize("kind", [{"rule": "paper"}, {"seeks": False}])
def test_by_age_where_positions_do_not_count(lib, kind):
    """With policy=paper, and on a device that is not rotational."""
    disk = Seeker(lib, **kind)
    writer = disk.init_flow(GREEDY)
    disk.arrive_at(writer, 5, 8, 4, 9, 2)
    assert disk.serve_many(5) == [5, 8, 4, 9, 2]


def test_a_device_with_requests_in_flight_orders_them(disk):
    """Such a device is given the oldest request."""
    writer = disk.init_flow(GREEDY)
    disk.arrive_at(writer, 5, 8, 4, 2)
    first, _ = disk.device.dispatch(disk.device.choose(0).flow, 0)
    assert disk.serve_many(1) == [8]
    disk.device.complete(writer, first, disk.now)
    assert disk.serve_many(2) == [2, 4]


def test_each_sixteenth_is_the_oldest(disk):
    """Then the sweep goes on where it was."""
    writer = disk.init_flow(GREEDY)
    disk.arrive_at(writer, 7, 51, 71, *range(0, 80, 2))
    served = disk.serve_many(43)
    assert [served.pop(place) for place in (2 * SWEEP, SWEEP, 0)] == [71, 51, 7]
    assert served == list(range(0, 80, 2))


def test_the_oldest_goes_first_if_it_cannot_wait(disk):
    """Two requests due within 100 ms wait for 70 ms: a seek for each and one more."""
    writer = disk.init_flow(SOON)
    disk.arrive_at(writer, 5, 8, 4, 9, 2)
    assert disk.serve_many(3, took=35 * MS) == [5, 2, 8]


def test_other_flows_are_in_time(disk):
    """A head due within 100 ms waits for 80 ms: a seek for it and one for the sweep."""
    writer, other = disk.init_flow(GREEDY), disk.init_flow(SOON)
    disk.arrive_at(writer, *range(30, 0, -1))
    disk.serve_many(1)
    disk.arrive_at(other, 77)
    assert disk.serve_many(11, took=9 * MS) == [*range(1, 10), 77, 29]


def test_tags_are_used_in_the_order_of_arrival(disk):
    """A surplus request takes the tags of the oldest surplus one, and leaves its own to others."""
    writer = disk.init_flow(SOON)
    disk.arrive_at(writer, 5, 8, 4, 9, 2, 7)
    starts = [request.start for request in writer.queue]
    assert starts == [0, 0, MS, 2 * MS, 3 * MS, 4 * MS]
    dues = [request.due for request in writer.queue]
    disk.serve_many(1, took=0)
    last = writer.queue[-2]
    assert disk.serve_many(1, took=0) == [2]
    assert (last.start, last.due) == (starts[2], dues[2])
    assert [request.start for request in writer.queue] == [starts[1], *starts[3:]]
    assert [request.due for request in writer.queue] == [dues[1], *dues[3:]]


def test_a_conforming_request_keeps_its_tags(disk):
    """Even if it passes older requests."""
    writer = disk.init_flow(Params(4_096_000, 65536, SECOND))
    disk.arrive_at(writer, 5, 8, 4)
    disk.now = 5 * MS
    disk.arrive_at(writer, 2)
    last = writer.queue[-1]
    assert disk.serve_many(2, took=0) == [5, 2]
    assert (last.start, last.due) == (5 * MS, 5 * MS + SECOND)
    assert [request.start for request in writer.queue] == [0, 0]


def test_in_an_overload_deadlines_are_lost_anyway(disk):
    """The sweep goes on though all requests are late."""
    writer, *others = (disk.init_flow(SOON) for _ in range(3))
    overload(disk, others)
    disk.arrive_at(writer, 5, 8, 4, 9, 2)
    disk.now += SECOND
    assert disk.serve_many(5) == [5, 2, 4, 8, 9]
